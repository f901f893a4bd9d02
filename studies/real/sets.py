"""Recordings that nobody of this project made, as they lie in folders of your choice, divided by rules that no result has changed.

A set is a list of divisions: recordings to learn from, to set a threshold with, nominal ones to count false alarms in, and
faulty ones with the row at which the fault begins; or a list of streams, single recordings with a label for each row.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from offnominal import logs

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
    """A single recording: its beginning to learn from, what follows, and which of these rows are anomalous."""

    name: str
    train: Recording
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


def skab(folder: Path, learned: int = 400) -> Iterator[Stream]:
    """SKAB: each file of valve1 and valve2; its first 400 rows are learned from."""
    for path in sorted(folder.glob("valve[12]/*.csv")):
        table = pd.read_csv(path, sep=";", index_col="datetime")
        rows = table.drop(columns=["anomaly", "changepoint"]).to_numpy(float)
        labels = table["anomaly"].to_numpy()
        yield Stream(f"{path.parent.name}-{path.stem}", rows[:learned], rows[learned:], labels[learned:])


#: What a controller reads and gives, 50 times a second.
FLIGHT = """
version = 1
observation = [
    { column = "sensor_combined:gyro_rad[0]" }, { column = "sensor_combined:gyro_rad[1]" },
    { column = "sensor_combined:gyro_rad[2]" }, { column = "sensor_combined:accelerometer_m_s2[0]" },
    { column = "sensor_combined:accelerometer_m_s2[1]" }, { column = "sensor_combined:accelerometer_m_s2[2]" },
    { column = "vehicle_attitude:q[0]" }, { column = "vehicle_attitude:q[1]" },
    { column = "vehicle_attitude:q[2]" }, { column = "vehicle_attitude:q[3]" },
    { column = "vehicle_local_position:vx" }, { column = "vehicle_local_position:vy" },
    { column = "vehicle_local_position:vz" }, { column = "actuator_outputs:output[0]" },
    { column = "actuator_outputs:output[1]" }, { column = "actuator_outputs:output[2]" },
    { column = "actuator_outputs:output[3]" },
]
command = []
label = "rfly_ctrl_lxl:mode"
clock = { rate_hz = 50.0 }
episodes = { by = "file" }
"""


def rfly(folder: Path) -> Iterator[Division]:
    """RflyMAD: flights of a quadrotor whose first motor loses power, from nothing left to .6, in two manoeuvres.

    Each strength in turn is the fault; the others are learned from and set the threshold, before their fault. The part of a
    flight before the fault, from the start of the recording, is nominal.
    """
    flights = [(r.name, r.observations[1:], r.labels) for r in logs.read(sorted(folder.glob("*.ulg")), FLIGHT)]
    whole = [(Path(name).stem.split("_")[1], rows, int(np.argmax(labels))) for name, rows, labels in flights]
    strengths = sorted({strength for strength, _, _ in whole})
    for held_out in strengths:
        others = [strength for strength in strengths if strength != held_out]
        nominal = {s: [rows[:onset] for strength, rows, onset in whole if strength == s] for s in strengths}
        yield Division(
            f"strength-{held_out}",
            [r for s in others[::2] for r in nominal[s]],
            [r for s in others[1::2] for r in nominal[s]],
            nominal[held_out],
            [(rows, onset) for strength, rows, onset in whole if strength == held_out],
        )


def cwru(folder: Path, seeds: int, rows: int = 1200, most: int = 8) -> Iterator[Division]:
    """CWRU bearings: accelerations at two bearings of a motor without load, 48 kHz; a recording is 25 ms.

    Of a sound motor 70 recordings are learned from, 70 set the threshold, the rest count false alarms, divided at random; of each
    faulty bearing there are the first 8.
    """

    def cut(path: Path) -> list[Recording]:
        found = np.load(path)
        table = np.column_stack([found["DE"], found["FE"]])
        return [table[i : i + rows] for i in range(0, len(table) - rows + 1, rows)]

    nominal = cut(folder / "1797_Normal.npz")
    faulty = [(part, 0) for path in sorted(folder.glob("1797_*_DE48.npz")) for part in cut(path)[:most]]
    for seed in range(1, seeds + 1):
        part = [nominal[i] for i in np.random.default_rng(seed).permutation(len(nominal))]
        yield Division(f"random-{seed}", part[:70], part[70:140], part[140:], faulty)


def nab(folder: Path, share: float = 0.15) -> Iterator[Stream]:
    """NAB, `realKnownCause`: one channel; the first 15 %, which its protocol does not judge, are learned from."""
    windows = json.loads((folder / "labels/combined_windows.json").read_text())
    for path in sorted(folder.glob("data/realKnownCause/*.csv")):
        table = pd.read_csv(path, parse_dates=["timestamp"])
        rows, learned = table[["value"]].to_numpy(float), int(share * len(table))
        inside = [table["timestamp"].between(*window) for window in windows[f"realKnownCause/{path.name}"]]
        yield Stream(path.stem, rows[:learned], rows[learned:], np.any(inside, axis=0)[learned:])
