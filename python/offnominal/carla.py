"""Lane keeping in CARLA: the task of Anomaly-Gym's CAR-LaneKeep, on the simulator that it was made for.

Needs a server of CARLA 0.9.16 and its client, ``pip install offnominal[carla]``. The environment ``car-lanekeep`` is the same
task without either, with the same channels::

    env = gymnasium.make("offnominal/CarlaLaneKeep-v0", host="10.0.0.7")
    env = offnominal.Anomalous(env, "dyn-tyre-friction", 0.2, onset=200)

On the command line it is ``--env gymnasium:offnominal/CarlaLaneKeep-v0?host=10.0.0.7``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray

from offnominal._carla_environment import Road, connect

#: Speeds are in units of this, in m/s.
MAX_SPEED = 100.0 / 3.6

#: The speed to be held, in the same units.
TARGET = 0.5

#: How much a command changes throttle or steering in a step.
_INCREMENT = 0.1

_HEADING_LIMIT, _OFFSET_LIMIT = np.pi / 4, 1.5

#: Bounds of an observation.
_LOW = np.array([0, 0, 0, -np.pi, -np.inf, 0, -np.inf, -1, -1], np.float32)
_HIGH = np.array([np.inf, 1, np.inf, np.pi, np.inf, 100, np.inf, 1, 1], np.float32)


class LaneKeep(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]], EzPickle):
    """A car keeps its lane and its speed on the highway of Town04, among a hundred others, at 20 steps per second.

    Observation, float32 ``[9]``: speed and target speed (in 100 km/h), size of the acceleration (m/s²), heading error
    (rad, positive to the left), distance from the lane's centre (m, positive to the left), gap to the vehicle ahead in
    the lane (m, bumper to bumper, at most 100), its speed minus the car's (m/s), accumulated throttle (negative: brake)
    and accumulated steering (positive to the left). Action, float32 ``[2]`` in ±1: changes of the latter two, in tenths.

    The reward is −|v − v*| − 0.1 |heading error| − 0.1 |offset| − 0.01 |action|, and −100 in the step that ends the
    episode: on a collision, at 45° from the lane's direction, or 1.5 m from its centre.

    Source: Anomaly-Gym (TMLR submission 7913). Deviates: left is positive; the offset is the distance itself and not the
    sine of an angle; the gap is from bumper to bumper; the anomalies act on what reaches the car and not on the
    recorded command.

    :param host: machine of the server.
    :param port: its port; that of the traffic manager is ``traffic_port``.
    :param timeout: seconds that the server may take for an answer.
    :param town: map; the highway is where a lane has at least two more beside it in its direction.
    :param traffic: how many other vehicles there are, driven by CARLA's traffic manager.
    :param render_mode: ``rgb_array`` for images of a camera at the bumper, 256 × 256.
    :raises ConnectionError: at the first reset, if there is no server, or one of another version.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012
    #: Steps of an episode; :func:`gymnasium.make` ends it there.
    horizon = 500
    #: What :class:`offnominal.Anomalous` can change: nominal, smallest and largest value.
    PARAMETERS: ClassVar[dict[str, tuple[float, float, float]]] = {
        "brake-gain": (1.0, 0.0, 2.0),
        "steering-gain": (1.0, 0.0, 2.0),
        "tyre-friction": (1.0, 0.01, 2.0),
    }

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 2000,
        traffic_port: int = 8000,
        timeout: float = 10.0,
        town: str = "Town04",
        traffic: int = 100,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(self, host, port, traffic_port, timeout, town, traffic, render_mode)
        if not 0 < timeout < 3600:
            raise ValueError(f"timeout: expected seconds from 0 to 3600, found {timeout}")
        if not 0 <= traffic <= 1000:
            raise ValueError(f"traffic: expected 0 to 1000 vehicles, found {traffic}")
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode: expected None or 'rgb_array', found {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space = spaces.Box(_LOW, _HIGH, dtype=np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._server = (host, port, traffic_port, timeout)
        self._town, self._traffic = town, traffic
        self._road: Road | None = None
        self._command = np.zeros(2)
        self._gains = {"brake-gain": 1.0, "steering-gain": 1.0}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Places the car and the traffic anew, both drawn from the seed; the car at rest."""
        super().reset(seed=seed)
        if self._road is None:
            self._road = connect(self._server, self._town, self.render_mode is not None)
        self._command[:] = 0.0
        self._gains = dict.fromkeys(self._gains, 1.0)
        self._road.populate(self.np_random, self._traffic)
        return self._observation(), {}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Takes a step of 0.05 s."""
        if self._road is None:
            raise ValueError("expected reset() before step()")
        change = np.asarray(action, np.float64)
        if change.shape != (2,) or not np.isfinite(change).all():
            raise ValueError(f"action: expected 2 finite numbers, found {action!r}")
        change = change.clip(-1.0, 1.0)
        self._command = (self._command + _INCREMENT * self._reaching(change)).clip(-1.0, 1.0)
        self._road.drive(*self._command)
        obs = self._observation()
        terminated = self._has_failed(obs)
        cost = abs(obs[0] - TARGET) + 0.1 * abs(obs[3]) + 0.1 * abs(obs[4]) + 0.01 * np.linalg.norm(change)
        return obs, -100.0 if terminated else -float(cost), terminated, False, {}

    def _reaching(self, change: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is left of a command by failing brakes and steering."""
        throttle, steering = change
        gain = self._gains["brake-gain"] if throttle < 0.0 else 1.0
        return np.array([gain * throttle, self._gains["steering-gain"] * steering])

    def _observation(self) -> NDArray[np.float32]:
        assert self._road is not None
        seen = self._road.look()
        speed = [seen.speed / MAX_SPEED, TARGET]
        return np.array([*speed, seen.acceleration, seen.heading, seen.offset, seen.gap, seen.closing, *self._command], np.float32)

    def _has_failed(self, obs: NDArray[np.float32]) -> bool:
        assert self._road is not None
        return bool(self._road.collided or abs(obs[3]) > _HEADING_LIMIT or abs(obs[4]) > _OFFSET_LIMIT)

    def set_parameter(self, name: str, value: float) -> None:
        """Changes a physical quantity of the episode in progress; the next episode is nominal again.

        :raises ValueError: if there is no such parameter, or the value is outside its range.
        """
        if name not in self.PARAMETERS:
            raise ValueError(f"parameter: expected one of {', '.join(self.PARAMETERS)}, found {name!r}")
        _, low, high = self.PARAMETERS[name]
        if not low <= value <= high:
            raise ValueError(f"parameter {name}: expected {low} to {high}, found {value}")
        if name in self._gains:
            self._gains[name] = value
        elif self._road is not None:
            self._road.set_friction(value)

    def render(self) -> Any:
        """The image of the camera at the bumper, uint8 ``[256, 256, 3]``; ``None`` without a render mode."""
        return None if self._road is None else self._road.image

    def close(self) -> None:
        """Removes what was placed, and gives the server its own clock back."""
        if self._road is not None:
            self._road.leave()
            self._road = None
