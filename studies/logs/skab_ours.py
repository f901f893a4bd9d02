"""Our detectors on SKAB: all of them by one rule, and what small data needs, chosen on valve1 and confirmed on valve2.

A detector sees standardised channels, or the means of their last rows, cut into pieces of 50 rows; nothing is command.
The 400 first rows are cut into four blocks; each is scored by a detector that learned from the other three.
The threshold is a quantile of these scores, times a factor.

Use: python skab_ours.py tune --data DIR [--out FOLDER]
     python skab_ours.py confirm --data DIR [--out FOLDER]
"""

import argparse
import itertools
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from skab import RIVALS, TRAIN, Values, confusion, figures, files, read, row, smoothed, standardised

import offnominal

BLOCK, PIECE, CONTEXT = 100, 50, 30
DETECTORS = ["Knn", "IsolationForest", "Ocsvm", "Rnd", "EnsembleDm", "ResidualViews", "ResidualWindow", "MultistepDm"]
DETECTORS += ["Mewma", "Dpca"]
OPTIONS = {"Dpca": {"variance": 0.95}}  # its default when the settings were tried
RIVAL = "PCA residual"
MEANS, MEDIANS, QUANTILES, FACTORS = (1, 5, 15), (5, 15), (0.9, 0.95, 0.99, 1.0), (1.0, 1.5, 2.0, 3.0)
FAR_LIMIT = 0.136


class Setting(NamedTuple):
    """A detector, the rows that are averaged before it, the rows of the median after it, and the threshold's rule."""

    detector: str
    mean: int = 1
    median: int = 5
    quantile: float = 0.99
    factor: float = 1.0


PLAIN = [Setting(detector) for detector in [*DETECTORS, RIVAL]]


def episode(rows: Values) -> tuple[Values, np.ndarray]:
    """Gives rows as an episode whose command is always zero."""
    return rows.astype(np.float32), np.zeros((len(rows) - 1, 1), np.float32)


def pieces(rows: Values) -> list[tuple[Values, np.ndarray]]:
    """Cuts rows into episodes."""
    return [episode(rows[i : i + PIECE]) for i in range(0, len(rows) - 1, PIECE)]


def ours(detector: str, blocks: list[Values], rows: Values) -> np.ndarray:
    """Learns from blocks and scores rows; the first row has the score of the second."""
    model = getattr(offnominal.detectors, detector)(**OPTIONS.get(detector, {}))
    scores = model.fit([piece for block in blocks for piece in pieces(block)]).score(episode(rows))
    return np.append(scores[:1], scores)


def pca_residual(blocks: list[Values], rows: Values) -> np.ndarray:
    """Scores by the distance from the components that hold 85 % of the variance."""
    learned = np.vstack(blocks)
    variances, axes = np.linalg.eigh(np.cov(learned.T))
    rest = np.cumsum(variances) / variances.sum() <= 0.15
    return np.linalg.norm((rows - learned.mean(axis=0)) @ axes[:, rest], axis=1)


def score(detector: str, blocks: list[Values], rows: Values) -> np.ndarray:
    """Learns from blocks and scores rows."""
    return pca_residual(blocks, rows) if detector == RIVAL else ours(detector, blocks, rows)


def averaged(values: Values, rows: int) -> Values:
    """Takes means of the last rows of standardised channels."""
    return pd.DataFrame(standardised(values)).rolling(rows, min_periods=1).mean().to_numpy()


@cache
def scores(path: Path, detector: str, mean: int) -> tuple[np.ndarray, np.ndarray]:
    """Gives held-out scores of the first 400 rows, and scores of all rows by the detector that learned from them."""
    rows = averaged(read(path)[0], mean)
    blocks = [rows[i : i + BLOCK] for i in range(0, TRAIN, BLOCK)]
    held = []
    for i in range(len(blocks)):
        context = rows[max(0, i * BLOCK - CONTEXT) : (i + 1) * BLOCK]
        held.append(score(detector, blocks[:i] + blocks[i + 1 :], context)[1 - BLOCK :])
    return np.concatenate(held), score(detector, blocks, rows)


def counts(setting: Setting, path: Path) -> np.ndarray:
    """Counts true and false alarms, misses and quiet rows of a file."""

    def call(_: Values) -> np.ndarray:
        held, all_rows = scores(path, setting.detector, setting.mean)
        usual = np.nanquantile(smoothed(held, setting.median), setting.quantile)
        return smoothed(all_rows, setting.median)[TRAIN:] > usual * setting.factor

    return confusion(call, path)


def grid() -> list[Setting]:
    """Lists the settings that are tried."""
    axes = itertools.product([*DETECTORS, RIVAL], MEANS, MEDIANS, QUANTILES, FACTORS)
    return [Setting(*values) for values in axes]


def tune(paths: list[Path]) -> pd.DataFrame:
    """Tries all settings on some files, the best below the limit of FAR first."""
    rows = []
    for setting in grid():
        f1, far, mar = figures(sum(counts(setting, path) for path in paths))
        rows.append({**setting._asdict(), "f1": f1, "far": far, "mar": mar, "allowed": far < FAR_LIMIT})
    return pd.DataFrame(rows).sort_values(["allowed", "f1"], ascending=False).round(4)


def named(setting: Setting) -> str:
    """Describes a setting."""
    return f"{setting.detector}, mean {setting.mean}, median {setting.median}, {setting.quantile} × {setting.factor}"


def table(paths: list[Path], settings: list[Setting]) -> list[dict]:
    """Gives figures of settings and rivals on some files."""
    rows = [row(named(setting), np.array([counts(setting, path) for path in paths])) for setting in settings]
    return rows + [row(name, np.array([confusion(call, path) for path in paths])) for name, call in RIVALS.items()]


def confirm(paths: list[Path], chosen: list[Setting]) -> pd.DataFrame:
    """Gives figures on valve1, valve2 and all files."""
    folders = {"valve1": ("valve1",), "valve2": ("valve2",), "all": ("valve1", "valve2", "other")}
    parts = []
    for name, inside in folders.items():
        of_part = [path for path in paths if path.parent.name in inside]
        parts += [{"part": name, **line} for line in table(of_part, chosen + PLAIN)]
    return pd.DataFrame(parts)


def best(tried: pd.DataFrame) -> list[Setting]:
    """Takes the best setting of all, and the best of `Knn` and of the rival."""
    firsts = [tried.iloc[0], *(tried[tried.detector == one].iloc[0] for one in ("Knn", RIVAL))]
    return [
        Setting(x.detector, int(x["mean"]), int(x["median"]), float(x["quantile"]), float(x.factor)) for x in firsts
    ]


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["tune", "confirm"])
    parser.add_argument("--data", type=Path, required=True, help="folder `data` of SKAB")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "skab", help="folder of the tables")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    paths = files(arguments.data)
    if arguments.action == "tune":
        tried = tune([path for path in paths if path.parent.name == "valve1"])
        tried.to_csv(arguments.out / "tried-on-valve1.csv", index=False)
        print(tried.head(20).to_string(index=False))
    else:
        found = confirm(paths, best(pd.read_csv(arguments.out / "tried-on-valve1.csv")))
        found.to_csv(arguments.out / "figures.csv", index=False)
        print(found.to_string(index=False))


if __name__ == "__main__":
    main()
