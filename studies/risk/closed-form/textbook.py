"""Numbers that are drawn and seen, as an environment of Gymnasium: `gymnasium:textbook:Numbers`."""

from typing import ClassVar

import gymnasium
import numpy as np


class Numbers(gymnasium.Env):
    """Shows its parameters for one step, whatever is done; a requirement on them is a limit state."""

    PARAMETERS: ClassVar = {f"z{i}": (0.0, -9.0, 9.0) for i in range(4)}
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (4,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.z = np.zeros(4)

    def set_parameter(self, name, value):
        self.z[int(name[1:])] = value

    def get_parameter(self, name):
        return self.z[int(name[1:])]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.z.copy(), {}

    def step(self, action):
        return self.z.copy(), 0.0, False, True, {}
