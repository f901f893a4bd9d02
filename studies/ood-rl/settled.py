#!/usr/bin/env python3
"""Judges policies of the suite `ood-rl` at parts of their training: do less settled ones differ more from trial to trial?

    python3 studies/ood-rl/settled.py target/release/offnominal

Policies are trained as `train.py` does it, and are kept at quarters of their steps. Each quarter then has a run of the suite
of its own. What comes out is `studies/ood-rl/settled.csv`: one line for each policy, with its return at home and its mean
AUROC, by the published measure, over the variants in which it fails. Runs are kept in `runs/ood-rl/settled` and not repeated.
Needs pyarrow.
"""

import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import pyarrow.parquet
import train

RUNS = pathlib.Path("runs/ood-rl/settled")
QUARTERS = [1, 2, 4]
TRIALS = [1, 2, 3]
ENVIRONMENTS = ["cartpole", "pendulum"]
METHOD = "dropout"
MEASURE = "mean-sd"


def offnominal(*args, **environment):
    done = subprocess.run([sys.argv[1], *args], check=True, stdout=subprocess.PIPE, env=os.environ | environment)
    return done.stdout


def probability(env):
    """The probability that `train.py` chose."""
    chosen = {(row["env"], row["method"]): row["probability"] for row in train.rows_of("probabilities.csv") if row["chosen"] == "True"}
    return chosen[env, METHOD]


def policies(env, trial):
    """The policies of a run at quarters of its steps, the first one first."""
    folder = RUNS / f"{env}-{METHOD}-{trial}"
    if not (folder / "policy.json").exists():
        options = [*train.RECIPES[env], f"{METHOD}={probability(env)}"]
        how = [word for option in options for word in ("--set", option)]
        if (folder / "checkpoint.safetensors").exists():
            how = ["--resume"]
        else:
            how += ["--checkpoints", "4"]
        offnominal("train", "--env", env, *how, "--seed", str(trial), "--out", str(folder), "--quiet")
    return sorted((folder / "policies").iterdir())


def judged(quarter, trained):
    """The lines of the table for policies after so many quarters of their training."""
    place = RUNS / f"quarter-{quarter}"
    place.mkdir(parents=True, exist_ok=True)
    for (env, method, trial), found in trained.items():
        shutil.copy(found[quarter - 1], place / f"{env}-{method}-{trial}.safetensors")
    out = RUNS / f"results-{quarter}"
    offnominal("bench", "--suite", "ood-rl", "--out", str(out), "--quiet", "--json", OFFNOMINAL_OOD_RL=str(place))
    rows = pyarrow.parquet.read_table(out / "results.parquet").to_pylist()
    return [line(quarter, policy, [row for row in rows if of(row) == policy]) for policy in trained]


def of(row):
    return row["env"], row["method"], row["trial"]


def line(quarter, policy, rows):
    """One line of the table."""
    own = [row for row in rows if row["detector"] == MEASURE]
    home = next(row["value"] for row in own if row["anomaly"] == "none" and row["metric"] == "return")
    fails = [row["value"] for row in own if row["metric"] == "auroc_global" and row["fails"] and not row["null"]]
    mean = statistics.fmean(fails) if fails else ""
    return dict(zip(("env", "method", "trial"), policy)) | {
        "quarters": quarter,
        "return": home,
        "variants_failed": len(fails),
        "auroc": mean,
    }


def main():
    trained = {(env, METHOD, trial): policies(env, trial) for env in ENVIRONMENTS for trial in TRIALS}
    lines = [found for quarter in QUARTERS for found in judged(quarter, trained)]
    lines.sort(key=lambda line: ENVIRONMENTS.index(line["env"]))
    with open(train.HERE / "settled.csv", "w", newline="") as file:
        table = csv.DictWriter(file, lines[0], lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


if __name__ == "__main__":
    main()
