"""Judges scores of Tennessee Eastman recordings: false alarms, faults found, delays, and each method against DPCA.

The threshold of every method is the k-th smallest of the largest scores of 100 nominal recordings (seeds 101 to 200).
False alarms are counted on the 300 nominal recordings after them, faults on seeds 1 to 20.
A delay is the time from the onset to the first score above the threshold; a fault that is not found counts 25 h.

With `--equal` the threshold is set on recordings 101 to 500, so that all methods have the same share of false alarms.

Use: python tep_judge.py --scores DIR --out DIR [--tuning | --fresh] [--equal] [--base METHOD]
"""

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
from common import Scores, conformal_threshold, exact_interval, load, quantiles
from scipy.stats import betabinom
from tep import FAULTS, FRESH_SEEDS, HOURS, NOMINAL_RUNS, ONSET, TEST_SEEDS, TUNING_SEEDS
from tep_plant import SAMPLE

ONSET_ROW, HORIZON = round(ONSET / SAMPLE), HOURS - ONSET
ALPHAS = (0.01, 0.05)
DRAWS = 2000


def nominal(scores: Scores, first: int, last: int) -> np.ndarray:
    """Gives the largest score of each of some nominal recordings."""
    return np.array([scores[f"idv00-{seed:03}"].max() for seed in range(first, last + 1)])


def delays(scores: Scores, threshold: float, seeds: range) -> np.ndarray:
    """Gives hours from the onset to the alarm [fault, seed], infinite without one."""
    result = np.full((len(FAULTS), len(seeds)), np.inf)
    for i, fault in enumerate(FAULTS):
        for j, seed in enumerate(seeds):
            above = np.flatnonzero(scores[f"idv{fault:02}-{seed:03}"][ONSET_ROW + 1 :] > threshold)
            result[i, j] = (above[0] + 1) * SAMPLE if len(above) else np.inf
    return result


def as_promised(alarms: int, tested: int, alpha: float, calibrated: int = 100) -> float:
    """Gives the probability of at least so many alarms if the promise holds: the threshold has its own luck too."""
    k = math.ceil((calibrated + 1) * (1 - alpha) - 1e-9)
    return float(betabinom.sf(alarms - 1, tested, calibrated + 1 - k, k))


def over_splits(largest: np.ndarray, alpha: float, calibrated: int = 100, splits: int = 1000) -> float:
    """Gives the mean share of alarms over random divisions into calibration and test."""
    draws, shares = np.random.default_rng(0), []
    for _ in range(splits):
        mixed = draws.permutation(largest)
        shares.append((mixed[calibrated:] > conformal_threshold(mixed[:calibrated], alpha)).mean())
    return float(np.mean(shares))


def false_alarms(method: str, scores: Scores) -> list[dict]:
    """Counts nominal test recordings with an alarm."""
    rows = []
    for alpha in ALPHAS:
        threshold = conformal_threshold(nominal(scores, 101, 200), alpha)
        largest = nominal(scores, 201, NOMINAL_RUNS)
        alarms = int((largest > threshold).sum())
        low, high = exact_interval(alarms, len(largest))
        share = {"share": alarms / len(largest), "low": low, "high": high}
        share |= {"p_as_promised": as_promised(alarms, len(largest), alpha)}
        share |= {"over_splits": over_splits(nominal(scores, 101, NOMINAL_RUNS), alpha)}
        rows.append({"method": method, "alpha": alpha, "threshold": threshold, "alarms": alarms, **share})
    return rows


def middle(hours: np.ndarray) -> np.ndarray:
    """Gives the median over the last axis; infinite if half or more have no alarm."""
    ranked = np.sort(hours, axis=-1)
    return ranked[..., hours.shape[-1] // 2]


def restricted(hours: np.ndarray) -> np.ndarray:
    """Gives the mean over the last axis, no delay counting more than the rest of a recording."""
    return np.minimum(hours, HORIZON).mean(axis=-1)


def resampled(hours: np.ndarray, seed: int = 0) -> np.ndarray:
    """Draws runs of each fault with replacement [draw, fault, seed]; the same draws for every method."""
    faults, runs = hours.shape
    picks = np.random.default_rng(seed).integers(runs, size=(DRAWS, faults, runs))
    return np.take_along_axis(np.broadcast_to(hours, (DRAWS, faults, runs)), picks, axis=2)


def by_fault(method: str, alpha: float, hours: np.ndarray) -> list[dict]:
    """Describes the delays of a method, fault by fault."""
    spread = restricted(resampled(hours))
    rows = []
    for i, fault in enumerate(FAULTS):
        low, high = quantiles(spread[:, i])
        found = {"method": method, "alpha": alpha, "idv": fault, "found": np.isfinite(hours[i]).mean()}
        means = {"mean_h": restricted(hours[i]), "low": low, "high": high}
        rows.append({**found, "median_h": middle(hours[i]), **means})
    return rows


def no_later(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Gives the share of faults, of those that either finds in most runs, whose median delay is no larger."""
    first, second = middle(ours), middle(theirs)
    either = np.isfinite(first) | np.isfinite(second)
    return ((first <= second) & either).sum(axis=-1) / either.sum(axis=-1)


def against(method: str, alpha: float, ours: np.ndarray, theirs: np.ndarray) -> dict:
    """Compares a method with the base on the same recordings."""
    either = np.isfinite(middle(ours)) | np.isfinite(middle(theirs))
    low, high = quantiles(no_later(resampled(ours), resampled(theirs)))
    gain = (restricted(resampled(theirs)) - restricted(resampled(ours))).mean(axis=1)
    row = {"method": method, "alpha": alpha, "found_by_either": int(either.sum())}
    row |= {"found": int(np.isfinite(middle(ours)).sum()), "no_later": float(no_later(ours, theirs))}
    row |= {"no_later_low": low, "no_later_high": high}
    row |= {"mean_gain_h": (restricted(theirs) - restricted(ours)).mean()}
    return row | dict(zip(("gain_low", "gain_high"), quantiles(gain)))


def compare(methods: dict[str, Scores], base: str, seeds: range, last: int) -> dict[str, list[dict]]:
    """Describes the delays of all methods, with thresholds from the recordings 101 to `last`."""
    tables: dict[str, list[dict]] = {"faults": [], f"against-{base}": []}
    for alpha in ALPHAS:
        hours = {
            name: delays(scores, conformal_threshold(nominal(scores, 101, last), alpha), seeds)
            for name, scores in methods.items()
        }
        for name, one in hours.items():
            tables["faults"] += by_fault(name, alpha, one)
            tables[f"against-{base}"].append(against(name, alpha, one, hours[base]))
    return tables


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=Path, required=True, help="folder of the scores")
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--tuning", action="store_true", help="faults of the tuning seeds instead of the test seeds")
    parser.add_argument("--fresh", action="store_true", help="faults of the seeds of the second test")
    parser.add_argument("--equal", action="store_true", help="thresholds from all nominal recordings but the first 100")
    parser.add_argument("--base", default="dpca", help="the method that the others are compared with")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    methods = {path.stem: load(path) for path in sorted(arguments.scores.glob("*.npz"))}
    seeds = TUNING_SEEDS if arguments.tuning else FRESH_SEEDS if arguments.fresh else TEST_SEEDS
    last = NOMINAL_RUNS if arguments.equal else 200
    tables = compare(methods, arguments.base, seeds, last)
    tables["false-alarms"] = [row for name, scores in methods.items() for row in false_alarms(name, scores)]
    for name, rows in tables.items():
        pd.DataFrame(rows).round(4).sort_values(["method", "alpha"]).to_csv(arguments.out / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
