"""Scores the Tennessee Eastman recordings with methods that are not ours.

All learn from the same 100 nominal recordings and see 41 measurements and the 9 valves that move.

Use: python tep_rivals.py --runs DIR --out DIR [--methods NAME ...]
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from common import Scores, save
from pyod.models.hbos import HBOS
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

TRAIN = 100
STILL = ("xmv05", "xmv09", "xmv12")  # held constant by the controllers
POINTS = 5000  # training rows of the methods whose cost grows with them

Rows = np.ndarray
Scorer = Callable[[Rows], np.ndarray]
Maker = Callable[[list[Rows]], Scorer]


def read(path: Path) -> Rows:
    """Reads a recording [rows, 50]."""
    table = pd.read_parquet(path).drop(columns="hour")
    return table.loc[:, [name for name in table if not name.startswith(STILL)]].to_numpy()


def lagged(rows: Rows, lags: int) -> Rows:
    """Puts each row beside those before it: [rows - lags, (lags + 1) columns]."""
    return np.hstack([rows[lags - lag : len(rows) - lag] for lag in range(lags + 1)])


def padded(scores: np.ndarray, rows: int) -> np.ndarray:
    """Gives the first rows, which have no past, a score that never alarms."""
    return np.concatenate([np.full(rows - len(scores), -np.inf), scores])


class Pca:
    """T² and SPE of principal components that hold a share of the variance."""

    def __init__(self, recordings: list[Rows], lags: int, share: float = 0.95) -> None:
        """Learns means, deviations and components."""
        self.lags = lags
        points = np.vstack([lagged(rows, lags) for rows in recordings])
        self.mean, self.deviation = points.mean(axis=0), points.std(axis=0)
        variances, vectors = np.linalg.eigh(np.cov(((points - self.mean) / self.deviation).T))
        kept = np.searchsorted(np.cumsum(variances[::-1]) / variances.sum(), share) + 1
        self.axes, self.variances = vectors[:, ::-1][:, :kept], variances[::-1][:kept]
        sample = np.vstack([np.array(self.both(rows)).T[lags:] for rows in recordings])
        self.usual = np.quantile(sample, 0.999, axis=0)

    def both(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Scores the rows of a recording by both."""
        z = (lagged(rows, self.lags) - self.mean) / self.deviation
        parts = z @ self.axes
        t2 = (parts**2 / self.variances).sum(axis=1)
        return padded(t2, len(rows)), padded((z**2).sum(axis=1) - (parts**2).sum(axis=1), len(rows))

    def t2(self, rows: Rows) -> np.ndarray:
        """Scores by the distance within the components."""
        return self.both(rows)[0]

    def spe(self, rows: Rows) -> np.ndarray:
        """Scores by the distance from the components."""
        return self.both(rows)[1]

    def either(self, rows: Rows) -> np.ndarray:
        """Scores by the larger of both, each in units of its 99.9 % quantile in training."""
        t2, spe = self.both(rows)
        return np.maximum(t2 / self.usual[0], spe / self.usual[1])


def smoothed(rows: Rows, rate: float) -> Rows:
    """Takes the exponentially weighted mean of standardised rows, which begins at zero."""
    return pd.DataFrame(np.vstack([np.zeros(rows.shape[1]), rows])).ewm(alpha=rate, adjust=False).mean().to_numpy()[1:]


def mewma(recordings: list[Rows], rate: float) -> Scorer:
    """Makes a multivariate chart of exponentially weighted means (Lowry and others 1992)."""
    points = np.vstack(recordings)
    mean, deviation = points.mean(axis=0), points.std(axis=0)
    learned = np.vstack([smoothed((rows - mean) / deviation, rate) for rows in recordings])
    inverse = np.linalg.inv(np.cov(learned.T))

    def score(rows: Rows) -> np.ndarray:
        z = smoothed((rows - mean) / deviation, rate)
        return np.einsum("ij,jk,ik->i", z, inverse, z)

    return score


def pointwise(recordings: list[Rows], learn: Callable[[Rows], Scorer], points: int | None = None) -> Scorer:
    """Makes a method of single standardised rows."""
    rows = np.vstack(recordings)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    if points is not None:
        rows = rows[np.random.default_rng(0).choice(len(rows), points, replace=False)]
    scorer = learn((rows - mean) / deviation)
    return lambda x: scorer((x - mean) / deviation)


def negated(model: IsolationForest | OneClassSVM) -> Callable[[Rows], Scorer]:
    """Takes scikit-learn's scores, where smaller is more anomalous."""

    def learn(points: Rows) -> Scorer:
        fitted = model.fit(points)
        return lambda rows: -fitted.score_samples(rows)

    return learn


def pyod(model: HBOS | KNN) -> Callable[[Rows], Scorer]:
    """Takes the scores of a model of PyOD."""
    return lambda points: model.fit(points).decision_function


METHODS: dict[str, Maker] = {
    "dpca": lambda runs: Pca(runs, lags=5).either,
    "dpca-t2": lambda runs: Pca(runs, lags=5).t2,
    "dpca-spe": lambda runs: Pca(runs, lags=5).spe,
    "pca": lambda runs: Pca(runs, lags=0).either,
    "mewma-0.1": lambda runs: mewma(runs, 0.1),
    "sklearn-isolation-forest": lambda runs: pointwise(runs, negated(IsolationForest(random_state=0)), 5 * POINTS),
    "sklearn-ocsvm": lambda runs: pointwise(runs, negated(OneClassSVM(nu=0.05)), POINTS),
    "pyod-knn": lambda runs: pointwise(runs, pyod(KNN()), POINTS),
    "pyod-hbos": lambda runs: pointwise(runs, pyod(HBOS())),
}


def measure(method: str, runs: Path) -> Scores:
    """Fits a method and scores all recordings but those that it learned from."""
    paths = sorted(runs.glob("idv*.parquet"))
    scorer = METHODS[method]([read(path) for path in paths[:TRAIN]])
    return {path.stem: scorer(read(path)) for path in paths[TRAIN:]}


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, help="recordings made by tep.py")
    parser.add_argument("--out", type=Path, required=True, help="folder of the scores")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS), metavar="NAME")
    arguments = parser.parse_args()
    for method in arguments.methods:
        save(measure(method, arguments.runs), arguments.out / f"{method}.npz")
        print(method, flush=True)


if __name__ == "__main__":
    main()
