"""Plays the agents of RL Baselines3 Zoo, and compares their returns with the zoo's own table.

    python3 results/foreign/zoo.py AGENTS BENCHMARK OFFNOMINAL [--episodes 20] [--seed 1] [--only TEXT] [--seconds 60] [--keep]

AGENTS is a copy of `DLR-RM/rl-trained-agents`, BENCHMARK the file `benchmark.md` of `DLR-RM/rl-baselines3-zoo`. Python
needs Gymnasium with its classic control, Box2D and MuJoCo, and `pybullet_envs_gymnasium`. `zoo.csv` has a row for each
agent whose environment can be had: loaded or why not, the mean return with its interval, the zoo's mean and deviation,
whether ours is within one deviation of the zoo's mean (or 1 % of it), and, stricter, whether the intervals of 95 % of
both means overlap.
With `--keep`, rows of agents that loaded before in the same environment stay as they are.
Environments have other numbers in Gymnasium now; `as_now` has them, and the column `played` says which was played.
"""

import argparse
import csv
import json
import math
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PLAIN = ["Acrobot-v1", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1",
         "BipedalWalker-v3", "BipedalWalkerHardcore-v3"]
MUJOCO = ["Ant-v3", "HalfCheetah-v3", "Hopper-v3", "Humanoid-v3", "Swimmer-v3", "Walker2d-v3"]
BULLET = ["AntBulletEnv-v0", "HalfCheetahBulletEnv-v0", "HopperBulletEnv-v0", "ReacherBulletEnv-v0",
          "Walker2DBulletEnv-v0"]
COLUMNS = ["algorithm", "env", "played", "loaded", "observations", "return", "low", "high", "episodes",
           "zoo_return", "zoo_deviation", "zoo_episodes", "within", "overlaps", "why"]


def as_now(env, has_time):
    """The environment by today's number."""
    module = f"gymnasium:zoo_envs:make?modules={HERE / 'modules'}&id="
    time = "&time=true" if has_time else ""
    if env in BULLET:
        return module + env + "&package=pybullet_envs_gymnasium" + time
    id = env
    if env.startswith("LunarLander"):
        id = "LunarLander-v3" if env == "LunarLander-v2" else "LunarLanderContinuous-v3"
    elif env in MUJOCO:
        # Contact forces were zeros in MuJoCo of that time, in observations and reward of the ant.
        id, time = env.replace("-v3", "-v4"), ("&zeros=84" if env == "Ant-v3" else "") + time
    elif env not in PLAIN:
        return None
    return module + id + time if time else f"gymnasium:{id}"


def published(path):
    """Mean, deviation and episodes of each agent."""
    rows = re.findall(r"^\|(\w+) *\|(\S+) *\| *(-?[\d.]+)\| *([\d.]+)\|[^|]*\|[^|]*\| *(\d+)\|", path.read_text(), re.M)
    return {(algo, env): (float(mean), float(sd), int(n)) for algo, env, mean, sd, n in rows}


def played(program, env, model, options):
    command = [program, "evaluate", "--env", env, "--policy", model, "--json", "--quiet", "--jobs", "1"]
    command += ["--episodes", str(options.episodes), "--seed", str(options.seed)]
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return None, f"stopped after {options.seconds} s"
    return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr.strip().splitlines()[-1])


def kept():
    """The rows of agents that loaded, by agent and environment."""
    with open(HERE / "zoo.csv", newline="") as file:
        rows = [r | {what: r[what] == "True" for what in ("loaded", "within", "overlaps")} for r in csv.DictReader(file)]
    return {(r["algorithm"], r["env"], r["played"]): r for r in rows if r["loaded"]}


def row(options, model, table, before):
    algorithm, env = model.parts[-3], model.stem
    config = model.with_suffix("") / "config.yml"
    has_time = config.is_file() and "TimeFeatureWrapper" in config.read_text()
    now = as_now(env, has_time)
    if not now or (algorithm, env) not in table:
        return None
    shown = re.sub(r"modules=[^&]*&", "", now)
    if (algorithm, env, shown) in before:
        return before[algorithm, env, shown]
    mean, deviation, episodes = table[algorithm, env]
    found, why = played(options.program, now, model, options)
    given = {
        "algorithm": algorithm, "env": env, "played": shown, "zoo_return": mean,
        "zoo_deviation": deviation, "zoo_episodes": episodes, "loaded": found is not None,
        "why": why.replace(f"{options.agents}/", ""),
    }
    if not found:
        return given
    estimate = found["return"]
    half = 1.96 * deviation / math.sqrt(episodes)
    near = abs(estimate["value"] - mean) <= 0.01 * abs(mean)
    overlaps = near or (estimate["low"] <= mean + half and estimate["high"] >= mean - half)
    return given | {"observations": next(iter(found["played"].values()))["observations"], "return": round(estimate["value"], 2),
                    "low": round(estimate["low"], 2), "high": round(estimate["high"], 2),
                    "episodes": options.episodes, "overlaps": overlaps,
                    "within": near or abs(estimate["value"] - mean) <= deviation}


def main():
    parser = argparse.ArgumentParser()
    for name in ("agents", "benchmark", "program"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    table, rows, before = published(options.benchmark), [], kept() if options.keep else {}
    for model in sorted(options.agents.glob("*/*/*.zip")):
        if model.stem == "best_model" or options.only not in str(model):
            continue
        found = row(options, model, table, before)
        if found:
            rows.append(found)
            print(found["algorithm"], found["env"], found.get("return"), found["zoo_return"], found.get("within"), found["why"], flush=True)
        with open(HERE / "zoo.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    loaded = [r for r in rows if r["loaded"]]
    within, overlap = (sum(r[what] for r in loaded) for what in ("within", "overlaps"))
    print(f"{len(loaded)} of {len(rows)} loaded, {within} within a deviation, {overlap} overlap")


main()
