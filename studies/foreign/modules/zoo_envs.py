"""Environments as RL Baselines3 Zoo made them: with the share of the remaining time, where a model had it."""

import importlib

import gymnasium
import numpy as np


class RemainingTime(gymnasium.ObservationWrapper):
    """The observation and the share of the episode's time that is left."""

    def __init__(self, env, steps):
        super().__init__(env)
        self.steps, self.passed = steps, 0
        low, high = env.observation_space.low, env.observation_space.high
        self.observation_space = gymnasium.spaces.Box(np.append(low, 0.0), np.append(high, 1.0), dtype=np.float32)

    def reset(self, **options):
        self.passed = 0
        return super().reset(**options)

    def step(self, action):
        self.passed += 1
        return super().step(action)

    def observation(self, observation):
        return np.append(observation, 1.0 - self.passed / self.steps).astype(np.float32)


def make(id, package=None, time=False, **options):
    """The environment of that id; `package` registers it."""
    if package:
        importlib.import_module(package)
    env = gymnasium.make(id, **options)
    return RemainingTime(env, env.spec.max_episode_steps) if time else env
