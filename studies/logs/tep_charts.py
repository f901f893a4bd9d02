"""Variants of the chart of exponentially weighted means, on the tuning recordings of Tennessee Eastman.

They differ in what part of the covariance is taken as diagonal, in whether young means are divided by the factor of the
paper, and in whether the valves of a row stand beside the measurements of the same row or of the next one.

python tep_charts.py --runs DIR --scores DIR --out FILE.csv
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
from common import Scores, conformal_threshold, load
from tep import FAULTS, TUNING_SEEDS
from tep_judge import delays, middle, no_later, nominal, restricted
from tep_rivals import Rows, read, smoothed

ALPHA, RATE, MEASURED = 0.05, 0.1, 41
TRAIN = [f"idv00-{seed:03}" for seed in range(1, 101)]
CALIBRATION = [f"idv00-{seed:03}" for seed in range(101, 201)]
TUNING = [f"idv{fault:02}-{seed:03}" for fault in FAULTS for seed in TUNING_SEEDS]


def beside(rows: Rows, next_row: bool) -> Rows:
    """Puts the valves of a row beside the measurements of the next one, if asked."""
    return np.hstack([rows[1:, :MEASURED], rows[:-1, MEASURED:]]) if next_row else rows


def means(rows: Rows, factor: bool) -> Rows:
    """Takes weighted means of standardised rows, with the factor of the paper if asked."""
    z = smoothed(rows, RATE)
    left = (1 - RATE) ** (2 * np.arange(1, len(z) + 1))
    return z / np.sqrt(1 - left)[:, None] if factor else z


def chart(runs: dict[str, Rows], diagonal: float, factor: bool, next_row: bool) -> Scores:
    """Learns from the first recordings and scores the others."""
    points = np.vstack([beside(runs[name], next_row) for name in TRAIN])
    mean, deviation = points.mean(axis=0), points.std(axis=0)
    z = {name: means((beside(rows, next_row) - mean) / deviation, factor) for name, rows in runs.items()}
    covariance = np.cov(np.vstack([z[name] for name in TRAIN]).T)
    inverse = np.linalg.inv((1 - diagonal) * covariance + diagonal * np.diag(np.diag(covariance)))
    square = {name: np.einsum("ij,jk,ik->i", rows, inverse, rows) for name, rows in z.items()}
    # Without the row before it, the first one has no score.
    return {name: np.append(-np.inf, scores) if next_row else scores for name, scores in square.items()}


def hours(scores: Scores) -> np.ndarray:
    """Gives the delays in the tuning recordings."""
    return delays(scores, conformal_threshold(nominal(scores, 101, 200), ALPHA), TUNING_SEEDS)


def describe(runs: dict[str, Rows], dpca: np.ndarray, diagonal: float, factor: bool, next_row: bool) -> dict:
    """Judges a variant."""
    ours = hours(chart(runs, diagonal, factor, next_row))
    found = int(np.isfinite(middle(ours)).sum())
    row = {"diagonal": diagonal, "factor": factor, "valves_of_the_row_before": next_row, "found": found}
    return row | {"no_later": round(float(no_later(ours, dpca)), 4), "mean_h": round(restricted(ours).mean(), 4)}


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, help="recordings made by tep.py")
    parser.add_argument("--scores", type=Path, required=True, help="folder of the scores, for those of DPCA")
    parser.add_argument("--out", type=Path, required=True, help="the table")
    arguments = parser.parse_args()
    runs = {name: read(arguments.runs / f"{name}.parquet") for name in TRAIN + CALIBRATION + TUNING}
    dpca = hours(load(arguments.scores / "dpca.npz"))
    variants = itertools.product((0.0, 0.0002, 0.0024, 0.05), (False, True), (False, True))
    table = pd.DataFrame([describe(runs, dpca, *variant) for variant in variants])
    table.to_csv(arguments.out, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
