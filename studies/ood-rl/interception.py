"""A player for Pong of the Arcade Learning Environment that knows how its paddle moves.

Units are pixels of the game, 210 high, and half steps: the paddle moves every second frame, and a step has four. What a move
asks for arrives late: a target goes up or down by 11.35 pixels in a half step, and every half step the paddle goes half of the
way to it. So it slides on after a move, and a player that looks at the ball alone swings around it.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Image = NDArray[np.uint8]

#: Rows of the image between the walls, columns between the paddles, and a column within the agent's paddle.
_FIELD, _BETWEEN, _PADDLE = slice(14, 77), slice(12, 72), slice(74, 75)
#: Difference from the field, in grey levels, that is a thing.
_THING = 12
#: Half the target's way in a step of up or down.
_HALF = 11.35
_MOVES = np.array([0.0, -_HALF, _HALF])
#: The target's bounds, and the bounds of what is seen of the paddle.
_TARGET, _SEEN = (13.0, 203.5), (38.0, 203.0)
#: Where the ball turns at the walls, and where it meets the paddle.
_WALLS, _MEETS = (43.5, 207.5), 188.0
#: How far ahead moves differ, in steps.
_AHEAD = 6
#: Every list of so many moves.
_PLANS = {n: np.array(list(itertools.product(range(3), repeat=n))) for n in range(1, _AHEAD + 1)}


class _Paddle(NamedTuple):
    """Where the paddle is, how far its target is ahead, what the last move was, and how much of it the next half step has."""

    y: float
    lag: float
    last: float
    late: float

    def travel(self, plans: NDArray[np.int64], steps: int) -> Numbers:
        """Positions ``[plans, 2 * steps + 1]`` now and after every half step; after a plan's end nothing is done."""
        y = np.full(len(plans), self.y)
        lag, last = np.full(len(plans), self.lag), np.full(len(plans), self.last)
        positions = [y]
        for step in range(steps):
            move = _MOVES[plans[:, step]] if step < plans.shape[1] else np.zeros(len(plans))
            for way in (self.late * last + (1 - self.late) * move, move):
                target = np.clip(y + lag + way, *_TARGET)
                lag = (target - y) / 2
                y = target - lag
                positions.append(y)
            last = move
        return np.stack(positions, 1)


class _Ball(NamedTuple):
    """Where the ball is, and its way in a step."""

    x: float
    y: float
    dx: float
    dy: float

    def meets(self) -> tuple[float, float]:
        """Frames until it meets the paddle, and its height then."""
        frames = max((_MEETS - self.x) / (self.dx / 4), 0.0)
        # An image shows the mean of the last two frames, so the ball is ahead of what is seen.
        return frames, _reflected(self.y + self.dy * (frames + 0.6) / 4)


def _reflected(y: float) -> float:
    top, bottom = _WALLS
    way = abs(y - top) % (2 * (bottom - top))
    return top + min(way, 2 * (bottom - top) - way)


def _bright(image: Image, columns: slice) -> Numbers:
    """What is brighter than the field in some columns, ``[rows, columns]``."""
    bright = image[_FIELD, columns].astype(float) - np.median(image[_FIELD])
    return np.where(bright > _THING, bright, 0.0)


def _place(image: Image) -> Numbers | None:
    """The ball's x and y."""
    bright = _bright(image, _BETWEEN)
    total = bright.sum()
    if total <= 0:
        return None
    column, row = (bright.sum(axis) @ np.arange(bright.shape[1 - axis]) / total for axis in (0, 1))
    # These numbers, and those of the edges below, were fitted to places in the memory of the game.
    return np.array([(column + 37.4) / 0.5218, (row + 19.0) / 0.3974])


def _edges(image: Image) -> tuple[float, float] | None:
    """Where the paddle would be if its upper edge, and if its lower one, were where it is seen; they differ if it moved."""
    bright = _bright(image, _PADDLE).sum(1)
    rows = np.flatnonzero(bright)
    if len(rows) == 0:
        return None
    first, last = rows[0], rows[-1]
    full = np.median(bright[rows])
    upper = first + 0.5 - min(bright[first] / full, 1.0)
    lower = last - 0.5 + min(bright[last] / full, 1.0)
    above, below = (upper + 19.6) / 0.398, (lower + 13.35) / 0.398
    # At a wall a part of it is hidden.
    return (below, below) if first == 0 else (above, above) if last == len(bright) - 1 else (above, below)


