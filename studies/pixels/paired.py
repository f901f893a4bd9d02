"""How two scores of the same images differ: AUROC, AUPRC and FPR95 of each, and the difference with its interval.

    D=runs/pixels-networks/data-256
    for outliers in pasted recoloured; do
      offnominal pixels score --data $D/street --model agents/pixels/deeplab-none-256.safetensors --method outlier-head \
          --params '{"outlier-head": {"hidden": 256, "epochs": 30, "places": 600}}' --outliers $D/$outliers --seed 1 \
          --out runs/scores/$outliers
    done
    python studies/pixels/paired.py $D/street runs/scores/pasted runs/scores/recoloured \
        > studies/pixels/recoloured-deeplab-none-256.csv

The images are those of `studies/pixels/train.py`; the same with `pspnet-none-256`. Intervals resample images, both scores of an
image together, 1,000 times with seed 1. Scores are put into 16,384 bins with as many pixels each. It needs NumPy and Pillow.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

UNKNOWN, IGNORED = 254, 255
BINS, REPLICATES = 16384, 1000


def histograms(scores, labels):
    """`[images, 2, bins]`: known and unknown pixels of each image, the largest scores first."""
    edges = np.quantile(np.concatenate([s.ravel() for s in scores]), np.linspace(0, 1, BINS + 1)[1:-1])
    found = np.zeros((len(scores), 2, BINS))
    for counts, score, label in zip(found, scores, labels, strict=True):
        bins = BINS - 1 - np.searchsorted(edges, score, side="right")
        for row, pixels in zip(counts, [(label != UNKNOWN) & (label != IGNORED), label == UNKNOWN], strict=True):
            row += np.bincount(bins[pixels], minlength=BINS)
    return found


def metrics(counts):
    """AUROC, AUPRC and FPR95 of pooled counts `[2, bins]`."""
    known, unknown = counts.cumsum(1)
    recall = unknown / unknown[-1]
    precision = unknown / np.maximum(known + unknown, 1)
    false = known / known[-1]
    steps = np.diff(recall, prepend=0)
    auroc = float(np.trapezoid(np.append(0, recall), np.append(0, false)))
    return np.array([auroc, float((steps * precision).sum()), float(false[np.searchsorted(recall, 0.95)])])


def main(data, first, second):
    names = sorted(path.stem for path in Path(data, "labels").glob("*.png"))
    labels = [np.asarray(Image.open(Path(data, "labels", f"{name}.png"))) for name in names]
    both, folders = [], (first, second)
    for folder in folders:
        scores = [np.load(Path(folder, "outlier-head", f"{name}.npy")) for name in names]
        both.append(histograms(scores, labels))
    rng = np.random.default_rng(1)
    drawn = [rng.integers(len(names), size=len(names)) for _ in range(REPLICATES)]
    values = [metrics(counts.sum(0)) for counts in both]
    again = [np.array([metrics(counts[which].sum(0)) for which in drawn]) for counts in both]
    print("score,metric,value,low,high,level,n")
    titles = [Path(folder).name for folder in folders]
    rows = [*zip(titles, values, again, strict=True), ("difference", values[1] - values[0], again[1] - again[0])]
    for title, value, of_draws in rows:
        low, high = np.quantile(of_draws, [0.025, 0.975], axis=0)
        for metric, *numbers in zip(["auroc", "auprc", "fpr95"], value, low, high, strict=True):
            print(f"{title},{metric}," + ",".join(f"{number:.4f}" for number in numbers) + f",0.95,{len(names)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
