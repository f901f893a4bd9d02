#!/usr/bin/env python3
"""Policies of the pendulum whose output is linear, as in the example of Keras-RL, judged by the suite `ood-rl`.

    python3 studies/ood-rl/linear.py target/release/offnominal

They are trained as `train.py` trains the others, with the same seeds and probabilities and `output_activation=linear`.
What comes out is `studies/ood-rl/linear.csv`: a line for each policy and variant, with the AUROC of the deviation of
commands that the pendulum carries out (`mean-sd`), and of what the network says, which no bound cuts (`raw-sd`). Runs are
kept in `runs/ood-rl/linear` and not repeated. Needs pyarrow.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import pyarrow.parquet
import train

ENV, TRIALS = "pendulum", range(1, 6)
RUNS = pathlib.Path("runs/ood-rl/linear")
MEASURES = {"mean-sd": "auroc_commands", "raw-sd": "auroc_outputs"}


def policies():
    """The files of the policies, by method and trial."""
    train.RUNS = RUNS
    train.RECIPES[ENV] = [*train.RECIPES[ENV], "output_activation=linear"]
    chosen = [row for row in train.rows_of("probabilities.csv") if row["env"] == ENV and row["chosen"] == "True"]
    found = {}
    for trial in TRIALS:
        for row in chosen:
            found[row["method"], trial] = train.train(ENV, trial, (row["method"], row["probability"])) / "policy.safetensors"
        first, out = train.FIRST[ENV][trial - 1], RUNS / f"ensemble-{trial}"
        members = [train.train(ENV, seed) / "policy.safetensors" for seed in range(first, first + train.MEMBERS)]
        if not (out / "policy.safetensors").exists():
            train.offnominal("ensemble", "--env", ENV, *map(str, members), "--out", str(out))
        found["ensemble", trial] = out / "policy.safetensors"
    return found


def judged(found):
    """The suite's rows of these policies."""
    place, out = RUNS / "policies", RUNS / "results"
    place.mkdir(parents=True, exist_ok=True)
    for (method, trial), path in found.items():
        shutil.copy(path, place / f"{ENV}-{method}-{trial}.safetensors")
    words = ["bench", "--suite", "ood-rl", "--out", str(out), "--quiet", "--json"]
    subprocess.run([sys.argv[1], *words], check=True, stdout=subprocess.DEVNULL, env=os.environ | {"OFFNOMINAL_OOD_RL": str(place)})
    return pyarrow.parquet.read_table(out / "results.parquet").to_pylist()


def lines(rows):
    """A line for each policy and variant."""
    found = {}
    for row in sorted(rows, key=lambda row: row["detector"] != "mean-sd"):
        policy = row["method"], row["trial"]
        line = found.setdefault((*policy, row["anomaly"], row["magnitude"]), {"auroc_commands": "", "auroc_outputs": ""})
        if row["detector"] == "mean-sd" and row["metric"] == "return":
            line |= {"return": round(row["value"], 2), "fails": row["fails"], "null": row["null"]}
        if row["metric"] == "auroc_global" and row["detector"] in MEASURES:
            line[MEASURES[row["detector"]]] = round(row["value"], 4)
    head = ["method", "trial", "anomaly", "magnitude"]
    return [dict(zip(head, key)) | line for key, line in found.items()]


if __name__ == "__main__":
    train.write("linear.csv", lines(judged(policies())))
