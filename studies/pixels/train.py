#!/usr/bin/env python3
"""Draws streets, trains the small networks of `pixels` with each modification, and judges the methods on them.

    cargo build --release --features deep
    python3 studies/pixels/train.py target/release/offnominal            # everything that is not done yet
    python3 studies/pixels/train.py target/release/offnominal --list     # what is done, and what is not
    python3 studies/pixels/train.py target/release/offnominal --only pspnet-dropout,deeplab-none

Data, runs and pages lie in `runs/pixels-networks` (or `--runs`); what is there is not repeated, and a training that was
interrupted goes on. Beside this file go the networks with their cards; `studies/pixels` gets `networks.csv`, the mean
IoU of each (the paper's Table 2), one table of metrics for each, and `order.md`, the order of the methods beside what
the paper says of it (its values are only in figures).

Two networks learn from larger and more images (`-256`), and see them twice as finely. PyTorch trains them on a graphics card
(`torch_networks.py`): a card that is slower than an NVIDIA H200, on which both learned at the same time, needs more than the 400
seconds. The methods are fitted on the first of their images (`nominal`). Their outlier head has the settings that find pasted
things best in images of the validation, `outlier-head-*.csv`; `*-recoloured.csv` is of a head for which known things had other
colours.
"""

import argparse
import csv
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

import order

HERE = pathlib.Path(__file__).resolve().parent
AGENTS = HERE.parents[1] / "agents" / "pixels"


@dataclasses.dataclass(frozen=True)
class Images:
    """Images of one size: how many, and what a training with them takes."""

    suffix: str
    folder: str
    size: tuple[int, int]
    train: int
    nominal: int
    validation: int


SMALL = Images("", "data", (128, 64), 600, 600, 60)
LARGE = Images("-256", "data-256", (256, 128), 9000, 1000, 100)
# What the networks are judged on: streets, and the analogues of the paper's four other sets.
TESTS = {"street": "road", "three-wheeler": "three-wheeler", "rooms": "indoor", "normal-noise": "normal-noise", "perlin": "perlin"}
IMAGES = 100
# What is tried of an outlier head: the defaults, and two larger ones that see more.
HEADS = [{}, {"hidden": 128, "epochs": 20, "places": 400}, {"hidden": 256, "epochs": 30, "places": 600}]
# Probability that what is bright in a known class gets another colour; found on other streets, of seed 9.
RECOLOUR = "0.6"


@dataclasses.dataclass(frozen=True)
class Page:
    """Methods, the images with pasted things on which outlier heads learn, and what is added to the name of a table."""

    methods: str
    outliers: str
    suffix: str = ""

    def folder(self, out):
        return out / self.outliers if self.suffix else out

    def is_done(self, out):
        return (self.folder(out) / "pixels.csv").exists()


ALL = Page("all,feature-knn+outlier-head", "pasted")
RECOLOURED = Page("outlier-head,feature-knn+outlier-head", "recoloured", "-recoloured")
# The paper has no DeepLabV3+ with reduced features.
NETWORKS = [
    ("pspnet", "none", SMALL),
    ("deeplab", "none", SMALL),
    ("pspnet", "dropout", SMALL),
    ("pspnet", "confidence", SMALL),
    ("pspnet", "dim-reduce", SMALL),
    ("deeplab", "dropout", SMALL),
    ("deeplab", "confidence", SMALL),
    ("deeplab", "none", LARGE),
    ("pspnet", "none", LARGE),
]
# Ten passes for VarSum, as in the paper's code.
PASSES = {"dropout": ["--passes", "10"]}


def name_of(network, modification, images):
    return f"{network}-{modification}{images.suffix}"


def run(*command):
    subprocess.run([*command, "--seed", "1", "--quiet"], check=True, stdout=subprocess.DEVNULL)


def draw(offnominal, data, images):
    width, height = images.size
    wanted = [("train", ["--split", "train", "-n", str(images.train)])]
    wanted += [("nominal", ["--split", "train", "-n", str(images.nominal)])]
    wanted += [("validation", ["--split", "validation", "-n", str(images.validation)])]
    wanted += [(name, ["--set", kind, "-n", str(IMAGES)]) for name, kind in TESTS.items()]
    for name, what in wanted:
        if not (data / name).exists():
            size = ["--width", str(width), "--height", str(height)]
            run(offnominal, "pixels", "scenes", *what, *size, "--out", str(data / name))
    pasted = [("pasted", "nominal", "0"), ("pasted-validation", "validation", "0")]
    pasted += [("recoloured", "nominal", RECOLOUR)] if images is LARGE else []
    for name, of, share in pasted:
        if not (data / name).exists():
            run(offnominal, "pixels", "paste", "--data", str(data / of), "--recolour", share, "--out", str(data / name))


