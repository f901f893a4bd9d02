"""Anomalies around anybody's Gymnasium vector environment."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from offnominal._anomaly_spec import Channels, Onset
from offnominal._described import Range
from offnominal._json import plain
from offnominal.anomalous import horizon_of, setter_of
from offnominal.faults import Faults

#: What sets a physical quantity in one of the environments: ``setter(envs, name, value, i)``.
VectorSetter = Callable[[Any, str, float, int], None]


class AnomalousVector(VectorWrapper[Any, Any, Any, Any, Any], RecordConstructorArgs):
    """Any Gymnasium vector environment in which something goes wrong: in each environment as :class:`Anomalous` does it there.

    Environment ``i`` of ``reset(seed=s)`` has the fault of ``Anomalous`` with the seed ``s + i``. ``info["label"]`` says in which
    environments the anomaly was active, ``info["onset"]`` where it begins. A number that is not finite ends the disturbance
    until the environment is reset; ``info["diverged"]`` says why. Nothing is truncated for it, as only the environments
    themselves reset what is truncated.

    For ``dyn-<parameter>`` the environments must be those of a ``SyncVectorEnv`` and fit :class:`Anomalous`, or ``setter`` and
    ``parameters`` say how a quantity is changed. A parameter is set back when an episode ends; where the same step also resets
    the environment (``SAME_STEP``), after that.

    :param env: with a ``Box`` of observations, and ``Box``, ``Discrete`` or ``MultiDiscrete`` commands.
    :param onset: first anomalous step; ``random`` draws it uniformly from 2 to the horizon; a list has one for each environment.
    :param setter: ``setter(envs, name, value, i)`` sets a quantity of environment ``i``.
    :param parameters: nominal value, smallest and largest value of each quantity that the setter sets.

    The other parameters are those of :class:`Anomalous`.

    :raises ValueError: if a name or a number is wrong, or the anomaly does not fit the environments.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        anomaly: str,
        magnitude: float | None = None,
        *,
        channels: Channels | None = None,
        onset: Onset | Sequence[int] = "random",
        window: int | None = None,
        intermittent: tuple[int, int] | None = None,
        horizon: int | None = None,
        setter: VectorSetter | None = None,
        parameters: Mapping[str, Range] | None = None,
    ) -> None:
        given = {
            "anomaly": anomaly, "magnitude": plain(magnitude), "channels": plain(channels), "onset": plain(onset),
            "window": plain(window), "intermittent": intermittent,
        }  # fmt: skip
        RecordConstructorArgs.__init__(self, **given, horizon=plain(horizon), setter=setter, parameters=parameters)
        VectorWrapper.__init__(self, env)
        self._sets, known = _setter(env, setter, parameters)
        one = env.envs[0] if hasattr(env, "envs") else env
        self._faults = Faults(
            env.num_envs, env.single_observation_space, env.single_action_space, **given, parameters=known, set=self._sets,
            horizon=plain(horizon) or horizon_of(one, onset), id=str(getattr(env.spec, "id", "environments")),
            metadata=one.metadata or {},
        )  # fmt: skip
        if self._faults.single_observation_space is not env.single_observation_space:
            self.single_observation_space = self._faults.single_observation_space
            self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        #: How environments begin anew.
        self.autoreset_mode = _autoreset(env)
        #: In which environments the episode is over, and the next one has not begun.
        self._over = np.zeros(env.num_envs, np.bool_)

    @property
    def anomaly_spec(self) -> dict[str, Any]:
        """The recipe of the anomaly."""
        return self._faults.anomaly_spec

    @property
    def onsets(self) -> NDArray[np.int64]:
        """The first anomalous step of the episode of each environment."""
        return self._faults.onsets

    def anomalies(self) -> list[str]:
        """Ids of the anomalies that apply to these environments."""
        return self._faults.anomalies()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes in all environments, or in those of ``options["reset_mask"]``, in which nothing is wrong yet."""
        where = (options or {}).get("reset_mask")
        self._faults.end(where)
        obs, info = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._faults.begin(obs, where, _seeds(seed, self.num_envs))
        self._over[slice(None) if where is None else where] = False
        return obs, self._told(info)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes a step in every environment."""
        if not self._faults.begun.all():
            raise ValueError("expected reset() before step()")
        over = self._over
        reaching = self._faults.act(actions, ~over)
        obs, rewards, terminated, truncated, info = self.env.step(reaching)
        done = np.asarray(terminated | truncated)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and done.any():
            seen, told = self._same_step(obs, rewards, info, done)
            return seen, rewards, terminated, truncated, told
        seen = self._faults.see(obs, rewards)
        told = self._told(info)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and over.any():
            self._faults.begin(obs, over)
        if done.any():
            self._faults.end(done)
        self._over = done if self.autoreset_mode == AutoresetMode.NEXT_STEP else over | done
        return seen, rewards, terminated, truncated, told

    def _same_step(
        self, obs: Any, rewards: Any, info: dict[str, Any], done: NDArray[np.bool_]
    ) -> tuple[Any, dict[str, Any]]:
        """The observations of a step in which episodes ended and others began; the last ones stand in ``final_obs``."""
        if "final_obs" not in info:
            raise ValueError("info: expected `final_obs`, as the same step begins the next episode, found " + ", ".join(info))
        rows, last = np.flatnonzero(done), np.array(obs)
        for i in rows:
            last[i] = info["final_obs"][i]
        seen = np.array(self._faults.see(last, rewards))
        for i in rows:
            info["final_obs"][i] = seen[i].copy()
        seen[done] = obs[done]
        told = self._told(info)
        self._faults.begin(obs, done)
        return seen, told

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        """What is known of the fault, in the form that Gymnasium has for many environments."""
        everywhere = np.ones(self.num_envs, np.bool_)
        told = {**info, "label": self._faults.active, "onset": self._faults.onsets}
        told |= {"_label": everywhere, "_onset": everywhere.copy()}
        if diverged := self._faults.diverged:
            reasons = np.array([diverged.get(i) for i in range(self.num_envs)], object)
            told |= {"diverged": reasons, "_diverged": reasons != None}  # noqa: E711
        return told


