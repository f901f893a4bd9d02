#!/usr/bin/env python3
"""Trains the policies of `offnominal shift`, one after the other, and packs those that are finished.

    python3 studies/shift/train.py target/release/offnominal                  # what is shipped: 28 small policies
    python3 studies/shift/train.py target/release/offnominal --list           # what is done, and what is not
    python3 studies/shift/train.py target/release/offnominal --env hopper     # one environment
    python3 studies/shift/train.py target/release/offnominal --grid toplines  # policies that know the other bodies
    python3 studies/shift/train.py target/release/offnominal --grid paper --part 3/40   # the publication's, on a cluster

Runs are kept in `runs/shift-agents` (or `--runs`) and are not repeated; one that was interrupted goes on. With
`--grid paper` the settings are those of the publication's tables 1 and 2, with 50 seeds of TD3 and 10 seeds of SAC for
each of six α in each environment; parts of the list may run at the same time on machines that share the folder. Toplines are
trained on the bodies of `studies/shift/ENV/bodies.csv`, one of them in each episode.

`agents/shift` gets `policies.zip` and `agents.csv`, with what each policy does in 200 fresh episodes where it was trained,
and `toplines.zip` and `toplines.csv` with the same of the toplines. A policy that is packed already stays, so that the list
can be worked off on several days.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
AGENTS = HERE.parents[1] / "agents" / "shift"
ENVIRONMENTS = ["hopper", "half-cheetah-m", "walker", "ant"]
SHIPPED = [("td3", None, seed) for seed in (1, 2, 3)] + [("sac", alpha, seed) for alpha in ("0.05", "0.2") for seed in (1, 2)]
PAPER = [("td3", None, seed) for seed in range(1, 51)] + [
    ("sac", alpha, seed) for alpha in ("0.01", "0.033", "0.05", "0.1", "0.2", "0.33") for seed in range(1, 11)
]
TOPLINES = [("td3", None, seed) for seed in (1, 2)]
GRIDS = {"shipped": SHIPPED, "toplines": TOPLINES, "paper": PAPER}
# What is packed beside this file, and under which names.
PACKED = {
    "shipped": (AGENTS / "policies.zip", AGENTS / "agents.csv"),
    "toplines": (HERE / "toplines.zip", HERE / "toplines.csv"),
}
# Bodies that can fall need to look further ahead: with 0.98 the hopper learns to dive.
RECIPES = {"hopper": "gamma=0.99", "walker": "gamma=0.99", "ant": "gamma=0.99", "half-cheetah-m": "gamma=0.98"}
PRESETS = {"shipped": "pybullet-m-small", "toplines": "pybullet-m-small", "paper": "pybullet-m"}


class Run:
    """One policy to be trained."""

    def __init__(self, env, algorithm, alpha, seed, grid, runs):
        self.env, self.algorithm, self.alpha, self.seed, self.grid = env, algorithm, alpha, seed, grid
        self.name = "-".join([env, algorithm] + ([alpha] if alpha else []) + [str(seed)])
        self.folder = runs / (grid if grid == "toplines" else PRESETS[grid]) / self.name

    @property
    def done(self):
        return (self.folder / "policy.json").exists()

    @property
    def begun(self):
        return (self.folder / "checkpoint.safetensors").exists()

    def train(self, binary):
        how = ["--algorithm", self.algorithm, "--preset", PRESETS[self.grid], "--seed", str(self.seed)]
        how += ["--set", f"alpha={self.alpha}"] if self.alpha else []
        how += ["--set", RECIPES[self.env]] if self.grid != "paper" else []
        how += ["--parameter-table", f"studies/shift/{self.env}/bodies.csv"] if self.grid == "toplines" else []
        how = ["--resume"] if self.begun else how
        command = [binary, "train", "--env", self.env, *how, "--out", str(self.folder), "--jobs", "1", "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def row(self):
        card = json.loads((self.folder / "policy.json").read_text())
        found = card["mean_return"]
        numbers = {key: round(found[key], 1) for key in ("value", "low", "high")}
        return {"policy": self.name, **numbers, "steps": card["steps"], "seconds": round(card["seconds"]), "command": card["command"]}


def listed(args):
    names = GRIDS[args.grid]
    environments = [args.env] if args.env else ENVIRONMENTS
    # Seeds of an environment side by side, so that every environment soon has some.
    runs = [Run(env, *which, args.grid, args.runs) for which in names for env in environments]
    part, parts = map(int, args.part.split("/"))
    return runs[part - 1 :: parts]


def packed(grid):
    """Policies and rows that are packed already, by name."""
    archive, table = PACKED[grid]
    policies, rows = {}, {}
    if archive.exists():
        with zipfile.ZipFile(archive) as file:
            policies = {name: file.read(name) for name in file.namelist()}
    if table.exists():
        rows = {row["policy"]: row for row in csv.DictReader(table.open())}
    return policies, rows


def pack(grid, runs):
    policies, rows = packed(grid)
    archive, table = PACKED[grid]
    for run in runs:
        if run.done:
            policies[f"{run.name}.safetensors"] = (run.folder / "policy.safetensors").read_bytes()
            rows[run.name] = run.row()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in sorted(policies.items()):
            # A fixed date, so that the same policies are the same bytes.
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    with open(table, "w", newline="") as file:
        writer = csv.DictWriter(file, ["policy", "value", "low", "high", "steps", "seconds", "command"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for _, row in sorted(rows.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--grid", choices=PRESETS, default="shipped")
    parser.add_argument("--env", choices=ENVIRONMENTS)
    parser.add_argument("--part", default="1/1", help="which part of how many, such as 3/40")
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs/shift-agents"))
    parser.add_argument("--pack", action="store_true", help="pack what is finished, and train nothing")
    parser.add_argument("--list", action="store_true", help="say what is done, and end")
    args = parser.parse_args()
    runs, kept = listed(args), packed(args.grid)[0] if args.grid in PACKED else {}
    todo = [run for run in runs if not run.done and f"{run.name}.safetensors" not in kept]
    if args.list:
        for run in runs:
            print(run.name, "to do" if run in todo and not run.begun else "begun" if run in todo else "done")
        return
    for run in [] if args.pack else todo:
        run.train(args.binary)
        print(run.name, run.row()["value"], flush=True)
        if args.grid in PACKED:
            pack(args.grid, runs)
    if args.grid in PACKED:
        pack(args.grid, runs)


main()
