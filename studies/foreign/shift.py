"""Plays the shipped policies on the bodies of `studies/shift`, in PyBullet instead of ours.

    PLACE/pybullet/bin/python studies/foreign/shift.py hopper [BODIES]

It needs pyarrow beside the requirements of `pybullet`. The limbs of PyBullet's own body get the lengths and widths of the first
BODIES bodies of each spread in `studies/shift/ENV/bodies.csv`, the height under the foot stays, and the fall test is relative
to the height at the start, as in ours. Each policy plays one episode of 1,000 steps on each body, and five on the nominal one.
`shift/ENV.csv` gets the returns of both simulators, and the mean distance of the observations to the fifth nearest of
nominal ones, which is what `knn` scores after one episode. A table that exists is continued.
"""

import csv
import importlib.util
import os
import pathlib
import sys
import tempfile
import warnings
import xml.etree.ElementTree as xml
import zipfile

# A step is too small to be worth threads of its linear algebra.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

warnings.filterwarnings("ignore")
import gym  # noqa: E402
import pyarrow.parquet  # noqa: E402
import pybullet_data  # noqa: E402
import pybullet_envs  # noqa: E402, F401

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILES = {"hopper": ("hopper.xml", "HopperBulletEnv-v0"), "walker": ("walker2d.xml", "Walker2DBulletEnv-v0")}
COLUMNS = ["policy", "sigma", "body", "difference", "ours", "pybullet", "ours_knn", "pybullet_knn"]

# Where the foot begins, in parts of its length behind the ankle.
HEEL = {"hopper": 1 / 3, "walker": 0.0}
GROUND = 0.04  # metres between the ground and the foot as both body files have it
FALLEN = 0.64  # of the height at the start
NOMINAL = 4000  # observations that the scores compare with