class _Fit:
    """The lag that explains best where four images show the paddle, over all lists of moves."""

    def __init__(self, late: float) -> None:
        self.late = late
        plans = np.array(list(itertools.product(range(3), repeat=4)))
        self.moves = _MOVES[plans]
        # Every way of a half step is linear in the lag before the first of them: slope and constant.
        slope, rest = np.ones(len(plans)), np.zeros(len(plans))
        ways = []
        for last, move in zip(self.moves.T, self.moves.T[1:], strict=False):
            for way in (late * last + (1 - late) * move, move):
                slope, rest = slope / 2, (rest + way) / 2
                ways.append((slope, rest))
        slopes, rests = (np.array(part) for part in zip(*ways, strict=True))
        # Ways of whole steps, then those of their second halves.
        self.slopes, self.rests = (np.concatenate([part[::2] + part[1::2], part[1::2]]).T for part in (slopes, rests))
        self.slope, self.rest = slope, rest
        self.penalty = 0.3 * (np.diff(plans, axis=1) != 0).sum(1)

    def __call__(self, ys: Numbers, before: Numbers | None = None) -> tuple[float, _Paddle]:
        """How badly it fits, and the paddle: where it was ``[4]``, and where it was half a step before, if that is seen."""
        ways = np.diff(ys) if before is None else np.concatenate([np.diff(ys), (ys - before)[1:]])
        slopes, left = self.slopes[:, : len(ways)], ways - self.rests[:, : len(ways)]
        lag = np.clip((left * slopes).sum(1) / (slopes**2).sum(1), -_HALF, _HALF)
        error = ((left - slopes * lag[:, None]) ** 2).sum(1) + self.penalty + 0.02 * abs(lag)
        k = int(np.argmin(error))
        return float(error[k]), _Paddle(ys[-1], self.slope[k] * lag[k] + self.rest[k], self.moves[k, 3], self.late)


#: The paddle moves with the second and the fourth frame of a step, or with the first and the third; chance decides for a game.
_LATE, _EARLY = _Fit(0.5), _Fit(1.0)
#: Which of two edges belongs to the last frame, in each of four images.
_ORDERS = np.array(list(itertools.product(range(2), repeat=4)))


def _paddle(images: Image) -> _Paddle | None:
    seen = [edges for image in images if (edges := _edges(image)) is not None]
    if len(seen) < 4:
        return None
    places = np.array(seen)
    if np.ptp(places, axis=1).max() < 1.8:
        return _EARLY(places.mean(1))[1]
    # The last two frames, of which an image shows the brighter pixels, differ: either edge may be the later one.
    fits = [_LATE(places[range(4), order], places[range(4), 1 - order]) for order in _ORDERS]
    return min(fits, key=lambda fit: fit[0])[1]


def _ball(images: Image) -> _Ball | None:
    """The ball if it comes; beside the paddle, as it went on."""
    *_, early, before, now = (_place(image) for image in images)
    if before is None:
        return None
    if now is None or now[0] > _MEETS - 5:
        if early is None or before[0] < _MEETS - 18:
            return None
        now = 2 * before - early
    way = now - before
    if early is not None and abs(before[1] - early[1]) - abs(way[1]) > 1.5 and not _WALLS[0] + 26 < now[1] < _WALLS[1] - 26:
        # It met a wall in between.
        way[1] = early[1] - before[1]
    dx, dy = np.round(way / 4) * 4
    return _Ball(now[0], now[1], dx, dy) if dx > 0 else None


def _miss(places: Numbers, y: float) -> Numbers:
    """How far places of the paddle are from where it meets a ball at ``y`` well.

    Its ends send the ball off steeply, which the opponent misses from there; beyond the end is worse than before it.
    """
    seen = np.maximum(places, _SEEN[0])
    if y < 126:
        error = y - min(14.5, y - _SEEN[0] - 2) - seen
    elif y < 168:
        error = seen - (y + 1.2)
    else:
        return abs(seen - (y - 6))
    return np.where(error > 0, 2.5 * error, -error)


def _to_the_middle(paddle: _Paddle) -> tuple[NDArray[np.int64], Numbers]:
    """Plans, and what each of them costs while the ball goes away."""
    plans = _PLANS[3]
    return plans, abs(paddle.travel(plans, 6)[:, -1] - 120) + 4.0 * (plans > 0).sum(1)


def _to_the_ball(paddle: _Paddle, ball: _Ball) -> tuple[NDArray[np.int64], Numbers]:
    """Plans, and what each of them costs while the ball comes."""
    frames, y = ball.meets()
    steps = max(int(np.ceil((frames + 1) / 4)), 1)
    plans = _PLANS[min(steps, _AHEAD)]
    places = paddle.travel(plans, steps)
    half = (frames + 0.3) / 2 if paddle.late < 1 else np.ceil((frames - 0.3) / 2)
    k = min(int(half), 2 * steps - 1)
    # Nobody sees where it is beyond its bounds. A paddle that rests is surer to be where it is expected.
    hidden = np.maximum(_SEEN[0] - places.min(1), 0.0)
    speed = abs(places[:, k + 1] - places[:, k]) + abs(places[:, k] - places[:, max(k - 1, 0)])
    return plans, _miss(places[:, k], y) + 0.5 * hidden + 0.05 * speed + 0.1 * (plans > 0).sum(1)


def intercept(obs: Image) -> int:
    """Plans moves that bring the paddle where the ball will come, with the end that makes it hard to return, else to the middle.

    ``obs`` is ``[4, 84, 84]``; the result is none (0), up (1) or down (2).
    """
    paddle, ball = _paddle(obs), _ball(obs)
    if paddle is None:
        return 0
    plans, cost = _to_the_middle(paddle) if ball is None else _to_the_ball(paddle, ball)
    return int(plans[int(np.argmin(cost)), 0])
