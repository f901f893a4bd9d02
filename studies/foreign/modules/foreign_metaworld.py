"""Meta-World's fifty tasks with their scripted policies.

`gymnasium:foreign_metaworld:MetaWorld-v0?task=reach-v3` is a task; `foreign_metaworld:reach_v3` is its policy.
Meta-World ignores the seed of `reset`, and `Meta-World/MT1` takes each goal from a stream that is seeded where the environment
is made. Here the seed of `reset` draws the goal, from the same range. Nothing else is changed: the time limit of 500 steps
is the environment's own, and no episode is terminated.
"""

import importlib.metadata

import gymnasium
import numpy as np
from metaworld.env_dict import ALL_V3_ENVIRONMENTS
from metaworld.policies import ENV_POLICY_MAP

# Stands in the results beside the name of this module.
__version__ = "of metaworld " + importlib.metadata.version("metaworld")

CHANNELS = {0: "hand.x", 1: "hand.y", 2: "hand.z", 3: "gripper", 36: "goal.x", 37: "goal.y", 38: "goal.z"}


def channel(i):
    """The name of an observed number: the same 18 now and a step earlier, and the goal."""
    if i in CHANNELS:
        return CHANNELS[i]
    now = i % 18
    name = CHANNELS.get(now) or f"object{(now - 4) // 7}[{(now - 4) % 7}]"
    return name if i < 18 else f"before.{name}"


class MetaWorld(gymnasium.Env):
    """A task whose goal is drawn by the seed of `reset`, with factors of masses, friction and damping as parameters."""

    PARAMETERS = {"mass": (1.0, 0.01, 100.0), "friction": (1.0, 0.0, 100.0), "damping": (1.0, 0.0, 100.0)}
    ARRAYS = {"mass": ("body_mass", "body_inertia"), "friction": ("geom_friction",), "damping": ("dof_damping",)}
    metadata = {
        "render_modes": [],
        "observation_names": [channel(i) for i in range(39)],
        "action_names": ["dx", "dy", "dz", "grip"],
    }

    def __init__(self, task):
        # As MT1 sets a task, but for its fifty goals: the goal is observed, and drawn at each reset.
        self.inner = ALL_V3_ENVIRONMENTS[task]()
        self.inner._set_task_called, self.inner._partially_observable = True, False
        self.inner._freeze_rand_vec, self.inner.seeded_rand_vec = False, True
        self.inner.__dict__.pop("sawyer_observation_space", None)
        self.limits = (self.inner.action_space.low, self.inner.action_space.high)
        names = [name for names in self.ARRAYS.values() for name in names]
        self.nominal = {name: getattr(self.inner.model, name).copy() for name in names}
        self.observation_space, self.action_space = self.inner.observation_space, self.inner.action_space

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.inner._np_random = np.random.default_rng(seed)
        # What the last episode left in the solver would change the first digits of the next one.
        self.inner.data.qacc_warmstart[:] = 0.0
        return self.inner.reset()

    def step(self, action):
        return self.inner.step(np.clip(action, *self.limits))

    def set_parameter(self, name, value):
        import mujoco

        for array in self.ARRAYS[name]:
            getattr(self.inner.model, array)[:] = value * self.nominal[array]
        mujoco.mj_setConst(self.inner.model, mujoco.MjData(self.inner.model))


gymnasium.register("MetaWorld-v0", entry_point="foreign_metaworld:MetaWorld")


def __getattr__(name):
    """The policy of a task: `reach_v3` for reach-v3."""
    task = name.replace("_", "-")
    if task not in ENV_POLICY_MAP:
        raise AttributeError(f"{name}: expected a task of Meta-World, such as reach_v3")
    policy = ENV_POLICY_MAP[task]()
    return lambda observation: np.clip(policy.get_action(np.asarray(observation, np.float64)), -1.0, 1.0)
