"""The Skoltech anomaly benchmark by its own protocol.

Each file: learn from the first 400 rows, call each later row normal or not; one confusion pooled over all files.
FAR is the share of normal rows with an alarm, MAR the share of anomalous rows without one.
Only the first 400 rows set a threshold.

`skab_ours.py` runs it.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import f as fisher
from scipy.stats import norm
from sklearn.ensemble import IsolationForest

TRAIN, SMOOTH = 400, 5

Values = np.ndarray
Caller = Callable[[Values], np.ndarray]
"""From the values [rows, 8] of a file to a verdict for each row after the first 400."""


def read(path: Path) -> tuple[Values, np.ndarray]:
    """Reads the channels of a file and the label of each row."""
    table = pd.read_csv(path, sep=";")
    values = table.drop(columns=["datetime", "anomaly", "changepoint"], errors="ignore")
    return values.to_numpy(), table["anomaly"].to_numpy() > 0


def files(folder: Path) -> list[Path]:
    """Lists the files that hold labels, valve1 first."""
    return [path for name in ("valve1", "valve2", "other") for path in sorted((folder / name).glob("*.csv"))]


def smoothed(scores: np.ndarray, width: int = SMOOTH) -> np.ndarray:
    """Takes the median of the last few rows; the first have none."""
    return pd.Series(scores).rolling(width).median().to_numpy()


def standardised(values: Values) -> Values:
    """Brings channels to mean 0 and deviation 1 of the first 400 rows."""
    head = values[:TRAIN]
    return (values - head.mean(axis=0)) / np.where(head.std(axis=0) > 0, head.std(axis=0), 1.0)


def q_limit(rest: np.ndarray, p: float, as_published: bool) -> float:
    """Gives the limit of Q (Jackson and Mudholkar 1979); the published code takes powers of a sum for sums of powers."""
    a, b, c = (rest.sum() ** i if as_published else (rest**i).sum() for i in (1, 2, 3))
    h = 1 - 2 * a * c / (3 * b**2)
    return a * (norm.ppf(p) * np.sqrt(2 * b * h**2) / a + 1 + b * h * (h - 1) / a**2) ** (1 / h)


def t2_and_q(values: Values, as_published: bool, p: float = 0.999, share: float = 0.85) -> np.ndarray:
    """Calls by Hotelling's T² and Q of principal components with 85 % of the variance.

    The published code also takes the variances of the rest from eigenvalues in no order.
    """
    z = standardised(values)
    covariance = np.cov(z[:TRAIN].T)
    variances, axes = (part[..., ::-1] for part in np.linalg.eigh(covariance))
    kept = np.searchsorted(np.cumsum(variances) / variances.sum(), share) + 1
    parts = z @ axes[:, :kept]
    t2 = (parts**2 / variances[:kept]).sum(axis=1)
    q = (z**2).sum(axis=1) - (parts**2).sum(axis=1)
    t2_limit = kept * (TRAIN**2 - 1) / (TRAIN * (TRAIN - kept)) * fisher.ppf(p, kept, TRAIN - kept)
    rest = np.linalg.eig(covariance)[0].real[kept:] if as_published else variances[kept:]
    return (smoothed(t2[TRAIN:]) > t2_limit) | (smoothed(q[TRAIN:]) > q_limit(rest, p, as_published))


def isolation_forest(values: Values) -> np.ndarray:
    """Calls by scikit-learn's isolation forest with the settings of the benchmark."""
    model = IsolationForest(random_state=0, n_jobs=1, contamination=0.0005).fit(values[:TRAIN])
    return smoothed(model.predict(values[TRAIN:]) < 0) > 0.5


def by_chance(values: Values) -> np.ndarray:
    """Calls half of the rows anomalous."""
    return np.random.default_rng(len(values)).random(len(values) - TRAIN) < 0.5


RIVALS: dict[str, Caller] = {
    "always alarm": lambda values: np.ones(len(values) - TRAIN, bool),
    "random": by_chance,
    "T²+Q as published": lambda values: t2_and_q(values, as_published=True),
    "T²+Q, limit corrected": lambda values: t2_and_q(values, as_published=False),
    "isolation forest": isolation_forest,
}


def confusion(call: Caller, path: Path) -> np.ndarray:
    """Counts true and false alarms, misses and quiet rows of a file."""
    values, labels = read(path)
    alarm, wrong = call(values), labels[TRAIN:]
    return np.array([(alarm & wrong).sum(), (alarm & ~wrong).sum(), (~alarm & wrong).sum(), (~alarm & ~wrong).sum()])


def figures(counts: np.ndarray) -> tuple[float, float, float]:
    """Gives F1, FAR and MAR of pooled counts."""
    hit, false, missed, quiet = counts
    return 2 * hit / (2 * hit + false + missed), false / (false + quiet), missed / (hit + missed)


def row(name: str, counts: np.ndarray, draws: int = 2000) -> dict:
    """Gives figures of one method with 95 % intervals by a bootstrap of files."""
    picks = np.random.default_rng(0).integers(len(counts), size=(draws, len(counts)))
    spread = np.quantile([figures(counts[pick].sum(axis=0)) for pick in picks], [0.025, 0.975], axis=0)
    result: dict = {"method": name, "files": len(counts)}
    for i, (key, value) in enumerate(zip(("f1", "far", "mar"), figures(counts.sum(axis=0)))):
        result |= {key: round(value, 4), f"{key}_low": round(spread[0, i], 4), f"{key}_high": round(spread[1, i], 4)}
    return result
