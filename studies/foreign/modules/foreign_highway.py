"""A driver, written by hand, for environments of highway-env, which are used as they are.

`foreign_highway:highway_fast_v0` is the policy of `gymnasium:foreign_highway:highway-fast-v0`, and so on. It reads the five
nearest vehicles (or fifteen, at the intersection) and says once a second: change the lane, keep the speed, faster, slower.
In `lane-keeping-v0` it steers, ten times a second.
"""

import functools
import importlib.metadata

import gymnasium
import highway_env
import numpy as np

# Stands in the results beside the name of this module.
__version__ = "of highway-env " + importlib.metadata.version("highway-env")

gymnasium.register_envs(highway_env)

LEFT, IDLE, RIGHT, FASTER, SLOWER = range(5)
LANE = 4.0  # metres
SPEED = 80.0  # metres per second that a speed of 1 means on a straight road
RANGE = 200.0  # metres that a distance of 1 means there


def vehicles(observation, columns):
    """The driver's own row, and those of the vehicles that are there."""
    rows = np.asarray(observation, np.float64).reshape(-1, columns)
    return rows[0], rows[1:][rows[1:, 0] > 0.5]


def gaps(others, lane):
    """Distance and relative speed of the vehicle ahead in a lane, and whether the lane is free beside the driver."""
    inside = others[np.abs(others[:, 1] - LANE * lane) < 0.5 * LANE]
    ahead = inside[inside[:, 0] > 0.0]
    first = ahead[np.argmin(ahead[:, 0])] if len(ahead) else np.array([np.inf, 0.0, 0.0])
    return first[0], first[2], bool((np.abs(inside[:, 0]) > 15.0).all())


def straight(observation, lanes, cruise):
    """On a straight road of some lanes: past slower vehicles on the freer side, else behind them."""
    own, others = vehicles(observation, 5)
    others = others[:, 1:4] * [RANGE, LANE * lanes, SPEED]
    place, speed = own[2] * lanes, own[3] * SPEED
    gap, closing, _ = gaps(others, 0)
    if gap + 2.0 * closing > 1.2 * speed:
        return FASTER if speed < cruise else IDLE
    for side, change in ((-1, LEFT), (1, RIGHT)):
        room, relative, free = gaps(others, side)
        if -0.5 < place + side < lanes - 0.5 and free and room + 2.0 * relative > gap + 2.0 * closing + 5.0:
            return change
    return SLOWER if gap + 2.0 * closing < 0.9 * speed else IDLE


def crossing(observation, columns, scale, faster, idle, slower):
    """Where roads meet: slower if another vehicle, at its present speed, will be near within three seconds."""
    own, others = vehicles(observation, columns)
    times = np.arange(0.0, 3.1, 0.5)[:, None, None]
    place = (others[None, :, 1:3] - own[None, None, 1:3]) * 100.0
    relative = (others[None, :, 3:5] - own[None, None, 3:5]) * scale
    ahead = np.einsum("nk,k->n", place[0], own[3:5]) > 0.0
    near = np.linalg.norm(place + times * relative, axis=2).min(axis=0) < 7.0
    if (ahead & near).any():
        return slower
    return faster if np.linalg.norm(own[3:5]) * scale < 0.45 * scale else idle


def keep(observation):
    """A lane to be kept by steering alone: the lateral error asks for a heading, the heading's error for an angle."""
    if isinstance(observation, dict):
        observation = np.concatenate([observation[name].ravel() for name in sorted(observation)])
    _, reference, state = np.split(np.asarray(observation, np.float64).ravel(), 3)
    heading = reference[1] - np.arctan(0.15 * (state[0] - reference[0]))
    return np.clip(np.array([0.8 * (heading - state[1]) - 0.1 * state[3]]), -1.0, 1.0)


highway_fast_v0 = functools.partial(straight, lanes=3, cruise=24.0)
highway_v0 = functools.partial(straight, lanes=4, cruise=24.0)
merge_v1 = functools.partial(straight, lanes=2, cruise=24.0)
roundabout_v1 = functools.partial(crossing, columns=5, scale=15.0, faster=FASTER, idle=IDLE, slower=SLOWER)
intersection_v2 = functools.partial(crossing, columns=7, scale=20.0, faster=2, idle=1, slower=0)
lane_keeping_v0 = keep
