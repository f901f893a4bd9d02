"""The environments as Gymnasium environments.

======================  ==================================================================================
observation             ``Box``: float32 ``[channels]``, or uint8 ``[planes, height, width]`` for an image
action                  ``Box`` float32 ``[channels]``, or ``Discrete``
``terminated``          the environment's own success or failure
``truncated``           the horizon, or a simulator that broke
``info["label"]``       whether the anomaly was active in this step
``info["end"]``         in the last step: ``succeeded``, ``failed``, ``ended``, ``timed_out`` or ``diverged``
``info["is_success"]``  in the last step, where the environment defines success
``info["onset"]``       after a reset: the first anomalous step, where there is an anomaly
======================  ==================================================================================

The episode of ``reset(seed=s)`` is, bit for bit, the one that the engine plays from the seed ``s``.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._anomaly_spec import Channels, Onset, wanted
from offnominal._json import as_json

#: Names whose capitals the id does not tell.
_CAPITALS = {"car-lanekeep": "CarLaneKeep", "cartpole": "CartPole"}

#: The task of ``car-lanekeep`` in CARLA, which is no environment of the engine.
_CARLA = "offnominal/CarlaLaneKeep-v0"


def environments() -> dict[str, str]:
    """Ids of all environments, with one line about each."""
    return dict(_engine.environments())


def anomalies() -> dict[str, str]:
    """Ids of all anomalies, with one line about each; ``dyn`` stands for ``dyn-<parameter>`` of each environment."""
    return dict(_engine.anomalies())


def gymnasium_id(environment: str) -> str:
    """The id under which an environment is registered: ``offnominal/CartpoleSwingup-v0`` is ``mjc-cartpole-swingup``."""
    camel = "".join(word.capitalize() for word in environment.removeprefix("mjc-").split("-"))
    return f"offnominal/{_CAPITALS.get(environment, camel)}-v0"


def register() -> None:
    """Registers every environment with Gymnasium, once; and the one that is CARLA's."""
    for environment in environments():
        if gymnasium_id(environment) not in gymnasium.registry:
            gymnasium.register(
                id=gymnasium_id(environment),
                entry_point="offnominal.envs:Environment",
                vector_entry_point="offnominal.vector:Environments",
                kwargs={"environment": environment},
            )
    if _CARLA not in gymnasium.registry:
        gymnasium.register(id=_CARLA, entry_point="offnominal.carla:LaneKeep", max_episode_steps=500)


def environment_id(name: str) -> str:
    """The environment's id, of either name."""
    return next((environment for environment in environments() if gymnasium_id(environment) == name), name)


def observation_space(spec: dict[str, Any], unbounded: bool = False) -> spaces.Box:
    """The space of an environment's observations; without bounds where an anomaly may go beyond them."""
    channels = spec["observation"]
    if len(channels) == 1 and channels[0].get("image"):
        image = channels[0]["image"]
        shape = (image["frames"] * image["planes"], image["height"], image["columns"])
        return spaces.Box(0, 255, shape, np.uint8)
    low, high = _bounds(channels)
    if unbounded:
        low, high = np.full_like(low, -np.inf), np.full_like(high, np.inf)
    return spaces.Box(low, high, dtype=np.float32)


def action_space(spec: dict[str, Any]) -> spaces.Space[Any]:
    """The space of an environment's commands."""
    choices = [channel.get("choices", 0) for channel in spec["action"]]
    if len(choices) == 1 and choices[0]:
        return spaces.Discrete(choices[0])
    if all(choices):
        return spaces.MultiDiscrete(choices)
    low, high = _bounds(spec["action"])
    return spaces.Box(low, high, dtype=np.float32)


