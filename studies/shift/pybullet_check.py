#!/usr/bin/env python3
"""Plays the shipped policies on the bodies of PyBullet, and sets their returns beside those on ours.

    pip install pybullet==3.2.7 gym==0.23.1 'numpy<2'
    python3 studies/shift/pybullet_check.py 10 studies/shift/pybullet.csv

The arguments are the number of episodes and the table to write. A policy meets a simulator that it has never seen; what it loses is the
difference between the two, contact and joint damping above all. PyBullet's first progress of an episode is left out:
it is measured from where the last one ended.
"""

import csv
import json
import pathlib
import struct
import sys
import warnings
import zipfile

import numpy as np

warnings.filterwarnings("ignore")
import gym  # noqa: E402
import pybullet_envs  # noqa: E402, F401

AGENTS = pathlib.Path(__file__).resolve().parents[2] / "agents" / "shift"
BULLET = {"hopper": "Hopper", "walker": "Walker2D", "ant": "Ant", "half-cheetah-m": "HalfCheetah"}


def tensors(content):
    (size,) = struct.unpack("<Q", content[:8])
    head, body = json.loads(content[8 : 8 + size]), content[8 + size :]
    read = lambda entry: np.frombuffer(body[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
    return head.pop("__metadata__"), {name: read(entry) for name, entry in head.items()}


def policy(content):
    head, file = tensors(content)
    layers = [(file[f"actor.{i}.weight"], file[f"actor.{i}.bias"]) for i in range(sum(n.endswith("bias") for n in file))]
    width = len(file["action.low"])

    def act(obs):
        for i, (weight, bias) in enumerate(layers):
            obs = obs @ weight + bias
            obs = np.maximum(obs, 0) if i + 1 < len(layers) else obs
        return np.tanh(obs[:width])

    return json.loads(head["offnominal"])["env"], act


def play(env, act, episodes):
    returns, lengths = [], []
    for _ in range(episodes):
        obs, total, done, steps = env.reset(), 0.0, False, 0
        while not done:
            obs, reward, done, _ = env.step(act(np.asarray(obs, np.float32)))
            total += reward - (env.unwrapped.rewards[1] if steps == 0 else 0.0)
            steps += 1
        returns.append(total)
        lengths.append(steps)
    return returns, lengths


def main():
    ours = {row["policy"]: row for row in csv.DictReader((AGENTS / "agents.csv").open())}
    rows = [["policy", "ours", "pybullet_median", "pybullet_mean", "pybullet_steps", "episodes"]]
    with zipfile.ZipFile(AGENTS / "policies.zip") as archive:
        for name in archive.namelist():
            environment, act = policy(archive.read(name))
            env = gym.make(f"{BULLET[environment]}BulletEnv-v0")
            env.seed(1)
            returns, lengths = play(env, act, int(sys.argv[1]))
            stem = name.removesuffix(".safetensors")
            row = [stem, ours[stem]["value"], round(np.median(returns), 1), round(np.mean(returns), 1)]
            rows.append(row + [round(np.mean(lengths)), len(returns)])
    with open(sys.argv[2], "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
