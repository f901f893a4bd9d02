"""Fits our detectors on Tennessee Eastman by the command line and keeps their scores.

python tep_ours.py --runs DIR --out DIR [--detectors ID ...]
"""

import argparse
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
from common import Scores, save

MAPS = Path(__file__).parent
TRAIN, CALIBRATION = 100, 100

# What a name means: a mapping and the table given to `fit --detector`.
DETECTORS: dict[str, tuple[str, str]] = {
    "residual-views": ("tep.toml", '{ id = "residual-views" }'),
    "residual-window": ("tep.toml", '{ id = "residual-window" }'),
    "residual-window-32": ("tep.toml", '{ id = "residual-window", window = 32 }'),
    "isolation-forest-observed": ("tep-observed.toml", '{ id = "isolation-forest" }'),
    "mewma": ("tep-observed.toml", '{ id = "mewma" }'),
    "clock": ("tep.toml", '{ id = "clock" }'),
    "random": ("tep.toml", '{ id = "random" }'),
}


def names(runs: Path) -> list[str]:
    """Lists the recordings that are scored: calibration, nominal test, faults."""
    return sorted(path.stem for path in runs.glob("idv*.parquet"))[TRAIN:]


def fit(detector: str, runs: Path, monitor: Path, program: str) -> dict:
    """Fits on the first 200 nominal recordings and gives what `fit --json` says."""
    mapping, table = DETECTORS[detector]
    logs = [str(runs / f"idv00-{seed:03}.parquet") for seed in range(1, TRAIN + CALIBRATION + 1)]
    command = [program, "fit", *logs, "--map", str(MAPS / mapping), "--detector", table, "--out", str(monitor)]
    command += ["--train", str(TRAIN), "--calibration", str(CALIBRATION), "--alpha", "0.05", "--seed", "0"]
    command += ["--jobs", "1", "--diagnosis", "false", "--quiet", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def score(monitor: Path, runs: Path, wanted: list[str], program: str) -> Scores:
    """Scores recordings; the first row of each is no step and has no score."""
    logs = [str(runs / f"{name}.parquet") for name in wanted]
    command = [program, "score", str(monitor), *logs, "--csv"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    table = pd.read_csv(io.StringIO(printed), usecols=["episode", "score"])
    parts = dict(list(table.groupby("episode")["score"]))
    return {name: np.append(-np.inf, parts[i].to_numpy()) for i, name in enumerate(wanted)}


def measure(detector: str, runs: Path, out: Path, program: str) -> None:
    """Fits a detector and keeps its scores, in portions of 100 recordings."""
    monitor = out / f"{detector}.monitor"
    said = fit(detector, runs, monitor, program)
    (out / f"{detector}.fit.json").write_text(json.dumps(said, indent=1) + "\n")
    wanted, scores = names(runs), {}
    for i in range(0, len(wanted), 100):
        scores |= score(monitor, runs, wanted[i : i + 100], program)
    save(scores, out / f"{detector}.npz")


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, help="recordings made by tep.py")
    parser.add_argument("--out", type=Path, required=True, help="folder of monitors and scores")
    parser.add_argument("--detectors", nargs="*", default=list(DETECTORS), choices=list(DETECTORS), metavar="ID")
    parser.add_argument("--offnominal", default="offnominal", help="the program")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for detector in arguments.detectors:
        measure(detector, arguments.runs, arguments.out, arguments.offnominal)
        print(detector, flush=True)


if __name__ == "__main__":
    main()
