"""Anomalies around anybody's Gymnasium environment."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from offnominal._anomaly_spec import Channels, Onset
from offnominal._described import Range
from offnominal._json import plain
from offnominal._mujoco import Mujoco
from offnominal.faults import Faults

#: What sets a physical quantity of an environment: ``setter(env, name, value)``.
Setter = Callable[[Any, str, float], None]

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

    Numbers that float32 holds only in part, such as a position of float64, are disturbed relative to where the episode began.
    What is not disturbed keeps its bits, and whole numbers are rounded and stay within their space. A copy, also one that was
    pickled, begins with :meth:`reset`.

    :param env: with a ``Box`` of observations, and a ``Box``, ``Discrete`` or ``MultiDiscrete`` of commands.
    :param anomaly: what goes wrong: an id of ``offnominal.anomalies()``, or several at once, as ``obs-offset=0.5+act-delay=3``.
    :param magnitude: how strong, in the anomaly's own unit; not with several.
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
        magnitude: float | None = None,
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
        self._sets, known = setter_of(env, setter, parameters)
        horizon = plain(horizon) or horizon_of(env, onset)
        self._faults = Faults(
            1, env.observation_space, env.action_space, **given, horizon=horizon, parameters=known, set=self._change,
            id=_id(env), metadata=env.unwrapped.metadata or {},
        )  # fmt: skip
        if self._faults.single_observation_space is not env.observation_space:
            self.observation_space = self._faults.single_observation_space

    @property
    def anomaly_spec(self) -> dict[str, Any]:
        """The recipe of the anomaly."""
        return self._faults.anomaly_spec

    def anomalies(self) -> list[str]:
        """Ids of the anomalies that apply to this environment."""
        return self._faults.anomalies()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in which nothing is wrong yet."""
        self._faults.end()
        obs, info = self.env.reset(seed=seed, options=options)
        self._faults.begin(np.asarray(obs)[None], seeds=[seed])
        return obs, {**info, "onset": int(self._faults.onsets[0]), **self._diverged()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Takes a step."""
        if not self._faults.begun[0]:
            raise ValueError("expected reset() before step()")
        if self._faults.diverged:
            raise ValueError("expected reset() before step(): the episode diverged")
        given = np.asarray(action)[None]
        reaching = self._faults.act(given)
        obs, reward, terminated, truncated, info = self.env.step(action if reaching is given else _one(reaching))
        true = np.asarray(obs)[None]
        seen = self._faults.see(true, np.asarray([reward], np.float64))
        diverged = self._diverged()
        if diverged:
            # Such an episode is cut, not ended: nothing is known of the state it was in.
            terminated, truncated = False, True
        obs, label = obs if seen is true else seen[0], bool(self._faults.active[0])
        return obs, reward, terminated, truncated, {**info, "label": label, **diverged}

    def _diverged(self) -> dict[str, Any]:
        """What ``info`` says of an episode with a number that is not finite."""
        why = self._faults.diverged.get(0)
        return {"end": "diverged", "diverged": why} if why else {}

    def _change(self, name: str, value: float, _: int) -> None:
        """Called by the engine: a parameter changes."""
        self._sets(self.env.unwrapped, name, value)


def _one(rows: NDArray[Any]) -> Any:
    """The command of the only simulator: a choice is a number of Python."""
    return int(rows[0]) if rows.ndim == 1 and rows.dtype.kind == "i" else rows[0]


def _id(env: Any) -> str:
    """What an environment is called."""
    return env.spec.id if env.spec else type(env.unwrapped).__name__


def setter_of(
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


def horizon_of(env: Any, onset: Any) -> int:
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
