"""Monitors of four PX4 flights, each fitted on the beginning of the flight itself or on those of the others.

A log is cut by bytes after the seconds of `LEARN`, which end before anything that the log records as wrong.
The beginning is cut into windows of half a second; the threshold is the conformal one for alpha 0.05 of the windows.
The whole flight is then one episode; an alarm clears after a quiet second.

Use: python px4.py --data DIR --out DIR
"""

import argparse
import csv
import json
import re
import struct
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
from pyulog import ULog

HERE = Path(__file__).parent
LEARN = {"battery_brownout": 40.0, "ekf_failure": 24.0, "gps_interference": 35.0, "motor_failure": 20.0}  # seconds
OTHERS = [*LEARN, "sample"]
WAYS = [("residual-views", "own"), ("residual-views", "others"), ("knn-transition", "own")]

# What a log itself records: topic, field.
RECORDED = [
    ("vehicle_status", "nav_state"),
    ("vehicle_status", "arming_state"),
    ("vehicle_status", "failsafe"),
    ("vehicle_land_detected", "landed"),
    ("failure_detector_status", "fd_roll"),
    ("failure_detector_status", "fd_pitch"),
    ("estimator_status", "filter_fault_flags"),
    ("estimator_status", "gps_check_fail_flags"),
    ("estimator_status", "pre_flt_fail_innov_vel_horiz"),
    ("estimator_status", "pre_flt_fail_innov_height"),
    ("estimator_status_flags", "cs_inertial_dead_reckoning"),
    ("battery_status", "warning"),
    ("actuator_armed", "manual_lockdown"),
]


def seconds(log: ULog, microseconds: np.ndarray) -> np.ndarray:
    """Gives times since the start of a log."""
    return (microseconds.astype(float) - log.start_timestamp) / 1e6


def changes(log: ULog, topic: str, field: str) -> list[tuple[float, str, str]]:
    """Lists when a recorded state takes another value."""
    found = [data.data for data in log.data_list if data.name == topic and data.multi_id == 0 and field in data.data]
    if not found:
        return []
    values, times = found[0][field], seconds(log, found[0]["timestamp"])
    return [(round(times[i], 2), f"{topic}.{field}", f"{values[i]:g}") for i in np.flatnonzero(np.diff(values)) + 1]


def recorded(path: Path) -> list[tuple[float, str, str]]:
    """Lists changes of state and warnings in the text of a log, by time."""
    log = ULog(str(path))
    states = [event for topic, field in RECORDED for event in changes(log, topic, field)]
    texts = [text for text in log.logged_messages if text.log_level <= ord("4")]
    said = [(round(float(seconds(log, np.array(text.timestamp))), 2), "text", text.message.strip()) for text in texts]
    return sorted(states + said)


def first_step(path: Path) -> float:
    """Gives the time in a log at which all topics of the mapping have begun: the second 0 of our alarms."""
    log, topics = ULog(str(path)), set(re.findall(r'column = "(\w+):', (HERE / "px4.toml").read_text()))
    starts = [seconds(log, x.data["timestamp"][:1])[0] for x in log.data_list if x.name in topics and x.multi_id == 0]
    return float(max(starts))


def stamp(message: bytes) -> int | None:
    """Reads the time of a data message of a topic whose first field is its timestamp, as PX4 has it."""
    return struct.unpack_from("<Q", message, 5)[0] if message[2:3] == b"D" and len(message) >= 13 else None


def cut(path: Path, length: float, out: Path) -> None:
    """Copies a log up to the first data message that is later than `length` seconds."""
    data, at = path.read_bytes(), 16
    end = struct.unpack_from("<Q", data, 8)[0] + length * 1e6
    while at + 3 <= len(data):
        size = struct.unpack_from("<H", data, at)[0] + 3
        if (stamp(data[at : at + size]) or 0) > end:
            break
        at += size
    out.write_bytes(data[:at])


def whole(mapping: Path, out: Path) -> Path:
    """Writes the mapping that takes a flight as one episode."""
    text = mapping.read_text().replace('by = "window"\nsecs = 0.5', 'by = "file"')
    path = out / "whole.toml"
    path.write_text(text)
    return path


def run(*command: object) -> str:
    """Runs a program and gives what it prints."""
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def fit(program: str, logs: list[Path], monitor: Path, detector: str, calibration: int) -> dict:
    """Fits a detector on windows of logs; the last ones set the threshold."""
    given = ["--detector", f'{{ id = "{detector}" }}', "--calibration", calibration, "--map", HERE / "px4.toml"]
    given += ["--alpha", 0.05, "--clear-after", 10, "--seed", 0, "--jobs", 1]
    return json.loads(run(program, "fit", *logs, *given, "--quiet", "--json", "--out", monitor))


def alarms(program: str, monitor: Path, log: Path, mapping: Path) -> list[dict]:
    """Scores a flight, writes its page and gives its alarms."""
    table, page = monitor.with_suffix(".csv"), monitor.with_suffix(".html")
    run(program, "score", monitor, log, "--map", mapping, "--report", page, "--alarms", table)
    with table.open() as file:
        return list(csv.DictReader(file))


def watch(program: str, name: str, detector: str, kind: str, data: Path, out: Path) -> list[dict]:
    """Fits on a flight's own beginning or on those of the others, and watches the flight."""
    learned = [name] if kind == "own" else [other for other in OTHERS if other != name]
    parts = [out / f"{part}.ulg" if part in LEARN else data / f"{part}.ulg" for part in learned]
    monitor = out / f"{name}-{detector}-{kind}.monitor"
    half = round(sum(LEARN.get(part, 69.0) for part in learned))  # of windows of half a second
    said = fit(program, parts, monitor, detector, max(half, 19))
    threshold = said["monitor"]["threshold"]
    row = {
        "log": name,
        "detector": detector,
        "learned_from": kind,
        "windows": said["recordings"] - len(said["left_out"]),
        "threshold": threshold["value"],
    }
    found = alarms(program, monitor, data / f"{name}.ulg", out / "whole.toml")
    row |= {"warnings": len(said["warnings"])}
    start = first_step(data / f"{name}.ulg")
    at = [{"log": name, "secs_in_log": round(start + float(alarm["secs"]), 1)} for alarm in found]
    return [row | alarm | place for alarm, place in zip(found, at)] or [row]


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the five logs")
    parser.add_argument("--out", type=Path, required=True, help="folder of cut logs, monitors and pages")
    parser.add_argument("--tables", type=Path, default=HERE / "px4", help="folder of the tables")
    parser.add_argument("--offnominal", default="offnominal", help="the program")
    arguments = parser.parse_args()
    for folder in (arguments.out, arguments.tables):
        folder.mkdir(parents=True, exist_ok=True)
    whole(HERE / "px4.toml", arguments.out)
    events, found = [], []
    for name, length in LEARN.items():
        cut(arguments.data / f"{name}.ulg", length, arguments.out / f"{name}.ulg")
        events += [(name, *event) for event in recorded(arguments.data / f"{name}.ulg")]
    for name in LEARN:
        for detector, kind in WAYS:
            found += watch(arguments.offnominal, name, detector, kind, arguments.data, arguments.out)
    header = ["log", "seconds", "what", "value"]
    pd.DataFrame(events, columns=header).to_csv(arguments.tables / "recorded.csv", index=False)
    pd.DataFrame(found).to_csv(arguments.tables / "alarms.csv", index=False)


if __name__ == "__main__":
    main()
