"""Pong of the Arcade Learning Environment, shown as the environment ``pong`` shows its own game, and a player for it.

Needs ``pip install ale-py opencv-python-headless``. On the command line::

    offnominal evaluate --env "gymnasium:offnominal.atari:pong?horizon=3000" --policy offnominal.atari:follow

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

#: Actions of the Arcade Learning Environment that stand for none, up and down.
_MOVES = (0, 2, 3)
#: Rows of the image between the walls, columns between the paddles, and a column within the agent's paddle.
_FIELD, _BETWEEN, _PADDLE = slice(14, 77), slice(12, 72), slice(74, 75)
#: Difference from the field, in grey levels, that is a thing.
_THING = 12
#: Distance of the ball that is followed, in rows.
_NEAR = 2.5

Image = NDArray[np.uint8]


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


def follow(obs: Image) -> int:
    """Up if the ball will be above the agent's paddle a step later, down if below, else nothing.

    The paddle slides on: without the speeds, which the last two images show, it swings around the ball.
    """
    ball, paddle = (_soon(obs, columns) for columns in (_BETWEEN, _PADDLE))
    if ball is None or paddle is None or abs(ball - paddle) <= _NEAR:
        return 0
    return 1 if ball < paddle else 2


def _soon(obs: Image, columns: slice) -> float | None:
    """Where what is in some columns will be in the next image, if it goes on as in the last two."""
    before, now = (_mean_row(image, columns) for image in obs[-2:])
    return now if now is None or before is None else 2 * now - before


def _mean_row(image: Image, columns: slice) -> float | None:
    """Mean row of what is not field in some columns, weighted by its brightness; nothing if there is nothing."""
    field = image[_FIELD, columns].astype(float)
    bright = field - np.median(image[_FIELD])
    weights = np.where(bright > _THING, bright, 0.0).sum(axis=1)
    total = weights.sum()
    return float(weights @ np.arange(len(weights)) / total) if total > 0 else None