def checks():
    """The other comparison with PyBullet, which reads the shipped policies too."""
    spec = importlib.util.spec_from_file_location("pybullet_check", ROOT / "studies" / "shift" / "pybullet_check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(*values):
    return " ".join(f"{value:.9g}" for value in values)


def shaped(env, size):
    """The body file of PyBullet with limbs of other sizes."""
    tree = xml.parse(pathlib.Path(pybullet_data.getDataPath()) / "mjcf" / FILES[env][0])
    named = {part.get("name"): part for part in tree.iter() if part.get("name")}
    for side, end in (("", ""), *([("left-", "_left")] if env == "walker" else [])):
        of = lambda limb, what, side=side: size[f"{side}{limb}-{what}"]
        ankle = GROUND + of("foot", "width")
        knee = ankle + of("leg", "length")
        hip = knee + of("thigh", "length")
        heel, toe = -HEEL[env] * of("foot", "length"), (1 - HEEL[env]) * of("foot", "length")
        lines = {"foot": (heel, 0, ankle, toe, 0, ankle), "leg": (0, 0, knee, 0, 0, ankle), "thigh": (0, 0, hip, 0, 0, knee)}
        for limb, line in lines.items():
            named[f"{limb}{end}_geom"].set("fromto", numbers(*line))
            named[f"{limb}{end}_geom"].set("size", numbers(of(limb, "width")))
        for limb, height in (("foot", ankle), ("leg", knee), ("thigh", hip)):
            named[f"{limb}{end}_joint"].set("pos", numbers(0, 0, height))
    torso = named["torso_geom"]
    torso.set("fromto", numbers(0, 0, hip + size["torso-length"], 0, 0, hip))
    torso.set("size", numbers(size["torso-width"]))
    return tree


def made(env, path):
    """PyBullet's environment with a body file, which falls relative to its height at the start."""
    world = gym.make(FILES[env][1]).unwrapped
    robot = world.robot
    robot.model_xml = str(path)
    robot.alive_bonus = lambda z, pitch: 1 if z > FALLEN * robot.initial_z and abs(pitch) < 1.0 else -1
    return world


def play(env, path, act, seed):
    """The return of an episode without its first progress, and its observations."""
    world = made(env, path)
    world.seed(seed)
    obs, total, seen = world.reset(), 0.0, []
    for step in range(1000):
        obs, reward, done, _ = world.step(act(np.asarray(obs, np.float32)))
        total += reward - (world.rewards[1] if step == 0 else 0.0)
        seen.append(obs)
        if done:
            break
    world.close()
    return total, np.array(seen)


class Nearest:
    """Distance to the fifth nearest of nominal observations, in units of their standard deviations."""

    def __init__(self, seen):
        self.spread = seen.std(axis=0)
        self.spread[self.spread < 1e-6] = np.inf
        every = max(1, len(seen) // NOMINAL)
        self.points = (seen / self.spread)[::every]

    def score(self, seen):
        seen = (seen / self.spread)[::5]
        squares = (seen**2).sum(1)[:, None] - 2 * seen @ self.points.T + (self.points**2).sum(1)
        return float(np.sqrt(np.maximum(np.partition(squares, 4, axis=1)[:, 4], 0)).mean())


def ours(env):
    """The numbers of our run: by policy, spread and body."""
    rows = pyarrow.parquet.read_table(ROOT / "studies" / "shift" / env / "results.parquet").to_pylist()
    wanted = ("median_return", "knn@1")
    return {(r["policy"], r["sigma"], r["body"], r["metric"]): r["value"] for r in rows if r["metric"] in wanted}


def bodies(env, most):
    """The nominal body, and the first ones of each spread, with their sizes."""
    with open(ROOT / "studies" / "shift" / env / "bodies.csv", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["body"]) < most:
                head = (float(row.pop("sigma")), int(row.pop("body")), float(row.pop("difference")))
                yield head, {name: float(value) for name, value in row.items()}


def sizes(env):
    """Lengths and widths of PyBullet's own body."""
    legs = {"foot-length": 0.39 if env == "hopper" else 0.2, "foot-width": 0.06, "leg-length": 0.5, "leg-width": 0.04}
    legs |= {"thigh-length": 0.45, "thigh-width": 0.05}
    left = {f"left-{name}": value for name, value in legs.items()} if env == "walker" else {}
    return legs | left | {"torso-length": 0.4, "torso-width": 0.05}


def policy_rows(env, name, act, most, folder, known):
    """The rows of a policy."""
    write = lambda size: shaped(env, size).write(folder / "body.xml") or folder / "body.xml"
    nominal = [play(env, write(sizes(env)), act, seed) for seed in range(1, 6)]
    nearest = Nearest(np.concatenate([seen for _, seen in nominal[:4]]))
    first = [0.0, 0, 0.0, np.median([total for total, _ in nominal]), nearest.score(nominal[4][1])]
    others = ([*head, *scored(play(env, write(size), act, 100 + head[1]), nearest)] for head, size in bodies(env, most))
    for sigma, body, difference, total, score in (first, *others):
        mine = [known[name, sigma, body, metric] for metric in ("median_return", "knn@1")]
        numbers = (difference, mine[0], total, mine[1], score)
        yield [name, sigma, body, *(f"{number:.5g}" for number in numbers)]


def scored(episode, nearest):
    total, seen = episode
    return total, nearest.score(seen)


def main():
    env, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    loader, known, path = checks(), ours(env), HERE / "shift" / f"{env}.csv"
    path.parent.mkdir(exist_ok=True)
    done = {row["policy"] for row in csv.DictReader(path.open())} if path.exists() else set()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(ROOT / "agents" / "shift" / "policies.zip") as archive:
        for file in archive.namelist():
            name = file.removesuffix(".safetensors")
            if not name.startswith(env + "-") or name in done:
                continue
            act = loader.policy(archive.read(file))[1]
            rows = list(policy_rows(env, name, act, most, pathlib.Path(folder), known))
            is_new = not path.exists()
            with open(path, "a", newline="") as table:
                csv.writer(table, lineterminator="\n").writerows([COLUMNS, *rows] if is_new else rows)


if __name__ == "__main__":
    main()