def _autoreset(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    """How environments begin anew; Gymnasium's default where they do not say it, with a warning."""
    mode = (env.metadata or {}).get("autoreset_mode")
    if mode is None:
        warnings.warn("metadata: expected `autoreset_mode`, found none; NEXT_STEP is assumed, as Gymnasium does", stacklevel=3)
    return AutoresetMode.NEXT_STEP if mode is None else AutoresetMode(mode)


def _seeds(seed: int | Sequence[int | None] | None, n: int) -> list[int | None] | None:
    """A seed for each environment, as Gymnasium gives them."""
    if seed is None:
        return None
    return [seed + i for i in range(n)] if isinstance(seed, int) else list(seed)


def _setter(
    env: Any, setter: VectorSetter | None, parameters: Mapping[str, Range] | None
) -> tuple[Callable[[str, float, int], None], Mapping[str, Range]]:
    """What sets parameters by the number of the environment, and which there are."""
    if setter is not None and parameters is not None:
        return lambda name, value, i: setter(env, name, value, i), parameters
    if setter is not None or parameters is not None:
        raise ValueError("expected setter and parameters together, found one of them")
    ones = getattr(env, "envs", [])
    own = [setter_of(one, None, None) for one in ones]
    if not own:
        return lambda name, value, i: None, {}
    other = next((i for i, (_, known) in enumerate(own) if known != own[0][1]), None)
    if other is not None:
        raise ValueError(
            f"parameters: expected those of environment 0 in each, {', '.join(own[0][1]) or 'none'}, found "
            f"{', '.join(own[other][1]) or 'none'} in environment {other}; give setter and parameters"
        )
    return lambda name, value, i: own[i][0](ones[i].unwrapped, name, value), own[0][1]
