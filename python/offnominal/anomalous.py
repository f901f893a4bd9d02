"""Anomalies around anybody's Gymnasium environment."""

from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._anomaly_spec import AnomalySpec, Channels, Onset, wanted
from offnominal._border import Border as _Border
from offnominal._border import is_image as _is_image
from offnominal._json import as_json, plain
from offnominal._mujoco import Mujoco

#: What sets a physical quantity of an environment: ``setter(env, name, value)``.
Setter = Callable[[Any, str, float], None]

#: A parameter: its nominal value, the smallest and the largest.
Range = tuple[float, float, float]

#: Steps of an episode where nothing tells them.
_HORIZON = 1000

#: Ends of the ids of anomalies that take a number as it is, and not how far it is from another.
_ABSOLUTE = ("-scaling", "-quantization")


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

    Numbers that float32 holds only in part, such as a position of float64, are disturbed relative to where the episode began.
    What is not disturbed keeps its bits, and whole numbers are rounded and stay within their space. A copy, also one that was
    pickled, begins with :meth:`reset`.

    :param env: with a ``Box`` of observations, and a ``Box``, ``Discrete`` or ``MultiDiscrete`` of commands.
    :param anomaly: what goes wrong: an id of ``offnominal.anomalies()``.
    :param magnitude: how strong, in the anomaly's own unit.
    :param channels: ``all``, ``one`` drawn for each episode, or indices, each once.
    :param onset: first anomalous step; ``random`` draws it uniformly from 2 to the horizon.
    :param window: steps after which the anomaly ends.
    :param intermittent: steps for which it comes, steps for which it goes.
    :param horizon: steps that an episode can have; of the environment's spec and its ``TimeLimit`` if not given. Where neither
        tells, 1000 are assumed, with a warning if the onset is random.
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
        given = {
            "anomaly": anomaly, "magnitude": plain(magnitude), "channels": plain(channels), "onset": plain(onset),
            "window": plain(window), "intermittent": intermittent,
        }  # fmt: skip
        RecordConstructorArgs.__init__(self, **given, horizon=plain(horizon), setter=setter, parameters=parameters)
        gymnasium.Wrapper.__init__(self, env)
        self._set, self._nominal = _setter(env, setter, parameters)
        self._spec = _spec(env, plain(horizon) or _horizon(env, onset), self._nominal)
        self._wanted = wanted(cast(AnomalySpec, given))
        root = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._engine = self._around((root, 0))
        is_relative = not anomaly.endswith(_ABSOLUTE)
        self._command = _Border(env.action_space, env.action_space, is_relative)
        if self._engine.disturbs_observations() and env.observation_space.dtype != np.uint8:
            shape, dtype = env.observation_space.shape, env.observation_space.dtype
            self.observation_space = spaces.Box(-np.inf, np.inf, shape, dtype.type if dtype else np.float32)
        self._seen = _Border(env.observation_space, self.observation_space, is_relative)
        self._given: Any = None
        self._true: tuple[Any, ...] = ()

    def _around(self, seeds: tuple[int, int]) -> _engine.Around:
        return _engine.Around(as_json(self._spec), self._wanted, seeds, self._step, self._change)

    def __getstate__(self) -> dict[str, Any]:
        """Without the engine, whose episode in progress cannot be copied."""
        return {**self.__dict__, "_engine": self._engine.seeds()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._engine = self._around(state["_engine"])

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
        self._command.begin()
        self._seen.begin()
        onset = self._engine.start(seed, self._seen.sent(obs))
        return obs, {**info, "onset": onset, **self._diverged()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Takes a step."""
        self._given = action
        seen, label = self._engine.step(self._command.sent(action))
        obs, reward, terminated, truncated, info = self._true
        if label and self._engine.disturbs_observations():
            obs = self._seen.back(seen)
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
        is_same = np.array_equal(command, self._command.last)
        self._true = tuple(self.env.step(self._given if is_same else self._command.back(command)))
        return self._seen.sent(self._true[0]), float(self._true[1])

    def _change(self, name: str, value: float) -> None:
        """Called by the engine: a parameter changes."""
        self._set(self.env.unwrapped, name, value)


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


def _horizon(env: gymnasium.Env[Any, Any], onset: Onset) -> int:
    """Steps after which an episode ends at the latest: the smallest limit that there is."""
    limits = [getattr(env.spec, "max_episode_steps", None), getattr(env.unwrapped, "horizon", None)]
    inner: Any = env
    while isinstance(inner, gymnasium.Wrapper):
        limits.append(getattr(inner, "_max_episode_steps", None) if isinstance(inner, TimeLimit) else None)
        inner = inner.env
    known = [int(limit) for limit in limits if limit is not None and limit > 0]
    if not known and onset == "random":
        warnings.warn(
            f"horizon: expected the steps of an episode, found neither a spec nor a TimeLimit that tells them; the onset is drawn "
            f"from {_HORIZON}, and episodes that end before it hold no anomaly",
            stacklevel=3,
        )
    return min(known, default=_HORIZON)


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
