"""Pong of the Arcade Learning Environment, shown as the environment ``pong`` shows its own game.

Needs ``pip install ale-py opencv-python-headless``. On the command line::

    offnominal evaluate --env "gymnasium:offnominal.atari:pong?horizon=3000" --policy random

What the policy sees is prepared as in Mnih et al. (2015): every fourth frame, the maximum of the last two, grey, 84 × 84 by
averaging areas, the last four of them, the newest last. So a policy of one game can play the other.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from numpy.typing import NDArray

__all__ = ["pong"]

Image = NDArray[np.uint8]

#: Actions of the Arcade Learning Environment that stand for none, up and down.
_MOVES = (0, 2, 3)


class _Choices(gymnasium.Wrapper[Image, np.int64, Image, Any]):
    """The three moves that make a difference, and whether the game was won."""

    def __init__(self, env: gymnasium.Env[Image, Any]) -> None:
        super().__init__(env)
        self.action_space = spaces.Discrete(len(_MOVES))
        self._points = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Image, dict[str, Any]]:
        self._points = 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: np.int64 | int) -> tuple[Image, SupportsFloat, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(np.int64(_MOVES[int(action)]))
        self._points += float(reward)
        return obs, reward, terminated, truncated, {**info, "is_success": self._points > 0}


def pong() -> gymnasium.Env[Image, np.int64]:
    """Makes the game: observation uint8 ``[4, 84, 84]``; none, up and down; a reward of ±1 for a point.

    Chance is what begins an episode: up to thirty steps in which nothing is done. Actions are not repeated by chance.
    """
    import ale_py

    gymnasium.register_envs(ale_py)
    game = gymnasium.make("ALE/Pong-v5", frameskip=1, repeat_action_probability=0.0)
    return _Choices(FrameStackObservation(AtariPreprocessing(game), 4))
