#!/usr/bin/env python3
"""What the paper says of its methods, with intervals of the differences; and what removing class boundaries brings.

    python3 studies/pixels/statements.py offnominal

The small networks score the sets of `train.py` (drawn into `runs/pixels-networks/data` where they are not there yet; maps in
`runs/pixels-statements`, what is there is not repeated). `statements.csv` has each statement of section 7.2 as differences of
AUROC between methods that follow one another, `boundaries.csv` the AUROC that each method gains when its maps are opened:
section 7.3 removes class boundaries by "a series of erosion, dilation and other filters", here by an erosion and a dilation with
squares of 3 and of 5 pixels. Intervals resample images, those of both scores together, 1,000 times with seed 1. ODIN has
temperature 1,000, as no unknown pixel may be seen here. `three-wheeler.png` shows one image. It needs NumPy and Pillow.
"""

import argparse
import csv
import pathlib
import subprocess

import numpy as np
import order
import paired
import train
from PIL import Image, ImageFilter

HERE = pathlib.Path(__file__).resolve().parent
METHODS = {
    "none": ["max-softmax", "odin", "entropy", "mahalanobis", "max-logit", "energy"],
    "dim-reduce": ["mahalanobis"],
    "confidence": ["confidence"],
    "dropout": ["var-sum", "mutual-information"],
}
SQUARES = [3, 5]
# Bins of the scores, with as many pixels each: an AUROC is known to 1e-4.
paired.BINS = 4096


def networks():
    return [(name, changed) for name, changed, images in train.NETWORKS if images is train.SMALL]


def score(offnominal, data, runs):
    for name, changed in networks():
        for test in train.TESTS:
            out = runs / f"{name}-{changed}" / test
            if (out / "scores.json").exists():
                continue
            model = ["--model", str(train.AGENTS / f"{name}-{changed}.safetensors"), *train.PASSES.get(changed, [])]
            what = ["--data", str(data / test), "--nominal", str(data / "nominal"), "--method", ",".join(METHODS[changed])]
            command = [offnominal, "pixels", "score", *what, *model, "--seed", "1", "--quiet", "--out", str(out)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Maps:
    """The score maps of a set, and its labels."""

    def __init__(self, data, runs, test):
        files = sorted((data / test / "labels").glob("*.png"))
        self.names = [file.stem for file in files]
        self.labels = [np.asarray(Image.open(file)) for file in files]
        self.runs, self.test = runs, test

    def of(self, name, changed, method):
        folder = self.runs / f"{name}-{changed}" / self.test / method
        return [np.load(folder / f"{image}.npy") for image in self.names]

    def difference(self, first, second):
        """AUROC of two scores, and the second less the first with its interval."""
        rng = np.random.default_rng(1)
        n = len(self.names)
        weights = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(paired.REPLICATES)])
        counts = [paired.histograms(scores, self.labels) for scores in (first, second)]
        values = [float(aurocs(each, np.ones((1, n)))[0]) for each in counts]
        again = [aurocs(each, weights) for each in counts]
        low, high = np.quantile(again[1] - again[0], [0.025, 0.975])
        return [*values, values[1] - values[0], float(low), float(high)]


def aurocs(counts, weights):
    """The pooled AUROC for each row of weights of the images, from counts `[images, 2, bins]` of the largest scores first."""
    found = []
    for some in np.array_split(weights.astype(np.float32), max(1, len(weights) // 50)):
        pooled = (some @ counts.reshape(len(counts), -1).astype(np.float32)).reshape(len(some), 2, -1).astype(np.float64)
        known, unknown = pooled[:, 0], pooled[:, 1]
        above = unknown.cumsum(1) - unknown / 2
        found.append((known * above).sum(1) / known.sum(1) / unknown.sum(1))
    return np.concatenate(found)


def opened(scores, square):
    """A map after an erosion and a dilation: ridges narrower than the square are gone."""
    image = Image.fromarray(scores.astype(np.float32))
    return np.asarray(image.filter(ImageFilter.MinFilter(square)).filter(ImageFilter.MaxFilter(square)))


def statements(maps):
    """Each statement as differences between methods that follow one another, which should be above 0."""
    for text, network, test, methods in order.statements():
        changed = [next(c for c in order.NETWORKS[m] if (network, c) in networks()) for m in methods]
        scores = [maps[test].of(network, c, m) for c, m in zip(changed, methods, strict=True)]
        for i in range(len(methods) - 1):
            found = maps[test].difference(scores[i], scores[i + 1])
            yield [network, text, methods[i], methods[i + 1], *found]
    for test in ("normal-noise", "perlin"):
        both = [maps[test].of(network, "confidence", "confidence") for network in ("pspnet", "deeplab")]
        text = f"{order.SETS[test]}: Confidence on PSPNet < on DeepLabV3+"
        yield ["both", text, "confidence of pspnet", "confidence of deeplab", *maps[test].difference(*both)]


def boundaries(maps):
    """What opening brings to each method on each network and set."""
    for name, changed in networks():
        for method in METHODS[changed]:
            for test in train.TESTS:
                scores = maps[test].of(name, changed, method)
                for square in SQUARES:
                    found = maps[test].difference(scores, [opened(each, square) for each in scores])
                    yield [name, changed, method, test, square, *found]


def write(name, columns, rows):
    with open(HERE / name, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        for row in rows:
            table.writerow([f"{cell:.5f}" if isinstance(cell, float) else cell for cell in row])
            file.flush()


def figure(data, maps, path):
    """One image with its car and its three-wheeler marked, and the maps of four methods, all at twice their size."""
    # The most of a three-wheeler, of the images with a vehicle.
    classes = (data / maps.test / "classes.toml").read_text().split("classes = [")[1].split("]")[0]
    car = [entry.strip(' "\n') for entry in classes.split(",")].index("vehicle")
    at = int(np.argmax([(labels == 254).sum() * ((labels == car).sum() > 100) for labels in maps.labels]))
    name = maps.names[at]
    image = np.asarray(Image.open(data / maps.test / "images" / f"{name}.png").convert("RGB"))
    mask = image // 3
    mask[maps.labels[at] == car] = [40, 120, 255]
    mask[maps.labels[at] == 254] = [255, 120, 0]
    panels = [image, mask]
    for changed, method in (("none", "max-softmax"), ("none", "mahalanobis"), ("confidence", "confidence"), ("dropout", "mutual-information")):
        scores = maps.of("pspnet", changed, method)[at]
        low, high = np.quantile(scores, [0.01, 0.99])
        level = (255 * np.clip((scores - low) / max(high - low, 1e-9), 0, 1)).astype(np.uint8)
        panels.append(np.repeat(level[..., None], 3, 2))
    rows = [np.concatenate(panels[i : i + 3], 1) for i in (0, 3)]
    sheet = Image.fromarray(np.concatenate(rows))
    sheet.resize((2 * sheet.width, 2 * sheet.height), Image.NEAREST).save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offnominal", help="the program")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("runs/pixels-networks/data"))
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs/pixels-statements"))
    args = parser.parse_args()
    train.draw(args.offnominal, args.data, train.SMALL)
    score(args.offnominal, args.data, args.runs)
    maps = {test: Maps(args.data, args.runs, test) for test in train.TESTS}
    ends = ["first_auroc", "second_auroc", "difference", "low", "high"]
    write("statements.csv", ["network", "statement", "first", "second", *ends], statements(maps))
    write("boundaries.csv", ["network", "modification", "method", "data", "square", *ends], boundaries(maps))
    figure(args.data, maps["three-wheeler"], HERE / "three-wheeler.png")


if __name__ == "__main__":
    main()
