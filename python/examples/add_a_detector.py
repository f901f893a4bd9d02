"""A detector of your own, in Python, in the same table as those of the engine.

A detector has ``fit(episodes)`` and ``score(episode)``; an episode is ``(observations [T + 1, o], actions [T, a])``.
"""

import numpy as np
from numpy.typing import NDArray

import offnominal
from offnominal import detectors

Episode = tuple[NDArray[np.float32], NDArray[np.float32]]


class Jump:
    """How far the observation moved in a step, in units of the nominal spread of such moves."""

    name = "jump"

    def fit(self, episodes: list[Episode]) -> None:
        moves = np.concatenate([np.diff(observations, axis=0) for observations, _ in episodes])
        self.centre, self.spread = moves.mean(axis=0), moves.std(axis=0) + 1e-6

    def score(self, episode: Episode) -> NDArray[np.float64]:
        moves = np.diff(episode[0], axis=0)
        return np.asarray(np.abs((moves - self.centre) / self.spread).max(axis=1), np.float64)


results = offnominal.bench(
    env="sap-goal1",
    policy="tqc",
    detectors=["clock", detectors.Knn(), Jump()],
    anomalies=["obs-noise", "obs-drift"],
    strengths=["strong"],
    episodes=(30, 20, 20),
    seed=1,
    out="runs/own-detector",
)
print(results)
print("the page:", results.report)
