"""PyBullet's bodies with the policies of its examples.

`gymnasium:foreign_pybullet:Bullet-v0?body=Hopper` is `HopperBulletEnv-v0`; `foreign_pybullet:Hopper` is its policy, the
class `SmallReactivePolicy` of `pybullet_envs.examples`. The environment has gym's old interface; this one has Gymnasium's.
PyBullet keeps contacts from one episode to the next, so each episode has a client of its own. Masses and the ground's friction
are parameters, as factors of what was loaded.
"""

import contextlib
import importlib
import importlib.metadata
import os
import warnings

import gymnasium
import numpy as np

warnings.filterwarnings("ignore")
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
    import gym
    import pybullet_envs  # noqa: F401  (registers the environments)

# Stands in the results beside the name of this module.
__version__ = "of pybullet " + importlib.metadata.version("pybullet")

# The body's environment, and the example that holds its policy.
BODIES = {
    name: (f"{name}BulletEnv-v0", f"enjoy_TF_{name}BulletEnv_v0_2017may")
    for name in (
        "Hopper",
        "Ant",
        "Humanoid",
        "Walker2D",
        "HalfCheetah",
        "InvertedPendulum",
        "InvertedPendulumSwingup",
        "InvertedDoublePendulum",
    )
}
BODIES["HumanoidFlagrunHarder"] = (
    "HumanoidFlagrunHarderBulletEnv-v0",
    "enjoy_TF_HumanoidFlagrunHarderBulletEnv_v1_2017jul",
)


class Bullet(gymnasium.Env):
    """One of PyBullet's bodies in Gymnasium's interface."""

    PARAMETERS = {"mass": (1.0, 0.01, 100.0), "friction": (1.0, 0.0, 100.0)}
    metadata = {"render_modes": []}

    def __init__(self, body):
        self.id = BODIES[body][0]
        self.inner, self.factors = gym.make(self.id).unwrapped, dict.fromkeys(self.PARAMETERS, 1.0)
        self.observation_space = self.numbers(self.inner.observation_space)
        self.action_space = self.numbers(self.inner.action_space)

    @staticmethod
    def numbers(space):
        return gymnasium.spaces.Box(np.asarray(space.low, np.float32), np.asarray(space.high, np.float32))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.inner.close()
        self.inner = gym.make(self.id).unwrapped
        self.inner.seed(int(self.np_random.integers(2**31)) if seed is None else seed)
        observation = self.inner.reset()
        self.loaded = list(self.parts())
        for name, factor in self.factors.items():
            self.set_parameter(name, factor)
        return np.asarray(observation, np.float32), {}

    def step(self, action):
        observation, reward, done, info = self.inner.step(action)
        return np.asarray(observation, np.float32), float(reward), bool(done), False, info

    def parts(self):
        """Each link of the body: its number, its mass and its friction, as loaded."""
        client = self.inner._p
        for body in sorted({part.bodies[part.bodyIndex] for part in self.inner.robot.parts.values()}):
            for link in range(-1, client.getNumJoints(body)):
                mass, friction, *_ = client.getDynamicsInfo(body, link)
                yield body, link, mass, friction

    def set_parameter(self, name, value):
        self.factors[name] = value
        for body, link, mass, friction in self.loaded:
            change = {"mass": mass * value} if name == "mass" else {"lateralFriction": friction * value}
            self.inner._p.changeDynamics(body, link, **change)

    def close(self):
        self.inner.close()


gymnasium.register("Bullet-v0", entry_point="foreign_pybullet:Bullet")


def __getattr__(name):
    """The policy of a body: `Hopper`."""
    if name not in BODIES:
        raise AttributeError(f"{name}: expected a body of PyBullet's examples, such as Hopper")
    example = importlib.import_module(f"pybullet_envs.examples.{BODIES[name][1]}")
    env = gym.make(BODIES[name][0])
    policy = example.SmallReactivePolicy(env.observation_space, env.action_space)
    low, high = env.action_space.low, env.action_space.high
    return lambda observation: np.clip(policy.act(np.asarray(observation, np.float64)), low, high)
