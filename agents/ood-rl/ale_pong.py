"""Pong of the Arcade Learning Environment as the suite `ood-rl` has its own, and a player that follows the ball.

    pip install ale-py gymnasium
    offnominal evaluate --env "gymnasium:ale_pong:make?modules=agents/ood-rl" --policy "ale_pong:follow?modules=agents/ood-rl"

The screen is prepared as in the re-implementation: every fourth frame, the maximum of the last two, grey, 84 x 84 by
averaging areas, four of them; and the choices are its three. Actions are not repeated at random, so that a seed gives one game.
"""

from collections import deque

import ale_py
import gymnasium
import numpy as np

gymnasium.register_envs(ale_py)

SIDE, FRAMES, SKIP = 84, 4, 4
#: Steps at the beginning of a game whose choices are drawn, before the first point.
DRAWN = 30
#: None, up, down among the actions of the console.
CHOICES = (0, 2, 3)
#: Grey level of the field, and how far from it something must be to be a thing.
FIELD, THING = 87.0, 12.0
#: Rows of the field, columns between the paddles, and a column of the agent's.
ROWS, BETWEEN, PADDLE = slice(14, 77), slice(12, 72), slice(74, 75)
#: Distance of the ball that is followed, in rows.
NEAR = 2.5


def shares(n):
    """`[84, n]`: what each output has of n pixels, by area."""
    width = n / SIDE
    starts = np.arange(SIDE)[:, None] * width
    pixels = np.arange(n)[None, :]
    covered = np.minimum(starts + width, pixels + 1) - np.maximum(starts, pixels)
    return (covered.clip(0) / width).astype(np.float32)


class Pong(gymnasium.Env):
    """One game to 21 points."""

    metadata = {"render_modes": []}

    def __init__(self):
        """Opens the console."""
        self.console = gymnasium.make("ALE/Pong-v5", obs_type="grayscale", frameskip=1, repeat_action_probability=0.0)
        self.observation_space = gymnasium.spaces.Box(0, 255, (FRAMES, SIDE, SIDE), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(len(CHOICES))
        height, width = self.console.observation_space.shape
        self.down, self.across = shares(height), shares(width).T
        self.images = deque(maxlen=FRAMES)
        self.points = 0.0

    def reset(self, *, seed=None, options=None):
        """A game from its beginning, and a few choices into it that are drawn, so that games differ."""
        super().reset(seed=seed)
        self.points = 0.0
        frame, info = self.console.reset(seed=seed, options=options)
        for choice in self.np_random.integers(0, len(CHOICES), DRAWN).repeat(SKIP):
            frame = self.console.step(CHOICES[choice])[0]
        self.images.extend([self.seen(frame)] * FRAMES)
        return np.stack(self.images), info

    def step(self, action):
        """Four frames."""
        total, frames = 0.0, []
        for _ in range(SKIP):
            frame, reward, terminated, truncated, info = self.console.step(CHOICES[int(action)])
            total += float(reward)
            frames.append(frame)
            if terminated or truncated:
                break
        self.images.append(self.seen(np.maximum.reduce(frames[-2:])))
        self.points += total
        info = {**info, "is_success": self.points > 0.0}
        return np.stack(self.images), total, terminated, truncated, info

    def seen(self, frame):
        """The screen as the policy has it."""
        return np.rint(self.down @ (frame.astype(np.float32) @ self.across)).astype(np.uint8)

    def close(self):
        """Closes the console."""
        self.console.close()


def make():
    """The environment, with the horizon of the re-implementation."""
    return gymnasium.wrappers.TimeLimit(Pong(), 3000)


def mean_row(image, columns):
    """Mean row of what is not field in some columns, weighted by its distance from it; nothing if there is nothing."""
    away = np.abs(image[ROWS, columns].astype(np.float64) - FIELD)
    weights = np.where(away > THING, away, 0.0).sum(axis=1)
    return np.arange(ROWS.start, ROWS.stop) @ weights / weights.sum() if weights.sum() > 0 else None


def follow(obs):
    """Up if the ball will be above the paddle in a step, down if it will be below, else nothing.

    Both are taken to go on as in the last step: the paddle of the console has inertia.
    """
    before, now = ([mean_row(image, columns) for columns in (BETWEEN, PADDLE)] for image in np.asarray(obs)[-2:])
    if None in now:
        return 0
    ball, paddle = (row if last is None else 2.0 * row - last for row, last in zip(now, before))
    if abs(ball - paddle) <= NEAR:
        return 0
    return 1 if ball < paddle else 2
