"""Episodes of an environment of ours in the layout in which Anomaly-Gym publishes its own: a folder with the splits ``train``,
``val``, ``test`` and ``ANOMALY_STRENGTH``, each a data set that Minari has written. There are no videos.

    pip install offnominal minari h5py
    python make.py FOLDER [--episodes 100]
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer

import offnominal

ENV, WORLD = "offnominal/CartpoleSwingup-v0", "mjc-cartpole-swingup"
#: Seeds of a split begin there, as in the published collection.
SEED = 10_000
NOMINAL = {"train": (1000, 1.0), "val": (2000, 0.1), "test": (3000, 1.0)}
ANOMALOUS = 4000
ANOMALIES = {
    "obs_noise": "obs-noise",
    "obs_offset": "obs-offset",
    "action_noise": "act-noise",
    "action_offset": "act-offset",
    "robot_mass": "dyn-mass",
    "robot_force": "dyn-force",
}
STRENGTHS = ("tiny", "strong")


def play(env: gymnasium.Env[Any, Any], policy: offnominal.Policy, seed: int) -> EpisodeBuffer:
    """An episode as Minari's recorder holds it: one observation and one label more than actions, for the reset."""
    obs, _ = env.reset(seed=seed)
    policy.reset()
    observations, labels = [obs], [False]
    steps: list[tuple[Any, float, bool, bool]] = []
    while not steps or not any(steps[-1][2:]):
        action = policy(obs)
        obs, reward, terminated, truncated, info = env.step(action)
        observations.append(obs)
        labels.append(bool(info["label"]))
        steps.append((action, float(reward), terminated, truncated))
    actions, rewards, terminations, truncations = map(list, zip(*steps, strict=True))
    return EpisodeBuffer(
        observations=np.stack(observations),
        actions=np.stack(actions),
        rewards=rewards,
        terminations=terminations,
        truncations=truncations,
        infos={"is_anomaly": np.array(labels)},
    )


def record(target: Path, policy: offnominal.Policy, episodes: int, seed: int, **anomaly: Any) -> None:
    """Plays episodes and puts their data set where a split has it."""
    env = gymnasium.make(ENV, **anomaly)
    buffers = [play(env, policy, seed + i) for i in range(episodes)]
    with tempfile.TemporaryDirectory() as aside:
        os.environ["MINARI_DATASETS_PATH"] = aside
        minari.create_dataset_from_buffers("layout/split-v0", buffers, env=env)
        target.mkdir(parents=True)
        shutil.move(Path(aside) / "layout/split-v0/data", target / "data")
    env.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--episodes", type=int, default=100)
    args = parser.parse_args()
    policy = offnominal.Policy(WORLD, "tqc")
    for split, (seed, share) in NOMINAL.items():
        record(args.folder / split, policy, round(share * args.episodes), SEED + seed)
    for name, anomaly in ANOMALIES.items():
        for strength in STRENGTHS:
            what = {"anomaly": anomaly, "strength": strength, "onset": "random"}
            record(args.folder / f"{name}_{strength}", policy, args.episodes, SEED + ANOMALOUS, **what)


if __name__ == "__main__":
    main()
