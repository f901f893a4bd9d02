"""Recordings of a localisation stack in two cars of ours: `driving` and `car-lanekeep`.

The program plays nominal episodes; of each the first 25 s are taken, ten steps a second. The car's motion is that of the episode.
Sensors and filter are ours (`sensors.py`, `estimator.py`) and are passengers: the policy does not steer by them, so no fault
changes the drive. A recording has the same motion and the same noise with each fault, and without one.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import estimator
import faults
import numpy as np
import pandas as pd
import pyarrow as pa
import sensors
from faults import FAULTS, Fault, Scales
from sensors import STEP_SECS, Readings

STEPS = 250
"""Steps of a drive that are taken."""
LEAD_IN = 100
"""Steps straight ahead before the drive, in which the filter finds its way; they are not recorded."""
ONSETS = (80, 120)
"""First and last row of a recording at which a fault may begin."""
CHANNELS = [*faults.WHEELS, *faults.IMU, *estimator.OUTPUTS]
COMMANDS = ["throttle", "steering"]
Motion = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Speed, yaw rate and commands of a drive."""


@dataclass(frozen=True)
class Seeds:
    """Where the episodes of a world come from, and how many there are."""

    first: int
    train: int = 60
    calibration: int = 100
    nominal: int = 200
    faulty: int = 40

    def groups(self) -> list[tuple[str, int, int]]:
        """Names the groups of recordings, with seed and number of episodes."""
        counts = {"train": self.train, "calibration": self.calibration, "nominal": self.nominal, "faulty": self.faulty}
        return [(name, self.first + i, n) for i, (name, n) in enumerate(counts.items())]


def of_driving(observations: np.ndarray, actions: np.ndarray) -> Motion:
    """Reads speed and yaw rate, which the car senses."""
    return observations[:, 9], observations[:, 10], actions


def of_lanekeep(observations: np.ndarray, _: np.ndarray) -> Motion:
    """Computes the yaw rate from speed and steering: the steady state of the world's own bicycle model, every second step."""
    wheelbase_m, understeer, full_rad = 2.91, 1873 * (1.60 - 1.31) / (2.91 * 100_000), 0.35
    seen = observations[::2]
    speed, pedals = seen[:, 0] * 100 / 3.6, seen[:, 7:9]
    return speed, speed * full_rad * pedals[:, 1] / (wheelbase_m + understeer * speed**2), pedals


WORLDS = {"driving": of_driving, "car-lanekeep": of_lanekeep}


def play(program: str, world: str, seed: int, episodes: int, out: Path) -> list[Motion]:
    """Plays nominal episodes and gives the motion of each, without those that are too short."""
    command = [program, "collect", "--env", world, "--policy", "tqc", "--episodes", episodes, "--seed", seed]
    command += ["--out", out, "--quiet"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    file = pa.ipc.open_file(out / f"{world}-tqc-nominal-seed{seed}.arrow")
    batches = [file.get_batch(i) for i in range(file.num_record_batches)]  # one for each episode
    numbers = [[np.array(batch[name].to_pylist()) for name in ("observations", "actions")] for batch in batches]
    drives = [WORLDS[world](observations, actions) for observations, actions in numbers]
    return [tuple(part[:STEPS] for part in drive) for drive in drives if len(drive[0]) >= STEPS]


def record(name: str, motion: Motion, rng: np.random.Generator, fault: Fault | None, scales: Scales) -> pd.DataFrame:
    """Gives one recording; a fault begins at a row of its own."""
    onset = int(rng.integers(ONSETS[0], ONSETS[1] + 1))
    speed = np.concatenate([np.full(LEAD_IN, motion[0][0]), motion[0]])
    readings: Readings = sensors.read(speed, np.concatenate([np.zeros(LEAD_IN), motion[1]]), rng)
    if fault is not None and fault.sensors is not None:
        readings = fault.sensors(readings, LEAD_IN + onset, scales)
    settings = estimator.NOMINAL if fault is None else fault.settings
    seen = readings | estimator.run(readings, settings, LEAD_IN + onset)
    step = np.arange(STEPS)
    rows = {"recording": name, "time": step * STEP_SECS, "label": (step >= onset).astype(int) if fault else 0 * step}
    rows |= {c: seen[c][LEAD_IN:] for c in CHANNELS} | dict(zip(COMMANDS, motion[2].T, strict=True))
    return pd.DataFrame(rows)


def many(group: str, seed: int, motions: list[Motion], fault: Fault | None = None, scales: Scales | None = None):
    """Gives the recordings of a group in one table; each has noise of its own, the same for all faults."""
    made = [
        record(f"{group}-{i:03}", motion, np.random.default_rng([seed, i]), fault, scales or {})
        for i, motion in enumerate(motions)
    ]
    return pd.concat(made, ignore_index=True)


def make(program: str, world: str, seeds: Seeds, out: Path) -> None:
    """Writes `train`, `calibration`, `nominal` and a file for each fault."""
    out.mkdir(parents=True, exist_ok=True)
    scales: Scales = {}
    for group, seed, episodes in seeds.groups():
        motions = play(program, world, seed, episodes, out / "episodes")
        kinds = {group: None} if group != "faulty" else FAULTS
        for kind, fault in kinds.items():
            table = many(group, seed, motions, fault, scales)
            table.to_parquet(out / f"{kind}.parquet", index=False)
            if kind == "train":
                scales = table[CHANNELS].std().to_dict()
    (out / "scales.json").write_text(json.dumps(scales, indent=1) + "\n")
