#!/usr/bin/env python3
"""Prints the tables of `docs/pixels.md` that come from `results/pixels`: `python3 agents/pixels/tables.py`."""

import csv
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent.parent.parent / "results" / "pixels"
SETS = ["street", "three-wheeler", "rooms", "normal-noise", "perlin"]
METRICS = ["auroc", "auprc", "fpr95", "f1", "aupro"]
HEADS = "AUROC | AUPRC | FPR95 | component F1 | AUPRO"
# The paper's mean IoU in Cityscapes.
PAPER = {"pspnet-none": ".672", "pspnet-dim-reduce": ".670", "pspnet-dropout": ".659", "pspnet-confidence": ".656",
         "deeplab-none": ".793", "deeplab-dropout": ".725", "deeplab-confidence": ".766"}  # fmt: skip
ENCODERS = {"efficientnet-lite0-16": "EfficientNet-Lite0, stride 16", "efficientnet-lite0-8-16": "strides 8 and 16",
            "efficientnet-lite0-16-times-2": "stride 16, images twice as large",
            "pspnet-none": "PSPNet, trained on streets", "deeplab-none": "DeepLabV3+, trained on streets"}  # fmt: skip
OF_FEATURES = ["feature-knn", "mahalanobis", "outlier-head", "feature-knn+outlier-head"]
LARGE = ["pspnet-none-256", "deeplab-none-256"]
LADDER = ["contrast-high", "usual", "contrast-low", "size-large", "size-small", "distance-near", "distance-far"]


def read(name):
    """Estimates by data set, method and metric, of exact pixels and of components."""
    rows = csv.DictReader((RESULTS / f"{name}.csv").open())
    kept = (row for row in rows if row.get("mode") in ("exact", "components"))
    return {(row["data"], row["method"], row["metric"]): row for row in kept}


def number(row):
    if row is None:
        return "–"
    value, low, high = (float(row[key]) for key in ("value", "low", "high"))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def table(head, rows):
    print(f"| {head} |\n|" + "---|" * (head.count("|") + 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def networks():
    all_rows = csv.DictReader((RESULTS / "networks.csv").open())
    rows = {row["network"]: row for row in all_rows if row["metric"] == "mean_iou"}
    table("network | mean IoU here | in the paper (Cityscapes)",
          ([name, number(rows[name]), paper] for name, paper in PAPER.items()))  # fmt: skip
    table("network, images of 128 × 256 pixels | mean IoU here | in the paper (Cityscapes)",
          ([name, number(rows[name]), PAPER[name.removesuffix("-256")]] for name in LARGE if name in rows))  # fmt: skip


def heads(name):
    path = RESULTS / f"outlier-head-{name}.csv"
    rows = csv.DictReader(path.open()) if path.exists() else []
    table("hidden units | epochs | places of an image | AUPRC on pasted things of the validation",
          ([row["hidden"], row["epochs"], row["places"], number(row | {"value": row["auprc"]})] for row in rows))  # fmt: skip


def street(name, methods):
    found = read(name)
    table(f"method | {HEADS}",
          ([f"`{m}`", *(number(found.get(("street", m, metric))) for metric in METRICS)] for m in methods))  # fmt: skip


def large(name):
    """Streets, then all sets; with heads for which known things had other colours."""
    plain = ["max-softmax", "energy", "mahalanobis", "vim", "feature-knn", *OF_FEATURES[2:]]
    found = [(f"`{m}`", m, read(name)) for m in plain]
    if (RESULTS / f"{name}-recoloured.csv").exists():
        found += [(f"`{m}`, recoloured", m, read(f"{name}-recoloured")) for m in OF_FEATURES[2:]]
    table(f"method | {HEADS}",
          ([title, *(number(rows.get(("street", m, metric))) for metric in METRICS)] for title, m, rows in found))  # fmt: skip
    for metric in ("auroc", "auprc"):
        table(f"{metric.upper()} | " + " | ".join(SETS[1:]),
              ([title, *(number(rows.get((data, m, metric))) for data in SETS[1:])] for title, m, rows in found))  # fmt: skip


def encoder():
    rows = []
    for method in OF_FEATURES:
        for name, title in ENCODERS.items():
            found = read(name)
            rows.append([title, f"`{method}`", *(number(found.get((data, method, "auroc"))) for data in SETS)])
    table("features | method | " + " | ".join(SETS), rows)


def difficulty():
    found = read("difficulty")
    methods = list(dict.fromkeys(method for _, method, _ in found))
    for metric in ("auroc", "auprc"):
        table(f"{metric.upper()} | " + " | ".join(LADDER),
              ([f"`{m}`", *(number(found.get((data, m, metric))) for data in LADDER)] for m in methods))  # fmt: skip


if __name__ == "__main__":
    networks()
    street("pspnet-none", ["max-softmax", "energy", "mahalanobis", "vim", *OF_FEATURES[:1], *OF_FEATURES[2:]])
    for name in LARGE:
        if (RESULTS / f"{name}.csv").exists():
            print(name)
            heads(name)
            large(name)
    encoder()
    difficulty()
