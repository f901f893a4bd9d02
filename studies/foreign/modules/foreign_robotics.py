"""Scripted policies for environments of gymnasium-robotics, which are used as they are.

`foreign_robotics:FetchReach_v4` is the policy of `gymnasium:foreign_robotics:FetchReach-v4`, and so on. A policy reads the
flattened observation: achieved goal, desired goal, and the observation itself, in the order of their names.
"""

import gymnasium
import gymnasium_robotics
import numpy as np

gymnasium.register_envs(gymnasium_robotics)


def goals(observation, width):
    """Achieved goal, desired goal, and the rest."""
    if isinstance(observation, dict):
        return observation["achieved_goal"], observation["desired_goal"], observation["observation"]
    return np.split(np.asarray(observation, np.float64).ravel(), [width, 2 * width])


def command(move, fingers=0.0):
    return np.clip(np.append(move, fingers), -1.0, 1.0)


def reach(observation):
    """The hand goes straight to the goal."""
    hand, goal, _ = goals(observation, 3)
    return command(10.0 * (goal - hand))


def push(observation):
    """The closed hand goes behind the block, as seen from the goal, and pushes it there."""
    block, goal, rest = goals(observation, 3)
    hand, way = rest[:3], goal - block
    way[2] = 0.0
    far = np.linalg.norm(way)
    if far < 0.02:
        return command(np.zeros(3), -1.0)
    behind = block - 0.09 * way / far
    aside = np.linalg.norm((hand - block)[:2] - np.dot((hand - block)[:2], way[:2] / far) * way[:2] / far)
    if aside > 0.02 or np.dot((hand - block)[:2], way[:2]) > 0.0:
        near = np.linalg.norm((hand - behind)[:2]) < 0.02
        height = block[2] if near else block[2] + 0.08
        return command(10.0 * (np.append(behind[:2], height) - hand), -1.0)
    if hand[2] > block[2] + 0.01:
        return command(10.0 * (np.append(behind[:2], block[2]) - hand), -1.0)
    return command(6.0 * (np.append(goal[:2] - 0.03 * way[:2] / far, block[2]) - hand), -1.0)


def pick(observation):
    """The hand goes above the block, down, closes, and carries the block to the goal."""
    block, goal, rest = goals(observation, 3)
    hand, opening = rest[:3], rest[9] + rest[10]
    offset = block - hand
    if np.linalg.norm(offset[:2]) > 0.01 and np.linalg.norm(offset) > 0.02:
        above = block + np.array([0.0, 0.0, 0.08 if np.linalg.norm(offset[:2]) > 0.02 else 0.0])
        return command(8.0 * (above - hand), 1.0)
    if abs(offset[2]) > 0.012:
        return command(8.0 * offset, 1.0)
    if opening > 0.055:
        return command(np.zeros(3), -1.0)
    return command(6.0 * (goal - hand), -1.0)


def point(observation):
    """A ball in an open field: force towards the goal, against the speed."""
    _, goal, rest = goals(observation, 2)
    return np.clip(4.0 * (goal - rest[:2]) - 2.0 * rest[2:4], -1.0, 1.0)


def around(observation):
    """A ball in the U-shaped maze: along the middle of the corridor, with corners as the places between."""
    _, goal, rest = goals(observation, 2)
    aim = corner(rest[:2], goal)
    return np.clip(4.0 * (aim - rest[:2]) - 2.0 * rest[2:4], -1.0, 1.0)


def corner(place, goal):
    """The next corner of the U on the way; the wall is at y = 0 for x < 0.5."""
    if place[1] * goal[1] > 0.0 and abs(place[1]) > 0.5:
        return goal
    if 0.5 < abs(place[1]) < 1.5 and place[0] < 0.75:
        return np.array([1.0, np.sign(place[1])])
    return np.array([1.0, np.sign(goal[1])]) if abs(goal[1]) > 0.5 else goal


POLICIES = {
    "FetchReach_v4": reach,
    "FetchPush_v4": push,
    "FetchPickAndPlace_v4": pick,
    "PointMaze_Open_v3": point,
    "PointMaze_UMaze_v3": around,
}
globals().update(POLICIES)
