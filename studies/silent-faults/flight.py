"""Windows of one PX4 flight, with the same faults as far as the flight's own topics have them.

The part in the air, from 3 s after the land detector says so to 3 s before it says otherwise, is cut into windows of twenty rows,
which is 1 s: a row for each message of `vehicle_attitude`, with the mean of the IMU since the row before and the last value of every
other topic. Three channels compare the IMU with the estimator: the rate of the gyro less the rate at which the published attitude
turns. Every fifth window belongs to the same fold. Each fold is watched by a monitor that has learned from two others and whose
threshold is set by the remaining two.

Neighbouring windows depend on one another, and a window that is watched lies between windows that were learned from. So the
promise of the threshold, which is for recordings in no particular order, is no more than a guide here.

A faulty window is the recorded one with the topic changed from a row of its own on. The vehicle does not answer to the fault, and
its estimator is not run again: what the estimator would have published, had it believed the changed topic, is not there.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from faults import Fault, Scales, biased, held, interrupted, scaled, shifted, swapped, turned
from pyulog import ULog
from sensors import Readings

RATE_HZ, FOLDS, ROWS = 20, 5, 20
ONSETS = (6, 10)
"""First and last row of a window at which a fault may begin."""
TOPICS = ["vehicle_attitude", "sensor_combined", "vehicle_local_position", "estimator_status", "vehicle_rates_setpoint"]
RATES = ["roll rate", "pitch rate", "yaw rate"]
ACCELERATIONS = ["acceleration x", "acceleration y", "acceleration z"]
VELOCITIES = ["velocity north", "velocity east", "velocity down"]
POSITION_RATES = ["position rate north", "position rate east"]
OF_COVARIANCE = ("log test ratio", "position sd")
AGAINST = " against attitude"
CHANNELS = [*RATES, *(name + AGAINST for name in RATES), *ACCELERATIONS, *VELOCITIES, *POSITION_RATES, *OF_COVARIANCE]
COMMANDS = ["roll rate asked for", "pitch rate asked for", "yaw rate asked for", "thrust asked for"]

FAULTS = {
    "gate rejects every fix": Fault(
        "filter",
        "the gate is 0.1 standard deviations wide in place of 5, so every test ratio is above 1",
        ("log test ratio",),
        sensors=shifted({"log test ratio": 2 * np.log(5 / 0.1)}),
    ),
    "position runs backwards": Fault(
        "filter", "at 1 m/s against the heading; the velocity stays right", tuple(POSITION_RATES), sensors=turned(1.0)
    ),
    "innovation too small": Fault(
        "filter",
        "fixes are believed to be so bad that the test ratio falls by the factor 67",
        ("log test ratio",),
        sensors=shifted({"log test ratio": -np.log(2 / 0.03)}),
    ),
    "yaw gyro inverted": Fault("filter", "the sign of the yaw rate", ("yaw rate",), sensors=scaled(["yaw rate"], -1.0)),
    "gate 39 times too far": Fault(
        "filter",
        "so much drift is believed in that innovations are expected with 39 times their variance",
        OF_COVARIANCE,
        sensors=shifted({"log test ratio": -np.log(16.27 / 0.415), "position sd": np.log(16.27 / 0.415) / 2}),
    ),
    "frozen topic": Fault(
        "sensor",
        "the IMU repeats its last message",
        (*RATES, *ACCELERATIONS),
        sensors=held([*RATES, *ACCELERATIONS]),
    ),
    "constant bias": Fault(
        "sensor", "yaw rate, two standard deviations", ("yaw rate",), sensors=biased("yaw rate", 2.0)
    ),
    "wrong unit": Fault(
        "sensor", "rates in degrees per second", tuple(RATES), sensors=scaled(RATES, float(np.degrees(1)))
    ),
    "drop-out": Fault(
        "sensor",
        "accelerations are 0 for 0.1 s of every 0.4 s",
        tuple(ACCELERATIONS),
        sensors=interrupted(ACCELERATIONS, 0.1, 0.4, 1 / RATE_HZ),
    ),
    "swapped channels": Fault(
        "sensor",
        "roll and pitch rate",
        ("roll rate", "pitch rate"),
        all_first=True,
        sensors=swapped("roll rate", "pitch rate"),
    ),
}


def topics(log: ULog) -> dict[str, dict[str, np.ndarray]]:
    """Gives the first instance of each topic by its name, with times in seconds since the start of the log."""
    found = {topic.name: topic.data for topic in log.data_list if topic.multi_id == 0}
    seconds = {name: (data["timestamp"].astype(float) - log.start_timestamp) / 1e6 for name, data in found.items()}
    return {name: data | {"secs": seconds[name]} for name, data in found.items()}


def airborne(land: dict[str, np.ndarray]) -> tuple[float, float]:
    """Gives the part of a flight that is watched, in seconds."""
    secs = land["secs"][land["landed"] == 0]
    return float(secs[0]) + 3, float(secs[-1]) - 3


def rate(topic: dict[str, np.ndarray], values: np.ndarray) -> np.ndarray:
    """Gives how fast values changed since the last message, each second."""
    change = np.diff(values) / np.diff(topic["secs"])
    return np.concatenate([change[:1], change])


def heading(q: np.ndarray) -> np.ndarray:
    """Gives the yaw angle of quaternions `[n, 4]`."""
    w, x, y, z = q.T
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def turns(q: np.ndarray, secs: np.ndarray) -> np.ndarray:
    """Gives how fast an attitude turned since the last message, about the axes of the body `[n, 3]`."""
    (w, v), (to_w, to_v) = (q[:-1, 0, None], q[:-1, 1:]), (q[1:, 0, None], q[1:, 1:])
    about = w * to_v - to_w * v - np.cross(v, to_v)  # the vector of q⁻¹ q', half the angle where it is small
    rates = 2 * about * np.sign(w * to_w + (v * to_v).sum(axis=1, keepdims=True)) / np.diff(secs)[:, None]
    return np.vstack([rates[:1], rates])


def means(secs: np.ndarray, values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Gives the mean of the messages since the last row, and the last message where there is none."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.searchsorted(secs, grid, side="right")
    starts = np.minimum(np.concatenate([[ends[0] - 1], ends[:-1]]), ends - 1)
    return (total[ends] - total[starts]) / (ends - starts)


def last(secs: np.ndarray, values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Gives the last message at each row."""
    return values[np.searchsorted(secs, grid, side="right") - 1]


