#!/usr/bin/env python3
"""Trains every agent of the suite `ood-rl` and chooses the probabilities of dropout and DropConnect.

    python3 studies/ood-rl/train.py target/release/offnominal [ENVIRONMENT]

With an environment, only its policies are trained, and nothing is packed; those of `ale-pong` need ale-py and OpenCV. Runs are
kept in `runs/ood-rl` and are not repeated; one that was interrupted goes on. `agents/ood-rl` gets `policies.zip`; beside this file go `agents.csv`, with what each policy does in its own
environment; and `probabilities.csv`, from which the probability of each method was chosen: the one with the highest return of
a run with seed 201, which is used for nothing else; in pong they do not differ beyond chance, and all trials have 0.1.
A policy with a row in `agents.csv` is kept; without the row, or without the file, it is trained again.

The weights of policies that see are packed with the eleven significant bits of half precision, which takes a third off the
archive, and their returns are counted with these. The suite reads only the archive whose SHA-256 stands in
`crates/offnominal-bench/src/ood_rl/agents.rs`. Plain policies are not packed: they are the first members of ensembles.
"""

import array
import csv
import hashlib
import json
import pathlib
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
POLICIES = HERE.parents[1] / "agents" / "ood-rl" / "policies.zip"
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
# The game of the Arcade Learning Environment: its id, and how a policy learns there; one policy, as it takes ten times as long.
ALE = "gymnasium:offnominal.atari:pong?horizon=3000"
ALE_RECIPE = ["--preset", "pong", "--demonstrator", f"interception:intercept?modules={HERE}", "--eval-every", "20000"]
ALE_RECIPE += ["--set", "dropout=0.1", "--set", "demonstrations=10000"]
# The run went on after its first steps, over which the learning rate had fallen to nothing: it falls from 0.6 of its start again.
ALE_STEPS = [60000, 150000]
PROBABILITIES = ["0.05", "0.1", "0.2"]
# In pong the three do not differ beyond the intervals of forty games; all trials have this.
GIVEN = {"pong": "0.1"}
# Members of cartpole's ensembles balance alone; the means of those with seeds 11 to 15 and 21 to 25 do not.
FIRST = {"pendulum": [1, 6, 11, 16, 21], "cartpole": [1, 6, 16, 26, 31], "pong": [1, 6, 11, 16, 21]}
# Episodes in which a policy without a card is counted, as many as a card has: those of pong are long.
EPISODES = {"pong": "40", ALE: "40"}
# Policies that learn from corrupted images too, up to a severity of two, and trials of them.
AUGMENT = {"pong": ["img-gaussian-noise", "img-impulse-noise", "img-motion-blur", "img-pixelate"]}
SEVERITY = 2.0
AUGMENTED = {"pong": {"dropout": 3}}
# Bits of a weight that are not packed, of the 23 after the point.
DROPPED_BITS = {"pong": 13, ALE: 13}
# Weight of the members' priors, and trials of such ensembles; a network of pong has none.
PRIORS = {"pendulum": ("3", 2), "cartpole": ("3", 2)}


def rows_of(name):
    path = HERE / name
    return list(csv.DictReader(open(path, newline=""))) if path.exists() else []


KEPT = {row["policy"]: row for row in rows_of("agents.csv")}


