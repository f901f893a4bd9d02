"""Watches endless nominal runs of the Tennessee Eastman process with the rule `run-length`, and says how far apart alarms are.

    python tep_streams.py --out DIR [--program offnominal] [--runs 20]

A run is one stream: the monitor is fitted on its first `FITTED` rows (half of them to learn from, half for
the rule) and watches what follows, three promised run lengths, until its first alarm. `tep-streams.csv` has a
line for each run and detector; lines that are there are not made again. What is watched for each alarm has
the exact 95 % interval of a Poisson count.
"""

import argparse
import csv
import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import tep_plant
from scipy.stats import chi2
from tep import FIRST, MEASURED, MOVED
from tep_plant import CONTROL, SAMPLE

HERE = Path(__file__).parent
FITTED, PROMISED = 20_000, 10_000
DETECTORS = {"residual-views": "tep.toml", "mewma": "tep-observed.toml"}
COLUMNS = ["run", "detector", "block", "n_blocks", "promised", "watched", "alarm"]


def stream(seed: int, folder: Path) -> tuple[Path, Path]:
    """Simulates a nominal plant, and gives the part to fit on and the part to watch, unless their files are there."""
    fit, watch = folder / f"fit-{seed}.parquet", folder / f"watch-{seed}.parquet"
    if not watch.exists():
        last = FIRST + round((FITTED + 3 * PROMISED) * SAMPLE / CONTROL)
        noise = float(np.random.default_rng([99, seed]).integers(2**31) * 2 + 1)
        rows = tep_plant.simulate(noise, 0, last + 1, FIRST, last)
        table = pd.DataFrame(rows, columns=["hour", *MEASURED, *MOVED])
        table[:FITTED].to_parquet(fit)
        table[FITTED:].reset_index(drop=True).to_parquet(watch)
    return fit, watch


def said(program: str, *arguments: str) -> dict:
    """Gives what a command says as JSON."""
    done = subprocess.run([program, *arguments, "--quiet", "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def run(number: int, detector: str, out: Path, program: str) -> dict:
    """Fits on the first part of a stream and watches the rest."""
    fitted, watched = stream(number, out)
    monitor, mapping = out / f"{detector}-{number}.monitor", str(HERE / DETECTORS[detector])
    fit = ["fit", str(fitted), "--map", mapping, "--detector", detector, "--rule", "run-length", "--diagnosis", "false"]
    fit += ["--run-length", str(PROMISED), "--seed", str(number), "--jobs", "1", "--out", str(monitor)]
    promised = said(program, *fit)["monitor"]["threshold"]["run_length"]
    alarms = said(program, "score", str(monitor), str(watched))["recordings"][0]["alarms"]
    until = alarms[0]["step"] + 1 if alarms else 3 * PROMISED
    return {
        "run": number, "detector": detector, "block": promised["block"], "n_blocks": promised["n_blocks"],
        "promised": PROMISED, "watched": until, "alarm": int(bool(alarms)),
    }  # fmt: skip


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Rows watched for each alarm, with its interval."""
    found = table.groupby("detector").agg(runs=("run", "size"), watched=("watched", "sum"), alarms=("alarm", "sum"))
    found["per_alarm"] = found.watched / found.alarms
    found["low"] = found.watched / (chi2.ppf(0.975, 2 * found.alarms + 2) / 2)
    found["high"] = found.watched / (chi2.ppf(0.025, 2 * found.alarms) / 2)
    return found.round(0)


def main() -> None:
    """Makes the lines that are missing, and prints the summary."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--program", default="offnominal")
    arguments.add_argument("--runs", type=int, default=20)
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = HERE / "tep-streams.csv"
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[["run", "detector"]].itertuples(index=False, name=None))
    for number in range(given.runs):
        for detector in DETECTORS:
            if (number, detector) not in done:
                row = run(number, detector, given.out, given.program)
                is_new = not path.exists()
                with path.open("a", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    if is_new:
                        writer.writeheader()
                    writer.writerow(row)
    print(summary(pd.read_csv(path)).to_string())


if __name__ == "__main__":
    main()