def _bounds(channels: list[dict[str, Any]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    low = [-np.inf if channel["low"] is None else channel["low"] for channel in channels]
    high = [np.inf if channel["high"] is None else channel["high"] for channel in channels]
    return np.array(low, np.float32), np.array(high, np.float32)


class Environment(gymnasium.Env[NDArray[Any], Any], EzPickle):
    """One environment, with or without something that goes wrong.

    :param environment: id of the environment, such as ``sap-goal1``, or ``sap-goal1?noise=datasheet`` with nominal noise.
    :param anomaly: what goes wrong; ``Environment(...).anomalies()`` lists what applies.
    :param magnitude: how strong, in the anomaly's own unit.
    :param strength: or how strong as a calibrated level: ``tiny``, ``medium``, ``strong``, ``extreme``.
    :param policy: the shipped policy for which the strength is calibrated.
    :param channels: which channels are touched: ``all``, ``one`` drawn for each episode, or names and indices.
    :param onset: first anomalous step; ``random`` draws it uniformly from 2 to the horizon, so an episode may end before.
    :param window: steps after which the anomaly ends.
    :param intermittent: steps for which it comes, steps for which it goes.
    :param horizon: steps after which an episode is truncated; the environment's own if not given.
    :param options: options of the environment, such as the ``track`` of ``car-lanekeep``.
    :param render_mode: ``rgb_array``, or nothing.
    :param camera: name of the camera; the environment's first if not given.
    :param size: width and height of images in pixels.
    :raises ValueError: if a name or a number is wrong; the message says what was expected and found.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012
    _SMOOTH: ClassVar[int] = 2

    def __init__(
        self,
        environment: str,
        *,
        anomaly: str | None = None,
        magnitude: float | None = None,
        strength: str | None = None,
        policy: str = "tqc",
        channels: Channels | None = None,
        onset: Onset = "random",
        window: int | None = None,
        intermittent: tuple[int, int] | None = None,
        horizon: int | None = None,
        options: dict[str, Any] | None = None,
        render_mode: str | None = None,
        camera: str | None = None,
        size: int = 256,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        EzPickle.__init__(self, **given)
        anomaly_spec = wanted(
            {
                "anomaly": anomaly,
                "magnitude": magnitude,
                "strength": strength,
                "policy": policy,
                "channels": channels,
                "onset": onset,
                "window": window,
                "intermittent": intermittent,
            }
        )
        self._engine = _engine.Environment(environment_id(environment), as_json(options or {}), anomaly_spec, horizon)
        self.environment: dict[str, Any] = json.loads(self._engine.spec())
        self.observation_space = observation_space(self.environment, self._engine.disturbs_observations())
        self.action_space = action_space(self.environment)
        self._prepare_images(render_mode, camera, size)
        self._is_seeded = False

    def _prepare_images(self, render_mode: str | None, camera: str | None, size: int) -> None:
        cameras = self.environment["cameras"]
        modes = ["rgb_array"] if cameras else []
        self.metadata = {"render_modes": modes, "render_fps": max(1, round(1 / self.environment["dt_secs"]))}
        if render_mode is not None and render_mode not in modes:
            raise ValueError(f"render_mode: expected {modes or 'none'} in {self.environment['id']}, found {render_mode!r}")
        if camera is not None and camera not in cameras:
            raise ValueError(f"camera: expected one of {', '.join(cameras)}, found {camera!r}")
        if not 8 <= size <= 1024:
            raise ValueError(f"size: expected 8 to 1024 pixels, found {size}")
        self.render_mode = render_mode
        self._camera = camera or (cameras[0] if cameras else "")
        self._size = size

    @property
    def anomaly_spec(self) -> dict[str, Any] | None:
        """The recipe of the anomaly, its calibrated magnitude included; ``None`` without one."""
        found: dict[str, Any] | None = json.loads(self._engine.anomaly_spec())
        return found

    @property
    def horizon(self) -> int:
        """Steps after which an episode is truncated."""
        return self._engine.horizon

    def anomalies(self) -> list[str]:
        """Ids of the anomalies that apply to this environment."""
        return self._engine.anomalies()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begins the episode of a seed, or the next one.

        :param options: ``{"initial": x}`` begins at that initial condition (names in ``environment["initial"]``).
        """
        super().reset(seed=seed)
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**63))
        self._is_seeded = True
        initial = (options or {}).get("initial")
        obs = self._engine.start(seed, None if initial is None else [float(x) for x in initial])
        onset = self._engine.onset
        return obs, {} if onset is None else {"onset": onset}

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Takes a step."""
        return self._engine.step(action)

    def render(self) -> Any:
        """Colours of the current state, uint8 ``[size, size, 3]``; ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        return self._engine.render(self._camera, self._size, self._size, self._SMOOTH)

    def set_parameter(self, name: str, value: float) -> None:
        """Changes a physical quantity of the episode in progress; the next episode is nominal again.

        :raises ValueError: if there is no such parameter, or the value is outside its physical range.
        """
        self._engine.set_parameter(name, value)
