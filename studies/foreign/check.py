"""Plays the pairs of one family in a plain loop of Gymnasium: what works before anything of ours has a part in it.

    PLACE/FAMILY/bin/python studies/foreign/check.py PLACE FAMILY [--begin]

Every pair plays three seeds and the first one again, in an environment that has played the others, and in a new one. A row of
`plain/FAMILY.csv` has the steps and the mean return, the share of episodes that succeeded (by `info`, at any step), that were
terminated and that crashed, whether both repetitions gave the same observations, and milliseconds per step. With `--begin`
an episode begins in each environment and nothing is written. A table that exists is continued.
"""

import csv
import json
import pathlib
import sys
import time
import warnings
from urllib.parse import parse_qsl

import gymnasium
import numpy as np
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = (1, 2, 3)
COLUMNS = ["pair", "steps", "mean_return", "succeeded", "terminated", "crashed", "repeats", "repeats_anew", "ms_per_step"]

# Steps of an environment that has no limit and whose pair names none.
HORIZON = 1000


def value(text):
    """An option of an id: JSON where it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def made(env):
    """The environment of an id without a limit of its own, and its horizon."""
    name, _, query = env.removeprefix("gymnasium:").partition("?")
    options = {key: value(text) for key, text in parse_qsl(query)}
    horizon = options.pop("horizon", None)
    made = gymnasium.make(name, max_episode_steps=-1, disable_env_checker=True, **options)
    return made, horizon or gymnasium.spec(name.rpartition(":")[2]).max_episode_steps or HORIZON


def policy(name):
    """What stands at `module:function`; a policy in a file is read by others."""
    module, _, name = name.partition(":")
    return getattr(__import__(module), name) if name else None


def flat(observation):
    """An observation as one row."""
    if isinstance(observation, dict):
        return np.concatenate([np.ravel(observation[key]) for key in sorted(observation)])
    return np.ravel(observation)


def play(env, act, seed, horizon):
    """One episode: the observations, the return, and how it ended."""
    observation, _ = env.reset(seed=seed)
    getattr(act, "reset", lambda: None)()
    rows, total, success, crashed, terminated = [flat(observation)], 0.0, False, False, False
    for _ in range(horizon):
        observation, reward, terminated, truncated, info = env.step(act(observation))
        rows.append(flat(observation))
        total += reward
        success |= bool(info.get("is_success", info.get("success", False)))
        crashed |= bool(info.get("crashed", False))
        if terminated or truncated:
            break
    return np.array(rows), total, success, terminated, crashed


def judged(pair):
    """One row of the table."""
    env, horizon = made(pair["env"])
    act = policy(pair["policy"])
    begun = time.perf_counter()
    first, *others = [play(env, act, seed, horizon) for seed in SEEDS]
    secs = time.perf_counter() - begun
    again, anew = play(env, act, SEEDS[0], horizon), play(made(pair["env"])[0], act, SEEDS[0], horizon)
    episodes = [first, *others]
    steps = [len(rows) - 1 for rows, *_ in episodes]
    shares = [np.mean([bool(episode[i]) for episode in episodes]) for i in (2, 3, 4)]
    same = ["yes" if np.array_equal(first[0], other[0]) else "no" for other in (again, anew)]
    numbers = [np.mean([episode[1] for episode in episodes]), *shares]
    return [
        pair["name"],
        " ".join(map(str, steps)),
        *(f"{number:.3g}" if i else f"{number:.1f}" for i, number in enumerate(numbers)),
        *same,
        f"{1000 * secs / sum(steps):.2f}",
    ]


def known(path):
    """The rows that are there already."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row[0]: row for row in list(csv.reader(file))[1:]}


def row(pair):
    """The row of a pair, or what it raised."""
    try:
        return judged(pair)
    except Exception as error:  # Whatever somebody's environment raises is a result.
        return [pair["name"], f"{type(error).__name__}: {error}"]


def write(pairs, family):
    """The table, which is continued."""
    path = HERE / "plain" / f"{family}.csv"
    path.parent.mkdir(exist_ok=True)
    rows = known(path)
    for pair in pairs:
        rows.setdefault(pair["name"], None)
        rows[pair["name"]] = rows[pair["name"]] or row(pair)
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *(found for found in rows.values() if found)])


def main():
    warnings.filterwarnings("ignore")
    family = sys.argv[2]
    pairs = tomllib.loads((HERE / "pairs.toml").read_text())["pair"]
    own = [pair for pair in pairs if pair["family"] == family]
    if "--begin" in sys.argv:
        for pair in own:
            made(pair["env"])[0].reset(seed=1)
    else:
        write([pair for pair in own if ":" in pair["policy"]], family)


if __name__ == "__main__":
    main()
