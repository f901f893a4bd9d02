"""How the policies of the vector benchmark bear nominal noise: `python studies/noise_policies.py > studies/noise_policies.csv`.

Evaluates TQC in each environment at each level, 100 episodes with seed 3. `offnominal` must be on the path, or its path
in the variable `OFFNOMINAL`.
"""

import csv
import json
import os
import subprocess
import sys
from typing import Any

WORLDS = (
    "mjc-cartpole-swingup",
    "mjc-half-cheetah",
    "mjc-reacher3d",
    "sap-goal0",
    "sap-goal1",
    "sap-goal2",
    "urm-pnp",
    "urm-reach",
    "urr-reach",
    "car-lanekeep",
)
LEVELS = ("none", "datasheet", "rough")
EPISODES = 100


def evaluated(env: str) -> dict[str, Any]:
    program = os.environ.get("OFFNOMINAL", "offnominal")
    words = ["evaluate", "--env", env, "--policy", "tqc", "--episodes", str(EPISODES), "--seed", "3", "--json"]
    report: dict[str, Any] = json.loads(subprocess.run([program, *words], check=True, capture_output=True).stdout)
    return report


def main(worlds: list[str]) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    numbers = [f"{name}{end}" for name in ("return", "success") for end in ("", "_low", "_high")]
    table.writerow(["env", "level", "episodes", *numbers])
    for env in worlds or WORLDS:
        for level in LEVELS:
            found = evaluated(f"{env}?noise={level}")
            cells = [x and x[key] for x in (found["return"], found["success"]) for key in ("value", "low", "high")]
            table.writerow([env, level, EPISODES, *(f"{x:.4f}" if x is not None else "" for x in cells)])
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
