"""What the studies share: scores in one file a method, the conformal threshold, intervals."""

import json
import math
from pathlib import Path

import numpy as np
from scipy.stats import beta

Scores = dict[str, np.ndarray]
"""By the name of a recording: one score for each row; minus infinity where there is none yet."""


def save(scores: Scores, path: Path) -> None:
    """Writes the scores of one method."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **{name: values.astype(np.float32) for name, values in scores.items()})


def load(path: Path) -> Scores:
    """Reads the scores of one method."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def conformal_threshold(maxima: np.ndarray, alpha: float) -> float:
    """Gives the k-th smallest maximum, k = ceil((n + 1)(1 - alpha)); an alarm is a score above it."""
    k = math.ceil((len(maxima) + 1) * (1 - alpha) - 1e-9)
    return float(np.sort(maxima)[k - 1]) if k <= len(maxima) else math.inf


def exact_interval(hits: int, n: int) -> tuple[float, float]:
    """Gives the 95 % interval of a share by Clopper and Pearson."""
    low = beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


def quantiles(draws: np.ndarray) -> tuple[float, float]:
    """Gives the 95 % interval of a bootstrap."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def write_json(value: object, path: Path) -> None:
    """Writes a value as JSON for people."""
    path.write_text(json.dumps(value, indent=1) + "\n")
