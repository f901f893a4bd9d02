"""Anomalies around anybody's Gymnasium environment."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._anomaly_spec import Channels, Onset, wanted
from offnominal._mujoco import Mujoco

#: What sets a physical quantity of an environment: ``setter(env, name, value)``.
Setter = Callable[[Any, str, float], None]

#: A parameter: its nominal value, the smallest and the largest.
Range = tuple[float, float, float]

#: Steps of an episode where nothing tells them.
_HORIZON = 1000


class Anomalous(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Any Gymnasium environment with something that goes wrong, as in the engine's own environments.

    Observation and command anomalies need nothing else. For ``dyn-<parameter>`` the environment must be one of
    Gymnasium's MuJoCo environments, whose ``mass``, ``friction`` and ``damping`` are factors and whose ``force`` is in
    newtons along x on the first body; or it has ``PARAMETERS`` and ``set_parameter(name, value)``; or ``setter`` and
    ``parameters`` say how a quantity is changed.

    Until the onset, observations, commands and rewards are those of the wrapped environment, untouched.
    ``info["label"]`` says whether the anomaly was active. The wrapper is a part of the environment's spec.

    An episode with an observation, a reward or a return that is not finite is truncated: ``info["end"]`` is ``diverged``, and
    ``info["diverged"]`` says why. Channels are named by ``metadata["observation_names"]`` and ``metadata["action_names"]``,
    where the environment has them.

    :param env: with a ``Box`` of observations, and a ``Box``, ``Discrete`` or ``MultiDiscrete`` of commands.
    :param anomaly: what goes wrong: an id of ``offnominal.anomalies()``.
    :param magnitude: how strong, in the anomaly's own unit.
    :param channels: ``all``, ``one`` drawn for each episode, or indices.
    :param onset: first anomalous step; ``random`` draws it uniformly from 2 to the horizon.
    :param window: steps after which the anomaly ends.
    :param intermittent: steps for which it comes, steps for which it goes.
    :param horizon: steps that an episode can have; of the environment's spec if not given.
    :param setter: ``setter(env, name, value)``, or where it is, as ``module:name``, which a spec can hold.
    :param parameters: nominal value, smallest and largest value of each quantity that the setter sets.
    :raises ValueError: if a name or a number is wrong, or the anomaly does not fit the environment.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        anomaly: str,
        magnitude: float,
        *,
        channels: Channels | None = None,
        onset: Onset = "random",
        window: int | None = None,
        intermittent: tuple[int, int] | None = None,
        horizon: int | None = None,
        setter: Setter | str | None = None,
        parameters: Mapping[str, Range] | None = None,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            anomaly=anomaly,
            magnitude=magnitude,
            channels=channels,
            onset=onset,
            window=window,
            intermittent=intermittent,
            horizon=horizon,
            setter=setter,
            parameters=parameters,
        )
        gymnasium.Wrapper.__init__(self, env)
        self._set, self._nominal = _setter(env, setter, parameters)
        anomaly_spec = wanted(
            {
                "anomaly": anomaly,
                "magnitude": magnitude,
                "channels": channels,
                "onset": onset,
                "window": window,
                "intermittent": intermittent,
            }
        )
        spec = _spec(env, horizon or _horizon(env), self._nominal)
        root = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._engine = _engine.Around(json.dumps(spec), anomaly_spec, root, self._step, self._change)
        if self._engine.disturbs_observations() and env.observation_space.dtype != np.uint8:
            shape, dtype = env.observation_space.shape, env.observation_space.dtype
            self.observation_space = spaces.Box(-np.inf, np.inf, shape, dtype.type if dtype else np.float32)
        self._given: Any = None
        self._true: tuple[Any, ...] = ()

    @property
    def anomaly_spec(self) -> dict[str, Any]:
        """The recipe of the anomaly."""
        found: dict[str, Any] = json.loads(self._engine.anomaly_spec())
        return found

    def anomalies(self) -> list[str]:
        """Ids of the anomalies that apply to this environment."""
        return self._engine.anomalies()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in which nothing is wrong yet."""
        for name, (nominal, _, _) in self._nominal.items():
            self._change(name, nominal)
        obs, info = self.env.reset(seed=seed, options=options)
        onset = self._engine.start(seed, self._flat(obs))
        return obs, {**info, "onset": onset, **self._diverged()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Takes a step."""
        self._given = action
        seen, label = self._engine.step(self._numbers(action))
        obs, reward, terminated, truncated, info = self._true
        if label and self._engine.disturbs_observations():
            obs = self._shaped(seen)
        diverged = self._diverged()
        if diverged:
            # Such an episode is cut, not ended: nothing is known of the state it was in.
            terminated, truncated = False, True
        return obs, reward, terminated, truncated, {**info, "label": label, **diverged}

    def _diverged(self) -> dict[str, Any]:
        """What ``info`` says of an episode with a number that is not finite."""
        why = self._engine.diverged()
        return {"end": "diverged", "diverged": why} if why else {}

    def _step(self, command: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
        """Called by the engine: the true environment under the command that reaches it."""
        is_same = np.array_equal(command, self._numbers(self._given))
        action = self._given if is_same else self._command(command)
        self._true = tuple(self.env.step(action))
        return self._flat(self._true[0]), float(self._true[1])

    def _change(self, name: str, value: float) -> None:
        """Called by the engine: a parameter changes."""
        self._set(self.env.unwrapped, name, value)

    def _numbers(self, action: Any) -> NDArray[np.float32]:
        """A command as the engine has it: choices begin at 0."""
        first = getattr(self.env.action_space, "start", 0)
        return np.atleast_1d(np.asarray(action) - first).astype(np.float32).ravel()

    def _command(self, command: NDArray[np.float32]) -> Any:
        space = self.env.action_space
        if isinstance(space, spaces.Discrete):
            return int(np.clip(np.rint(command[0]), 0, space.n - 1)) + int(space.start)
        if isinstance(space, spaces.MultiDiscrete):
            return np.clip(np.rint(command), 0, space.nvec.ravel() - 1).astype(space.dtype).reshape(space.shape)
        return command.astype(space.dtype).reshape(space.shape or ())

    def _flat(self, obs: Any) -> NDArray[np.float32]:
        array = np.asarray(obs)
        if _is_image(array.shape, array.dtype) and array.ndim == 3:
            array = np.moveaxis(array, -1, 0)
        return np.ascontiguousarray(array, np.float32).ravel()

    def _shaped(self, seen: NDArray[np.float32]) -> Any:
        space = self.env.observation_space
        shape, dtype = space.shape or (), np.dtype(space.dtype)
        if not _is_image(shape, dtype):
            return seen.astype(dtype).reshape(shape)
        planes = seen.reshape((shape[-1], *shape[:-1])) if len(shape) == 3 else seen.reshape(shape)
        image = np.moveaxis(planes, 0, -1) if len(shape) == 3 else planes
        return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def _setter(
    env: gymnasium.Env[Any, Any], setter: Setter | str | None, parameters: Mapping[str, Range] | None
) -> tuple[Setter, dict[str, Range]]:
    """What sets parameters, and which there are."""
    if setter is None and parameters is None:
        if Mujoco.fits(env.unwrapped):
            own = Mujoco(env.unwrapped)
            return own, dict(Mujoco.PARAMETERS)
        if hasattr(env.unwrapped, "PARAMETERS") and hasattr(env.unwrapped, "set_parameter"):
            return _own, dict(env.unwrapped.PARAMETERS)
        return _nothing, {}
    if setter is None or parameters is None:
        raise ValueError("expected setter and parameters together, found one of them")
    if isinstance(setter, str):
        module, _, name = setter.partition(":")
        setter = getattr(importlib.import_module(module), name)
    for name, (nominal, low, high) in parameters.items():
        if not low <= nominal <= high:
            raise ValueError(f"parameters: {name}: expected low <= nominal <= high, found {low}, {nominal}, {high}")
    assert callable(setter)
    return setter, dict(parameters)


def _own(env: Any, name: str, value: float) -> None:
    """The environment sets its parameters itself."""
    env.set_parameter(name, value)


def _nothing(env: Any, name: str, value: float) -> None:
    """There is no parameter to be set."""


def _horizon(env: gymnasium.Env[Any, Any]) -> int:
    return getattr(env.spec, "max_episode_steps", None) or getattr(env.unwrapped, "horizon", None) or _HORIZON


def _is_image(shape: tuple[int, ...] | None, dtype: Any) -> bool:
    return dtype == np.uint8 and shape is not None and len(shape) in (2, 3)


def _spec(env: gymnasium.Env[Any, Any], horizon: int, parameters: Mapping[str, Range]) -> dict[str, Any]:
    """The environment as the engine describes one."""
    return {
        "id": env.spec.id if env.spec else type(env.unwrapped).__name__,
        "summary": "",
        "source": "",
        "observation": _named(_observation(env.observation_space), env, "observation_names"),
        "action": _named(_action(env.action_space), env, "action_names"),
        "dt_secs": 1.0,
        "horizon": horizon,
        "parameters": [
            {"name": name, "meaning": "", "unit": "1", "nominal": nominal, "low": low, "high": high}
            for name, (nominal, low, high) in parameters.items()
        ],
        "initial": [],
        "reward": "",
        "reset": "",
        "success": "",
        "classes": [],
        "cameras": [],
    }


#: Bounds of a channel without any: JSON has no infinity.
_FAR = 3e38


def _channel(name: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    bounds = {"low": max(float(low), -_FAR), "high": min(float(high), _FAR)}
    return {"name": name, "meaning": "", "unit": "1", **bounds, **more}


def _named(channels: list[dict[str, Any]], env: gymnasium.Env[Any, Any], key: str) -> list[dict[str, Any]]:
    """The channels with the names that the environment's metadata give them, if they do."""
    names = (env.unwrapped.metadata or {}).get(key)
    if names is None or any("image" in channel for channel in channels):
        return channels
    if len(names) != len(channels):
        raise ValueError(f"metadata[{key!r}]: expected {len(channels)} names, found {len(names)}: {', '.join(names)}")
    return [{**channel, "name": str(name)} for channel, name in zip(channels, names)]


def _observation(space: spaces.Space[Any]) -> list[dict[str, Any]]:
    if not isinstance(space, spaces.Box):
        raise ValueError(f"observation space: expected a Box, found {space}")
    if _is_image(space.shape, space.dtype):
        height, width, *planes = space.shape
        image = {"frames": 1, "planes": planes[0] if planes else 1, "height": height, "columns": width}
        return [_channel("image", 0, 255, image=image)]
    bounds = zip(space.low.ravel(), space.high.ravel())
    return [_channel(f"o{i}", low, high) for i, (low, high) in enumerate(bounds)]


def _action(space: spaces.Space[Any]) -> list[dict[str, Any]]:
    if isinstance(space, spaces.Discrete):
        return [_channel("choice", 0, space.n - 1, choices=int(space.n))]
    if isinstance(space, spaces.MultiDiscrete):
        return [_channel(f"choice{i}", 0, n - 1, choices=int(n)) for i, n in enumerate(space.nvec.ravel())]
    if isinstance(space, spaces.Box):
        bounds = zip(space.low.ravel(), space.high.ravel())
        return [_channel(f"a{i}", low, high) for i, (low, high) in enumerate(bounds)]
    raise ValueError(f"action space: expected Box, Discrete or MultiDiscrete, found {space}")
