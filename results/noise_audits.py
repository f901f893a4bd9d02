"""Detectors at each floor of noise, by audits: `python results/noise_audits.py FOLDER > results/noise_audits.csv`.

Audits TQC in each environment of the vector benchmark without noise and at `datasheet`, at depth `quick` with seed 1 and
`pe-dm` beside the detectors of that depth; strengths are found anew at each level. FOLDER keeps the audits: what is
finished is not run again. `offnominal` must be on the path, or its path in the variable `OFFNOMINAL`. Environments may be
named behind the folder.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

from noise_policies import WORLDS

LEVELS = ("none", "datasheet")

#: It needs a robot, or a simulated one that listens.
NEEDS_A_ROBOT = "urr-reach"


def audited(env: str, folder: pathlib.Path) -> dict[str, Any]:
    """The audit of an environment."""
    program = os.environ.get("OFFNOMINAL", "offnominal")
    words = ["audit", "--env", env, "--policy", "tqc", "--depth", "quick", "--seed", "1", "--detector", "pe-dm"]
    done = subprocess.run([program, *words, "--out", str(folder), "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{env}: {done.stderr.strip().splitlines()[-1]}")
    report: dict[str, Any] = json.loads((folder / "audit.json").read_text())
    return report


def rows(env: str, level: str, report: dict[str, Any]) -> list[list[str]]:
    """A row for each detector and strength."""
    found = [(one["name"], strength, at) for one in report["detectors"] for strength, at in sorted(one["at"].items())]
    return [
        [env, level, name, strength, *(f"{at[key]:.4f}" for key in ("value", "low", "high"))]
        for name, strength, at in found
        if at is not None
    ]


def main(folder: pathlib.Path, worlds: list[str]) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["env", "level", "detector", "strength", "auroc_matched", "low", "high"])
    for env in worlds or [env for env in WORLDS if env != NEEDS_A_ROBOT]:
        for level in LEVELS:
            table.writerows(rows(env, level, audited(f"{env}?noise={level}", folder / f"{env}-{level}")))
            sys.stdout.flush()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
