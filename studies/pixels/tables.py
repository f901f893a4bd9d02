#!/usr/bin/env python3
"""Prints the tables of `README.md` that come from `studies/pixels`: `python3 studies/pixels/tables.py`."""

import csv
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent
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


def title(method):
    """As the docs name a method: with a dagger if it is trained on synthetic unknowns."""
    return f"`{method}`" + (" †" if "outlier-head" in method else "")


def estimates(found, method, keys):
    return [number(found.get((data, method, metric))) for data, metric in keys]


def street(rows):
    """Metrics on streets, of rows with a title, a method and the estimates of a file."""
    keys = [("street", metric) for metric in METRICS]
    table(f"method | {HEADS}", ([name, *estimates(found, method, keys)] for name, method, found in rows))


def others(rows):
    """The same on the other sets."""
    for metric in ("auroc", "auprc"):
        keys = [(data, metric) for data in SETS[1:]]
        head = f"{metric.upper()} | " + " | ".join(SETS[1:])
        table(head, ([name, *estimates(found, method, keys)] for name, method, found in rows))


def rows_of(name, methods, suffix=""):
    found = read(name)
    return [(title(method) + suffix, method, found) for method in methods]


def encoder():
    rows = []
    for method in OF_FEATURES:
        for name, features in ENCODERS.items():
            found = read(name)
            rows.append([features, title(method), *estimates(found, method, [(data, "auroc") for data in SETS])])
    table("features | method | " + " | ".join(SETS), rows)


def difficulty():
    found = read("difficulty")
    methods = list(dict.fromkeys(method for _, method, _ in found))
    for metric in ("auroc", "auprc"):
        table(f"{metric.upper()} | " + " | ".join(LADDER),
              ([title(m), *estimates(found, m, [(data, metric) for data in LADDER])] for m in methods))  # fmt: skip


if __name__ == "__main__":
    networks()
    of_streets = ["max-softmax", "energy", "mahalanobis", "vim", "feature-knn", *OF_FEATURES[2:]]
    street(rows_of("pspnet-none", of_streets))
    for name in LARGE:
        if (RESULTS / f"{name}.csv").exists():
            print(name)
            heads(name)
            rows = rows_of(name, of_streets) + rows_of(f"{name}-recoloured", OF_FEATURES[2:], ", recoloured")
            street(rows)
            others(rows)
    encoder()
    difficulty()
