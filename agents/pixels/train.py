#!/usr/bin/env python3
"""Draws streets, trains the small networks of `pixels` with each modification, and judges the methods on them.

    cargo build --release --features deep
    python3 agents/pixels/train.py target/release/offnominal            # everything that is not done yet
    python3 agents/pixels/train.py target/release/offnominal --list     # what is done, and what is not
    python3 agents/pixels/train.py target/release/offnominal --only pspnet-dropout,deeplab-none

Data, runs and pages lie in `runs/pixels-networks` (or `--runs`); what is there is not repeated, and a training that was
interrupted goes on. Beside this file go the networks with their cards; `results/pixels` gets `networks.csv`, the mean
IoU of each (the paper's Table 2), one table of metrics for each, and `order.md`, the order of the methods beside what
the paper says of it (its values are only in figures).
"""

import argparse
import csv
import json
import pathlib
import shutil
import subprocess

import order

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE.parent.parent / "results" / "pixels"
SIZE = ["--width", "128", "--height", "64"]
SPLITS = {"train": 600, "validation": 60}
# What the networks are judged on: streets, and the analogues of the paper's four other sets.
TESTS = {"street": "road", "three-wheeler": "three-wheeler", "rooms": "indoor", "normal-noise": "normal-noise", "perlin": "perlin"}
IMAGES = 100
# The paper has no DeepLabV3+ with reduced features.
NETWORKS = [
    ("pspnet", "none"),
    ("deeplab", "none"),
    ("pspnet", "dropout"),
    ("pspnet", "confidence"),
    ("pspnet", "dim-reduce"),
    ("deeplab", "dropout"),
    ("deeplab", "confidence"),
]
# Ten passes for VarSum, as in the paper's code.
PASSES = {"dropout": ["--passes", "10"]}


def draw(offnominal, data):
    wanted = [(split, ["--split", split, "-n", str(n)]) for split, n in SPLITS.items()]
    wanted += [(name, ["--set", kind, "-n", str(IMAGES)]) for name, kind in TESTS.items()]
    for name, what in wanted:
        if not (data / name).exists():
            where = ["--seed", "1", "--out", str(data / name), "--quiet"]
            subprocess.run([offnominal, "pixels", "scenes", *what, *where, *SIZE], check=True)
    if not (data / "pasted").exists():
        where = ["--data", str(data / "train"), "--seed", "1", "--out", str(data / "pasted"), "--quiet"]
        subprocess.run([offnominal, "pixels", "paste", *where], check=True)


def train(offnominal, network, modification, data, out, more):
    where = ["--data", str(data / "train"), "--validation", str(data / "validation"), "--out", str(out)]
    how = ["--network", network, "--modification", modification, "--seed", "1", "--quiet", *more]
    subprocess.run([offnominal, "pixels", "train", *how, *where], check=True, stdout=subprocess.DEVNULL)


def evaluate(offnominal, modification, data, out, more):
    sets = [word for name in TESTS for word in ("--data", str(data / name))]
    where = [*sets, "--nominal", str(data / "train"), "--outliers", str(data / "pasted"), "--out", str(out)]
    model = ["--model", str(out / "model.safetensors"), *PASSES.get(modification, [])]
    how = ["--methods", "all,feature-knn+outlier-head", "--seed", "1", "--quiet", *more]
    subprocess.run([offnominal, "pixels", "evaluate", *model, *how, *where], check=True, stdout=subprocess.DEVNULL)


def keep(name, out):
    """Puts the network and its card into the repository."""
    shutil.copy(out / "model.safetensors", HERE / f"{name}.safetensors")
    card = json.loads((out / "model.json").read_text()) | {"model": f"agents/pixels/{name}.safetensors"}
    (HERE / f"{name}.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n")


def table():
    RESULTS.mkdir(parents=True, exist_ok=True)
    cards = [(name, HERE / f"{name}.json") for name in map("-".join, NETWORKS)]
    with open(RESULTS / "networks.csv", "w", newline="") as file:
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
    wanted = args.only.split(",") if args.only else list(map("-".join, NETWORKS))
    for network, modification in NETWORKS:
        name = f"{network}-{modification}"
        out = args.runs / name
        if args.list or name not in wanted:
            print(f"{name}: {'done' if (out / 'pixels.csv').exists() else 'open'}")
            continue
        data, more = args.runs / "data", ["--jobs", args.jobs]
        draw(args.offnominal, data)
        if not (out / "model.json").exists():
            train(args.offnominal, network, modification, data, out, more)
        keep(name, out)
        table()
        if not (out / "pixels.csv").exists():
            evaluate(args.offnominal, modification, data, out, more)
        shutil.copy(out / "pixels.csv", RESULTS / f"{name}.csv")
        order.write(RESULTS)


if __name__ == "__main__":
    main()