def train(offnominal, network, modification, images, data, out, more):
    validation, kind = ["--validation", str(data / "validation"), "--out", str(out)], ["--network", network]
    if images is LARGE:
        kind += ["--output-stride", "4"]
        how = ["--seconds", "400", "--seed", "1", "--data", str(data / "train"), "--out", str(out)]
        subprocess.run([sys.executable, str(HERE / "torch_networks.py"), *kind, *how], check=True)
        run(offnominal, "pixels", "import", str(out / "weights.safetensors"), *kind, *validation)
        return
    kind += ["--modification", modification]
    run(offnominal, "pixels", "train", *kind, *more, "--data", str(data / "train"), *validation)


def head(offnominal, data, out, more):
    """The settings of the outlier head with the largest AUPRC on things pasted into images of the validation."""
    found = []
    for i, params in enumerate(HEADS):
        page = out / f"head-{i}"
        if not (page / "pixels.json").exists():
            where = ["--data", str(data / "pasted-validation"), "--outliers", str(data / "pasted"), "--out", str(page)]
            model = ["--model", str(out / "model.safetensors"), "--methods", "outlier-head", "--replicates", "200"]
            run(offnominal, "pixels", "evaluate", *model, "--params", json.dumps({"outlier-head": params}), *where, *more)
        rows = csv.DictReader((page / "pixels.csv").open())
        row = next(row for row in rows if row["mode"] == "exact" and row["metric"] == "auprc")
        found.append((float(row["value"]), float(row["low"]), float(row["high"]), params))
    with open(HERE / f"outlier-head-{out.name}.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["hidden", "epochs", "places", "auprc", "low", "high"])
        for value, low, high, params in found:
            kept = {"hidden": 64, "epochs": 10, "places": 150} | params
            table.writerow([kept["hidden"], kept["epochs"], kept["places"], value, low, high])
    return max(found, key=lambda each: each[0])[3]


def evaluate(offnominal, modification, data, out, page, params, more):
    sets = [word for name in TESTS for word in ("--data", str(data / name))]
    where = [*sets, "--nominal", str(data / "nominal"), "--outliers", str(data / page.outliers)]
    model = ["--model", str(out / "model.safetensors"), *PASSES.get(modification, [])]
    how = ["--out", str(page.folder(out)), "--methods", page.methods, "--params", json.dumps({"outlier-head": params}), *more]
    run(offnominal, "pixels", "evaluate", *model, *how, *where)


def keep(name, out):
    """Puts the network and its card into the repository."""
    shutil.copy(out / "model.safetensors", AGENTS / f"{name}.safetensors")
    card = json.loads((out / "model.json").read_text()) | {"model": f"agents/pixels/{name}.safetensors"}
    if (out / "training.json").exists():
        card["training"] = json.loads((out / "training.json").read_text())
    (AGENTS / f"{name}.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n")


def table():
    HERE.mkdir(parents=True, exist_ok=True)
    cards = [(name, AGENTS / f"{name}.json") for name in (name_of(*network) for network in NETWORKS)]
    with open(HERE / "networks.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["network", "metric", "value", "low", "high", "level"])
        for name, path in cards:
            if path.exists():
                card = json.loads(path.read_text())
                iou = card["mean_iou"]
                out.writerow([name, "mean_iou", *(iou[key] for key in ("value", "low", "high", "level"))])
                out.writerow([name, "parameters", card["recipe"]["parameters"], "", "", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offnominal", help="the program, built with --features deep")
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs/pixels-networks"))
    parser.add_argument("--only", help="names of networks, such as pspnet-dropout,deeplab-none")
    parser.add_argument("--jobs", default="2", help="threads")
    parser.add_argument("--list", action="store_true", help="say what is done")
    args = parser.parse_args()
    wanted = args.only.split(",") if args.only else [name_of(*network) for network in NETWORKS]
    for network, modification, images in NETWORKS:
        name = name_of(network, modification, images)
        out = args.runs / name
        pages = [ALL, RECOLOURED] if images is LARGE else [ALL]
        if args.list or name not in wanted:
            print(f"{name}: {'done' if all(page.is_done(out) for page in pages) else 'open'}")
            continue
        data, more = args.runs / images.folder, ["--jobs", args.jobs]
        draw(args.offnominal, data, images)
        if not (out / "model.json").exists():
            train(args.offnominal, network, modification, images, data, out, more)
        keep(name, out)
        table()
        left = [page for page in pages if not page.is_done(out)]
        params = head(args.offnominal, data, out, more) if left and images is LARGE else {}
        for page in left:
            evaluate(args.offnominal, modification, data, out, page, params, more)
        for page in pages:
            shutil.copy(page.folder(out) / "pixels.csv", HERE / f"{name}{page.suffix}.csv")
        order.write(HERE)


if __name__ == "__main__":
    main()
