#!/usr/bin/env python3
"""Gives PyBullet's hopper the starts and the commands of recorded episodes of ours, and says how far the two part.

    pip install pybullet==3.2.7 gym==0.23.1 'numpy<2' 'pyarrow<19'
    unzip agents/shift/policies.zip hopper-td3-1.safetensors -d runs
    offnominal collect --env hopper --policy runs/hopper-td3-1.safetensors --episodes 20 --seed 1 --out runs/hopper
    python3 studies/shift/pybullet_steps.py runs/hopper/*.arrow studies/shift/pybullet-steps.csv

For each channel of the observation and for the reward: its standard deviation over our episodes, and the mean absolute
difference after so many steps, while an episode lasts in both.
"""

import csv
import sys
import warnings

import numpy as np
import pyarrow.ipc as ipc

warnings.filterwarnings("ignore")
import gym  # noqa: E402
import pybullet_envs  # noqa: E402, F401

CHANNELS = ["height", "target_sin", "target_cos", "forward_velocity", "left_velocity", "up_velocity", "roll", "pitch"]
CHANNELS += ["thigh", "thigh_velocity", "leg", "leg_velocity", "foot", "foot_velocity", "foot_contact"]
# Where angles of the joints stand among the channels.
ANGLES = [8, 10, 12]
STEPS = [0, 1, 2, 5, 10, 20, 50]


def episodes(path):
    """Observations, actions and rewards of each recorded episode."""
    table = ipc.open_file(path).read_all()
    columns = [np.array(table[name].to_pylist()) for name in ("observations", "actions", "rewards")]
    # After the last step stands one more row with the observation in which it ended.
    ends = np.flatnonzero(np.array(table["terminations"]) | np.array(table["truncations"])) + 2
    return list(zip(*(np.split(column, ends[:-1]) for column in columns)))


def begin(env, angles):
    """The start of one of our episodes, of which the observation has the angles, from −1 to 1 between the limits."""
    env.reset()
    for joint, angle in zip(env.unwrapped.robot.ordered_joints, angles):
        joint.reset_position(0.5 * (joint.lowerLimit + joint.upperLimit + angle * (joint.upperLimit - joint.lowerLimit)), 0)
    return env.unwrapped.robot.calc_state()


def differences(episode):
    """Absolute differences of observation and reward at each step, until the episode ends there."""
    observations, actions, rewards = episode
    # A new one: after a reset, PyBullet's first observation and progress are still those of the last episode.
    env = gym.make("HopperBulletEnv-v0")
    env.seed(1)
    found = [np.append(np.abs(begin(env, observations[0][ANGLES]) - observations[0]), np.nan)]
    for t, action in enumerate(actions[: STEPS[-1]]):
        observation, reward, done, _ = env.step(action)
        if done or t + 1 == len(observations):
            break
        found.append(np.append(np.abs(observation - observations[t + 1]), abs(reward - rewards[t])))
    env.close()
    return found


def main():
    recorded = episodes(sys.argv[1])
    found = [differences(episode) for episode in recorded]
    spread = [np.concatenate([e[0] for e in recorded]).std(0), [np.concatenate([e[2] for e in recorded]).std()]]
    rows = [["channel", "sd", *(f"step_{k}" for k in STEPS)], ["episodes", ""] + [sum(len(e) > k for e in found) for k in STEPS]]
    for i, (name, sd) in enumerate(zip([*CHANNELS, "reward"], np.concatenate(spread))):
        at = [[e[k][i] for e in found if len(e) > k] for k in STEPS]
        rows.append([name, f"{sd:.4f}"] + ["" if np.isnan(values).all() else f"{np.mean(values):.4f}" for values in at])
    with open(sys.argv[2], "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


main()
