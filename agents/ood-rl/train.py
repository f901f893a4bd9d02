#!/usr/bin/env python3
"""Trains every agent of the suite `ood-rl` and chooses the probabilities of dropout and DropConnect.

    python3 agents/ood-rl/train.py target/release/offnominal [ENVIRONMENT]

With an environment, only its policies are trained, and nothing is packed. Runs are kept in `runs/ood-rl` and are not repeated;
one that was interrupted goes on. Beside this file go `policies.zip`; `agents.csv`, with what each policy does in its own
environment; and `probabilities.csv`, from which the probability of each method was chosen: the one with the highest return of
a run with seed 201, which is used for nothing else; in pong they do not differ beyond chance, and all trials have 0.1.
A policy with a row in `agents.csv` is kept; without the row, or without the file, it is trained again.
"""

import csv
import json
import pathlib
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
RUNS = pathlib.Path("runs/ood-rl")
MEMBERS = 5
POLICIES = {}
TUNING = 201
# Values near one: their constant part then fits into the bias of the output, which nothing drops.
RECIPES = {
    "pendulum": ["hidden=[64,64]"],
    "cartpole": ["hidden=[64,64]", "steps=100000", "schedule=linear", "reward_scale=0.02"],
    # The preset of the environment.
    "pong": [],
}
PROBABILITIES = ["0.05", "0.1", "0.2"]
# In pong the three do not differ beyond the intervals of forty games; all trials have this.
GIVEN = {"pong": "0.1"}
# Members of cartpole's ensembles balance alone; the means of those with seeds 11 to 15 and 21 to 25 do not.
FIRST = {"pendulum": [1, 6, 11, 16, 21], "cartpole": [1, 6, 16, 26, 31], "pong": [1, 6, 11]}
# Episodes in which a policy without a card is counted, as many as a card has: those of pong are long.
EPISODES = {"pong": "40"}
# Weight of the members' priors, and trials of such ensembles; a network of pong has none.
PRIORS = {"pendulum": ("3", 2), "cartpole": ("3", 2)}


def rows_of(name):
    path = HERE / name
    return list(csv.DictReader(open(path, newline=""))) if path.exists() else []


KEPT = {row["policy"]: row for row in rows_of("agents.csv")}


def offnominal(*args):
    done = subprocess.run([sys.argv[1], *args, "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def train(env, seed, more=None):
    """The folder of a run; `more` is a pair of an option and its value, such as a probability of dropout."""
    folder = RUNS / f"{env}-{'-'.join(more) if more else 'plain'}-{seed}"
    if not (folder / "policy.json").exists():
        options = RECIPES[env] + (["=".join(more)] if more else [])
        how = [word for option in options for word in ("--set", option)]
        if (folder / "checkpoint.safetensors").exists():
            how = ["--resume"]
        offnominal("train", "--env", env, *how, "--seed", str(seed), "--out", str(folder), "--quiet")
        print(folder, flush=True)
    return folder


def mean_return(folder):
    return json.loads((folder / "policy.json").read_text())["mean_return"]


def choose(env, method):
    """Rows of the table of probabilities, and the chosen one."""
    rows = [
        {"env": env, "method": method, "probability": p, "seed": TUNING, "return": mean_return(train(env, TUNING, (method, p)))["value"]}
        for p in PROBABILITIES
    ]
    chosen = GIVEN.get(env) or max(rows, key=lambda row: row["return"])["probability"]
    return [row | {"chosen": row["probability"] == chosen} for row in rows], chosen


def kept(name):
    """The row of a policy that is there already, if it is."""
    row = KEPT.get(name)
    if row:
        with zipfile.ZipFile(HERE / "policies.zip") as archive:
            POLICIES[f"{name}.safetensors"] = archive.read(f"{name}.safetensors")
    return row


def evaluated(folder, name, env, seeds, command):
    """The row of a policy, which is shipped under that name: its return in fresh episodes, as its card has it."""
    path = folder / "policy.safetensors"
    POLICIES[f"{name}.safetensors"] = path.read_bytes()
    if (folder / "policy.json").exists():
        found = mean_return(folder)
    else:
        args = ("--policy", str(path), "--episodes", EPISODES.get(env, "200"), "--seed", "77", "--quiet")
        found = offnominal("evaluate", "--env", env, *args)["return"]
    row = {"policy": name, "seeds": " ".join(map(str, seeds))}
    return row | {"return": found["value"], "low": found["low"], "high": found["high"], "command": command}


def command(folder):
    return json.loads((folder / "policy.json").read_text())["command"]


def dropping(env, method, probability, trial):
    name = f"{env}-{method}-{trial}"
    folder = None if kept(name) else train(env, trial, (method, probability))
    return kept(name) or evaluated(folder, name, env, [trial], command(folder))


def plain(env, trial):
    """A single network, the first member of the trial's ensemble, for comparison."""
    name, seed = f"{env}-plain-{trial}", FIRST[env][trial - 1]
    folder = None if kept(name) else train(env, seed)
    return kept(name) or evaluated(folder, name, env, [seed], command(folder))


def ensemble(env, trial, prior=None):
    """Members that were trained apart; with a prior, its weight."""
    name, first = f"{env}-{'prior' if prior else 'ensemble'}-{trial}", FIRST[env][trial - 1]
    if kept(name):
        return kept(name)
    seeds = range(first, first + MEMBERS)
    folders = [train(env, seed, ("prior", prior) if prior else None) for seed in seeds]
    out = RUNS / name
    offnominal("ensemble", "--env", env, *[str(f / "policy.safetensors") for f in folders], "--out", str(out))
    return evaluated(out, name, env, seeds, command(folders[0]))


def pack():
    with zipfile.ZipFile(HERE / "policies.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(POLICIES.items()):
            # A fixed date, so that the same policies are the same bytes.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def write(name, rows):
    with open(HERE / name, "w", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def policies(env):
    """The rows of an environment's policies and of its probabilities."""
    chosen, probabilities = {}, []
    for method in ("dropout", "dropconnect"):
        rows, chosen[method] = choose(env, method)
        probabilities += rows
    agents = []
    for trial in range(1, len(FIRST[env]) + 1):
        agents += [dropping(env, method, p, trial) for method, p in chosen.items()]
        agents += [ensemble(env, trial), plain(env, trial)]
    prior, trials = PRIORS.get(env, ("0", 0))
    agents += [ensemble(env, trial, prior) for trial in range(1, trials + 1)]
    return agents, probabilities


def main():
    if len(sys.argv) > 2:
        policies(sys.argv[2])
        return
    found = [policies(env) for env in RECIPES]
    write("agents.csv", [row for agents, _ in found for row in agents])
    write("probabilities.csv", [row for _, probabilities in found for row in probabilities])
    pack()


main()
