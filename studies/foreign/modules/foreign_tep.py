"""The Tennessee Eastman process of `tep-studio` with its own controller.

`gymnasium:foreign_tep:Tep-v0?mode=mode1` is the plant in one of its six modes: 41 measurements, 12 valves, a step every 36
seconds, eight hours; a shutdown terminates it. `foreign_tep:mode1` makes its policy, the package's decentralised PI
controller, which keeps what it has integrated and is reset with each episode. The 28 disturbances are parameters of nominal
value 0, which `TennesseeEastman-v0` can only be given at a reset.
"""

import importlib.metadata

import gymnasium
import numpy as np
import tep_studio
from tep_studio.simulation.gym_env import GymTEPEnv

# Stands in the results beside the name of this module.
__version__ = "of tep-studio " + importlib.metadata.version("tep-studio")

INTERVAL = 0.01  # hours
HORIZON = 8.0  # hours
MODES = tuple(f"mode{i}" for i in range(1, 7))


class Tep(GymTEPEnv):
    """The plant; its disturbances can change in an episode."""

    PARAMETERS = {f"idv-{i:02}": (0.0, 0.0, 1.0) for i in range(1, 29)}
    metadata = {
        "render_modes": [],
        "observation_names": [name for name, _, _ in tep_studio.list_measurements()],
        "action_names": [name for name, _, _ in tep_studio.list_manipulated_variables()],
    }

    def __init__(self, mode):
        super().__init__(control_interval=INTERVAL, horizon=HORIZON, mode=mode)
        self.disturbances = np.zeros(28)
        advance = self.simulator.advance
        self.simulator.advance = lambda action, **how: advance(action, disturbances=self.disturbances, **how)

    def set_parameter(self, name, value):
        self.disturbances[int(name.removeprefix("idv-")) - 1] = value


gymnasium.register("Tep-v0", entry_point="foreign_tep:Tep", max_episode_steps=round(HORIZON / INTERVAL))


class Controller:
    """The controller of a mode, which begins at the first observation of an episode."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.step, self.controller = 0, None

    def __call__(self, observation):
        observation = np.asarray(observation, np.float64)
        if self.controller is None:
            self.controller = tep_studio.RickerMultiLoopController()
            self.controller.reset(observation, time=0.0)
        action, _ = self.controller.compute_action(observation, time=self.step * INTERVAL)
        self.step += 1
        return action


def __getattr__(name):
    """The policy of a mode: `mode1`."""
    if name not in MODES:
        raise AttributeError(f"{name}: expected one of {', '.join(MODES)}")
    return Controller()
