"""An environment of your own: something goes wrong in it, and a detector is asked whether it notices."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import offnominal
from offnominal import Anomalous, detectors

Row = NDArray[np.float32]


rng = np.random.default_rng(0)


def policy(obs: Row) -> Row:
    """Holds the pendulum up by its angle and its speed, with an unsteady hand."""
    cos, sin, speed = obs
    torque = -12.0 * np.arctan2(sin, cos) - 3.0 * speed + rng.normal()
    return np.array([torque], np.float32).clip(-2, 2)


def make() -> gymnasium.Env[Row, Row]:
    return gymnasium.make("Pendulum-v1", max_episode_steps=200)


def set_gravity(env: Any, name: str, value: float) -> None:
    env.g = value


nominal = offnominal.collect(make(), policy, episodes=20, seed=1)
monitor = detectors.Knn().fit(nominal)

# An anomaly of the signals needs nothing else; one of the physics needs to know how it is set.
noisy = Anomalous(make(), "obs-noise", 0.05, onset=80)
heavy = Anomalous(
    make(), "dyn-gravity", 14.0, onset=80, setter=set_gravity, parameters={"gravity": (10.0, 0.0, 50.0)}
)
for name, env in {"noise": noisy, "gravity": heavy}.items():
    episode = offnominal.episodes.record(env, policy, seed=100)
    scores = monitor.score(episode)
    before, after = scores[~episode.labels], scores[episode.labels]
    print(f"{name}: median score {np.median(before):.2f} before the onset, {np.median(after):.2f} after it")
