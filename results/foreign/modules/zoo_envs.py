"""Environments as RL Baselines3 Zoo made them: with the share of the remaining time, and zeros, where a model had them."""

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


class Zeros(gymnasium.ObservationWrapper):
    """The observation and so many zeros, where an older environment had numbers that never changed."""

    def __init__(self, env, n):
        super().__init__(env)
        self.none = np.zeros(n)
        bounds = [np.append(bound, self.none) for bound in (env.observation_space.low, env.observation_space.high)]
        self.observation_space = gymnasium.spaces.Box(*bounds, dtype=np.float32)

    def observation(self, observation):
        return np.append(observation, self.none).astype(np.float32)


def make(id, package=None, time=False, zeros=0, **options):
    """The environment of that id; `package` registers it."""
    if package:
        importlib.import_module(package)
    env = gymnasium.make(id, **options)
    steps, env = env.spec.max_episode_steps, Zeros(env, zeros) if zeros else env
    return RemainingTime(env, steps) if time else env