def table(found: dict[str, dict[str, np.ndarray]]) -> pd.DataFrame:
    """Gives a row for each message of the attitude in the part that is watched."""
    attitude, imu, place, status, asked = (found[name] for name in TOPICS)
    first, end = airborne(found["vehicle_land_detected"])
    q = np.column_stack([attitude[f"q[{i}]"] for i in range(4)])
    inside = slice(*np.searchsorted(attitude["secs"], [first, end]))
    grid = attitude["secs"][inside]
    rows = {"time": grid, "heading": heading(q)[inside]} | dict(
        zip([f"{name} of attitude" for name in RATES], turns(q, attitude["secs"])[inside].T)
    )
    for names, field in ((RATES, "gyro_rad"), (ACCELERATIONS, "accelerometer_m_s2")):
        rows |= {name: means(imu["secs"], imu[f"{field}[{i}]"].astype(float), grid) for i, name in enumerate(names)}
    held = dict(zip(VELOCITIES, (place["vx"], place["vy"], place["vz"])))
    held |= dict(zip(POSITION_RATES, (rate(place, place["x"]), rate(place, place["y"]))))
    rows |= {name: last(place["secs"], x, grid) for name, x in held.items()}
    ratio, sd = np.log(np.maximum(status["pos_test_ratio"], 1e-9)), np.log(status["pos_horiz_accuracy"])
    rows |= {name: last(status["secs"], x, grid) for name, x in zip(OF_COVARIANCE, (ratio, sd))}
    fields = ("roll", "pitch", "yaw", "thrust_body[2]")
    return pd.DataFrame(rows | {name: last(asked["secs"], asked[f], grid) for name, f in zip(COMMANDS, fields)})


def windows(path: Path) -> list[pd.DataFrame]:
    """Reads a log and cuts it."""
    rows = table(topics(ULog(str(path))))
    return [rows[i * ROWS : (i + 1) * ROWS].reset_index(drop=True) for i in range(len(rows) // ROWS)]


def recording(i: int, window: pd.DataFrame, fault: Fault | None, scales: Scales, seed: int) -> pd.DataFrame:
    """Gives one window, with a fault or without."""
    onset = int(np.random.default_rng([seed, i]).integers(ONSETS[0], ONSETS[1] + 1))
    seen: Readings = {name: window[name].to_numpy(dtype=float) for name in window}
    label = np.zeros(ROWS, dtype=int)
    if fault is not None and fault.sensors is not None:
        seen, label = fault.sensors(seen, onset, scales), (np.arange(ROWS) >= onset).astype(int)
    seen |= {name + AGAINST: seen[name] - seen[f"{name} of attitude"] for name in RATES}
    rows = {"recording": f"window-{i:03}", "time": window["time"].to_numpy(), "label": label}
    return pd.DataFrame(rows | {name: seen[name] for name in [*CHANNELS, *COMMANDS]})


def fold(i: int, watched: int) -> str:
    """Tells what a window is for when those of one fold are watched."""
    return ["nominal", "calibration", "train", "calibration", "train"][(i - watched) % FOLDS]


def make(log: Path, seed: int, out: Path) -> None:
    """Writes a folder for each fold, with `train`, `calibration`, `nominal` and a file for each fault."""
    cut = windows(log)
    scales: Scales = pd.concat(cut).std(numeric_only=True).to_dict()
    for watched in range(FOLDS):
        folder = out / f"fold{watched}"
        folder.mkdir(parents=True, exist_ok=True)
        for kind in ("train", "calibration", "nominal", *FAULTS):
            group = kind if kind not in FAULTS else "nominal"
            made = [
                recording(i, window, FAULTS.get(kind), scales, seed)
                for i, window in enumerate(cut)
                if fold(i, watched) == group
            ]
            pd.concat(made, ignore_index=True).to_parquet(folder / f"{kind}.parquet", index=False)