def offnominal(*args):
    done = subprocess.run([sys.argv[1], *args, "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def augment(env):
    """The option with which a policy learns from corrupted observations too."""
    most = dict.fromkeys(AUGMENT[env], SEVERITY)
    return "augment=" + json.dumps(most, separators=(",", ":"))


def train(env, seed, more=None, augmented=False):
    """The folder of a run; `more` is a pair of an option and its value, such as a probability of dropout."""
    folder = RUNS / f"{env}-{'augmented-' if augmented else ''}{'-'.join(more) if more else 'plain'}-{seed}"
    if not (folder / "policy.json").exists():
        options = RECIPES[env] + (["=".join(more)] if more else []) + ([augment(env)] if augmented else [])
        how = [word for option in options for word in ("--set", option)]
        if (folder / "checkpoint.safetensors").exists():
            how = ["--resume"]
        offnominal("train", "--env", env, *how, "--seed", str(seed), "--out", str(folder), "--quiet")
        print(folder, flush=True)
    return folder


def mean_return(folder):
    return json.loads((folder / "policy.json").read_text())["mean_return"]


def choose(env, method):
    """Rows of the table of probabilities, and the chosen one; what stands there is kept."""
    if found := [row for row in rows_of("probabilities.csv") if (row["env"], row["method"]) == (env, method)]:
        return found, next(row["probability"] for row in found if row["chosen"] == "True")
    rows = [
        {"env": env, "method": method, "probability": p, "seed": TUNING, "return": mean_return(train(env, TUNING, (method, p)))["value"]}
        for p in PROBABILITIES
    ]
    chosen = GIVEN.get(env) or max(rows, key=lambda row: row["return"])["probability"]
    return [row | {"chosen": row["probability"] == chosen} for row in rows], chosen


def kept(name):
    """The row of a policy that is there already, if it is."""
    row = KEPT.get(name)
    if row and "-plain-" not in name:
        with zipfile.ZipFile(POLICIES) as archive:
            POLICIES[f"{name}.safetensors"] = archive.read(f"{name}.safetensors")
    return row


def digest(texts, header, data):
    """What the header of a policy file says of its texts and tensors (`tensors/seal.rs`)."""
    total = hashlib.sha256()

    def add(part):
        total.update(len(part).to_bytes(8, "little") + part)

    add(json.dumps(texts, separators=(",", ":"), ensure_ascii=False).encode())
    for name, tensor in sorted(header.items()):
        begin, end = tensor["data_offsets"]
        add(name.encode())
        add(f"{tensor['dtype']} {tensor['shape']}".encode())
        add(data[begin:end])
    return total.hexdigest().encode()


def rounded(content, bits):
    """A file of safetensors whose numbers end with so many zeros; of halves, to the even one."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    sealed = json.loads(header.pop("__metadata__")["offnominal-2"])
    numbers = array.array("I", content[start:])
    up = (1 << (bits - 1)) - 1
    data = array.array("I", [(x + up + (x >> bits & 1)) >> bits << bits for x in numbers]).tobytes()
    return content[:start].replace(sealed["digest"].encode(), digest(sealed["texts"], header, data)) + data


def counted(path, env):
    """The return of a policy in fresh episodes that are those of no card; it is kept beside the policy."""
    found = path.with_suffix(".return.json")
    if not found.exists():
        args = ("--policy", str(path), "--episodes", EPISODES.get(env, "200"), "--seed", "77", "--quiet")
        found.write_text(json.dumps(offnominal("evaluate", "--env", env, *args)["return"]))
    return json.loads(found.read_text())


def evaluated(folder, name, env, seeds, command):
    """The row of a policy, which is shipped under that name unless it is a plain one: its return in fresh episodes."""
    path, packed = folder / "policy.safetensors", "-plain-" not in name
    if packed and env in DROPPED_BITS:
        path = folder / "packed.safetensors"
        path.write_bytes(rounded((folder / "policy.safetensors").read_bytes(), DROPPED_BITS[env]))
    if packed:
        POLICIES[f"{name}.safetensors"] = path.read_bytes()
    has_card = path.name == "policy.safetensors" and (folder / "policy.json").exists()
    found = mean_return(folder) if has_card else counted(path, env)
    row = {"policy": name, "seeds": " ".join(map(str, seeds))}
    return row | {"return": found["value"], "low": found["low"], "high": found["high"], "command": command}


def command(folder):
    return json.loads((folder / "policy.json").read_text())["command"]


def dropping(env, method, probability, trial, augmented=False):
    name = f"{env}-{'augmented-' if augmented else ''}{method}-{trial}"
    if row := kept(name):
        return row
    folder = train(env, trial, (method, probability), augmented)
    return evaluated(folder, name, env, [trial], command(folder))


def plain(env, trial):
    """A single network, the first member of the trial's ensemble, for comparison."""
    name, seed = f"{env}-plain-{trial}", FIRST[env][trial - 1]
    if row := kept(name):
        return row
    folder = train(env, seed)
    return evaluated(folder, name, env, [seed], command(folder))


def ensemble(env, trial, prior=None, augmented=False):
    """Members that were trained apart; with a prior, its weight."""
    kind = "augmented-ensemble" if augmented else "prior" if prior else "ensemble"
    name, first = f"{env}-{kind}-{trial}", FIRST[env][trial - 1]
    if row := kept(name):
        return row
    seeds = range(first, first + MEMBERS)
    folders = [train(env, seed, ("prior", prior) if prior else None, augmented) for seed in seeds]
    out = RUNS / name
    offnominal("ensemble", "--env", env, *[str(f / "policy.safetensors") for f in folders], "--out", str(out))
    return evaluated(out, name, env, seeds, command(folders[0]))


def pack():
    with zipfile.ZipFile(POLICIES, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(POLICIES.items()):
            # A fixed date, so that the same policies are the same bytes.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)


def write(name, rows):
    with open(HERE / name, "w", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def ale():
    """The row of the policy of the Arcade Learning Environment."""
    name, folder = "ale-pong-dropout-1", RUNS / "ale-pong-dropout-1"
    if row := kept(name):
        return row
    card = folder / "policy.json"
    for steps in ALE_STEPS:
        if card.exists() and json.loads(card.read_text())["steps"] >= steps:
            continue
        how = ["--resume"] if (folder / "checkpoint.safetensors").exists() else [*ALE_RECIPE, "--seed", "1"]
        offnominal("train", "--env", ALE, *how, "--steps", str(steps), "--out", str(folder), "--quiet")
    first, whole = ALE_STEPS
    run = command(folder).replace(f"--steps {whole}", f"--steps {first}") + f", then the same run with --resume --steps {whole}"
    return evaluated(folder, name, ALE, [1], run)


def policies(env):
    """The rows of an environment's policies and of its probabilities."""
    if env == "ale-pong":
        return [ale()], []
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
    for method, trials in AUGMENTED.get(env, {}).items():
        for trial in range(1, trials + 1):
            p = chosen.get(method)
            agents.append(dropping(env, method, p, trial, True) if p else ensemble(env, trial, None, True))
    return agents, probabilities


def main():
    if len(sys.argv) > 2:
        policies(sys.argv[2])
        return
    found = [policies(env) for env in [*RECIPES, "ale-pong"]]
    write("agents.csv", [row for agents, _ in found for row in agents])
    write("probabilities.csv", [row for _, probabilities in found for row in probabilities])
    pack()


if __name__ == "__main__":
    main()
