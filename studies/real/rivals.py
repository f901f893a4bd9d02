"""Detectors of others and of textbooks, unmodified: each learns from rows and gives a score to each row of a recording."""

from collections.abc import Callable

import numpy as np
from pyod.models.copod import COPOD
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.lof import LOF

Recording = np.ndarray
Scorer = Callable[[Recording], np.ndarray]

#: Rows that the detectors of PyOD learn from at most, evenly spread, so that all finish.
ROWS = 5000


def standardised(train: list[Recording]) -> Callable[[Recording], np.ndarray]:
    """Channels in units of their deviation in training; those that never moved are left out."""
    rows = np.concatenate(train)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    moves = deviation > 1e-9 * np.maximum(1, np.abs(mean))
    return lambda recording: ((recording - mean) / np.where(moves, deviation, 1))[:, moves]


def means(rows: np.ndarray, rate: float) -> np.ndarray:
    """Exponentially weighted means, from zero."""
    mean, found = np.zeros(rows.shape[1]), np.empty_like(rows)
    for t, row in enumerate(rows):
        mean = mean + rate * (row - mean)
        found[t] = mean
    return found


def stacked(rows: np.ndarray, lags: int) -> np.ndarray:
    """Each row with those before it; the first stands for what is before the recording."""
    padded = np.concatenate([np.repeat(rows[:1], lags, axis=0), rows])
    return np.concatenate([padded[lags - lag : len(padded) - lag] for lag in range(lags + 1)], axis=1)


def largest_mean(rate: float) -> Callable[[list[Recording]], Scorer]:
    """The largest weighted mean of a channel, in units of its deviation in training; rate 1 is a chart of single rows."""

    def fit(train: list[Recording]) -> Scorer:
        of = standardised(train)
        scale = np.sqrt(np.mean(np.concatenate([means(of(r), rate) for r in train]) ** 2, axis=0))
        return lambda r: np.abs(means(of(r), rate) / scale).max(axis=1)

    return fit


def distance(lags: int, rate: float) -> Callable[[list[Recording]], Scorer]:
    """The Mahalanobis distance of stacked rows (rate 1) or of weighted means (no lags): Hotelling's chart, MEWMA."""

    def fit(train: list[Recording]) -> Scorer:
        of = standardised(train)
        view = (lambda r: stacked(of(r), lags)) if lags else (lambda r: means(of(r), rate))
        rows = np.concatenate([view(r) for r in train])
        inverse = np.linalg.pinv(rows.T @ rows / len(rows), rcond=1e-6, hermitian=True)
        return lambda r: np.einsum("ti,ij,tj->t", view(r), inverse, view(r))

    return fit


def components(lags: int, share: float = 0.95) -> Callable[[list[Recording]], Scorer]:
    """T² and SPE of principal components of stacked rows, the larger in units of its 99 % quantile in training."""

    def fit(train: list[Recording]) -> Scorer:
        of = standardised(train)
        rows = np.concatenate([stacked(of(r), lags) for r in train])
        variance, axes = (part[..., ::-1] for part in np.linalg.eigh(rows.T @ rows / len(rows)))
        kept = int(np.searchsorted(np.cumsum(variance) / variance.sum(), share)) + 1

        def parts(rows: np.ndarray) -> np.ndarray:
            along = rows @ axes
            return np.stack([(along[:, :kept] ** 2 / variance[:kept]).sum(axis=1), (along[:, kept:] ** 2).sum(axis=1)])

        limits = np.maximum(np.quantile(parts(rows), 0.99, axis=1), 1e-12)
        return lambda r: (parts(stacked(of(r), lags)) / limits[:, None]).max(axis=0)

    return fit


def of_pyod(make: Callable[[], object]) -> Callable[[list[Recording]], Scorer]:
    """A detector of PyOD with its defaults, on rows."""

    def fit(train: list[Recording]) -> Scorer:
        of = standardised(train)
        rows = np.concatenate([of(r) for r in train])
        model = make().fit(rows[:: -(-len(rows) // ROWS)])
        return lambda r: model.decision_function(of(r))

    return fit


RIVALS: dict[str, Callable[[list[Recording]], Scorer]] = {
    "3-sigma": largest_mean(1),
    "ewma-0.1": largest_mean(0.1),
    "ewma-0.05": largest_mean(0.05),
    "mewma-0.1 (numpy)": distance(0, 0.1),
    "hotelling-6-rows": distance(5, 1),
    "pca": components(0),
    "dpca-5 (numpy)": components(5),
    "ecod": of_pyod(ECOD),
    "copod": of_pyod(COPOD),
    "iforest": of_pyod(lambda: IForest(random_state=0)),
    "pyod-knn": of_pyod(KNN),
    "lof": of_pyod(LOF),
}
