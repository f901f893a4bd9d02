"""Recordings that nobody of this project made, as they lie in folders of your choice, divided by rules that no result has changed.

A set is a list of divisions: recordings to learn from, to set a threshold with, nominal ones to count false alarms in, and
faulty ones with the row at which the fault begins; or a list of streams, single recordings with a label for each row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

Recording = np.ndarray
"""Rows of channels, [T, d]."""


@dataclass
class Division:
    """Recordings by what they are for."""

    name: str
    train: list[Recording]
    calibration: list[Recording]
    nominal: list[Recording]
    faulty: list[tuple[Recording, int]]


@dataclass
class Stream:
    """A single recording: pieces of its beginning to learn from, what follows, and which of these rows are anomalous."""

    name: str
    train: list[Recording]
    rows: Recording
    labels: np.ndarray


def ur3(folder: Path, has_temperatures: bool, seeds: int) -> Iterator[Division]:
    """UR3 CobotOps (UCI 963): a cycle of the arm is a recording; one with a protective stop or a lost grip is faulty.

    Nominal cycles: 50 to learn from, 39 for the threshold, the rest for false alarms; once in the order of time, which is how
    a user has them, then divided at random.
    """
    table = pd.read_excel(folder / "dataset.xlsx").rename(columns=str.strip)
    kinds = ("Current", "Speed", "Tool", "Temperature") if has_temperatures else ("Current", "Speed", "Tool")
    channels = [name for name in table.columns if name.startswith(kinds)]
    nominal, faulty = [], []
    for _, cycle in table.groupby("cycle", sort=True):
        rows = cycle[channels].dropna().to_numpy(float)
        if cycle["grip_lost"].any() or (cycle["Robot_ProtectiveStop"].fillna(0) > 0).any():
            faulty.append((rows, 0))
        else:
            nominal.append(rows)
    for seed in range(seeds + 1):
        order = np.arange(len(nominal)) if seed == 0 else np.random.default_rng(seed).permutation(len(nominal))
        part = [nominal[i] for i in order]
        yield Division("time" if seed == 0 else f"random-{seed}", part[:50], part[50:89], part[89:], faulty)


def cmapss(folder: Path, seeds: int, healthy: int = 60) -> Iterator[Division]:
    """C-MAPSS FD001: an engine until it fails; its first 60 cycles count as healthy. Divided at random: 30, 39 and 31 engines."""
    table = np.loadtxt(folder / "train_FD001.txt")
    engines = [table[table[:, 0] == unit][:, 2:] for unit in np.unique(table[:, 0])]
    for seed in range(1, seeds + 1):
        part = [engines[i] for i in np.random.default_rng(seed).permutation(len(engines))]
        test = part[69:]
        yield Division(
            f"random-{seed}",
            [engine[:healthy] for engine in part[:30]],
            [engine[:healthy] for engine in part[30:69]],
            [engine[:healthy] for engine in test],
            [(engine, healthy) for engine in test],
        )


def tep(folder: Path, runs: range) -> Iterator[Division]:
    """Tennessee Eastman as `studies/logs/tep.py simulate` writes it; a fault begins at row 160 of 660. Valves are channels too."""

    def read(fault: int, run: int) -> Recording:
        table = pd.read_parquet(folder / f"idv{fault:02}-{run:03}.parquet")
        still = ("hour", "xmv05", "xmv09", "xmv12")
        return table[[name for name in table.columns if not name.startswith(still)]].to_numpy()

    nominal = [read(0, run) for run in range(1, 301)]
    faulty = [(read(fault, run), 160) for fault in range(1, 29) for run in runs]
    yield Division("seeds", nominal[:100], nominal[100:200], nominal[200:], faulty)


def skab(folder: Path, learned: int = 400, piece: int = 50) -> Iterator[Stream]:
    """SKAB: each file of valve1 and valve2; its first 400 rows, in pieces of 50, are learned from."""
    for path in sorted(folder.glob("valve[12]/*.csv")):
        table = pd.read_csv(path, sep=";", index_col="datetime")
        rows = table.drop(columns=["anomaly", "changepoint"]).to_numpy(float)
        train = [rows[i : i + piece] for i in range(0, learned, piece)]
        yield Stream(f"{path.parent.name}-{path.stem}", train, rows[learned:], table["anomaly"].to_numpy()[learned:])
