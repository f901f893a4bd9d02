"""A fault in each of many simulators, whoever steps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._anomaly_spec import Channels, Onset, wanted
from offnominal._border import Border
from offnominal._described import Range, described
from offnominal._json import as_json, plain
from offnominal._libraries import as_before, as_numpy

#: What sets a parameter of one simulator: ``set(name, value, number of the simulator)``.
Set = Callable[[str, float, int], None]

#: Ends of the ids of anomalies that take a number as it is, and not how far it is from another.
_ABSOLUTE = ("-scaling", "-quantization")

#: Ends of the ids of those that bring a number again.
_REPEATING = ("-delay", "-stuck", "-dropout")


class Faults:
    """The same fault in each of ``num_envs`` simulators, with an onset and random numbers of its own.

    For any loop that steps simulators at once: :meth:`begin` with the first observations, then in each step :meth:`act` before
    and :meth:`see` after. Arrays may be those of NumPy, PyTorch, JAX or any other library of the array API standard; what
    comes back is of the same library, type and device, and is the same object where nothing was changed. Simulator ``i`` has
    the bits of :class:`offnominal.Anomalous` around that simulator alone.

    :param num_envs: how many simulators.
    :param observation_space: the ``Box`` of one simulator's observations.
    :param action_space: the ``Box``, ``Discrete`` or ``MultiDiscrete`` of one simulator's commands.
    :param anomaly: what goes wrong: an id of ``offnominal.anomalies()``, or several at once, as ``obs-offset=0.5+act-delay=3``.
    :param magnitude: how strong, in the anomaly's own unit.
    :param channels: ``all``, ``one`` drawn for each episode, or indices, each once.
    :param onset: first anomalous step; ``random`` draws it uniformly from 2 to the horizon; a list has one for each simulator.
    :param window: steps after which the anomaly ends.
    :param intermittent: steps for which it comes, steps for which it goes.
    :param horizon: steps that an episode can have.
    :param parameters: nominal value, smallest and largest value of each quantity that ``set`` sets.
    :param set: ``set(name, value, i)`` sets a quantity of the simulator ``i``; called for ``dyn-<parameter>``.
    :param id: what errors call the environment.
    :param metadata: ``observation_names`` and ``action_names`` name channels.
    :raises ValueError: if a name or a number is wrong, or the anomaly does not fit such simulators.
    """

    def __init__(
        self,
        num_envs: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        anomaly: str,
        magnitude: float | None = None,
        *,
        channels: Channels | None = None,
        onset: Onset | Sequence[int] = "random",
        window: int | None = None,
        intermittent: tuple[int, int] | None = None,
        horizon: int,
        parameters: Mapping[str, Range] | None = None,
        set: Set | None = None,
        id: str = "simulator",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs: expected at least 1, found {num_envs}")
        self.num_envs, self._set = num_envs, set or _nothing
        self._nominal = {name: nominal for name, (nominal, _, _) in (parameters or {}).items()}
        self._spec = as_json(
            described(id, observation_space, action_space, horizon, parameters or {}, metadata or {})
        )
        self._onsets, one = _onsets(onset, num_envs, horizon)
        self._wanted = wanted(
            {
                "anomaly": anomaly, "magnitude": plain(magnitude), "channels": plain(channels), "onset": one,
                "window": plain(window), "intermittent": intermittent,
            }
        )  # fmt: skip
        roots = np.random.SeedSequence().generate_state(num_envs, np.uint64)
        self._engine = self._made([(int(root), 0) for root in roots])
        ids = self.ids
        is_relative = not any(id.endswith(_ABSOLUTE) for id in ids)
        repeats = any(id.endswith(_REPEATING) for id in ids)
        #: What the observations of one simulator are of, which a fault may carry beyond the bounds.
        self.single_observation_space = observation_space
        if self._engine.disturbs_observations() and observation_space.dtype != np.uint8:
            dtype = np.dtype(observation_space.dtype).type
            self.single_observation_space = spaces.Box(-np.inf, np.inf, observation_space.shape, dtype)
        self._is_seen = self._engine.disturbs_observations()
        self._actions = Border(action_space, action_space, is_relative, repeats, num_envs)
        wider = self.single_observation_space
        self._observations = Border(observation_space, wider, is_relative, repeats, num_envs)
        #: In which simulators an episode has begun.
        self.begun = np.zeros(num_envs, np.bool_)

    def _made(self, seeds: list[tuple[int, int]]) -> _engine.Faults:
        return _engine.Faults(self._spec, self._wanted, seeds, self._onsets, self._set)

    def __getstate__(self) -> dict[str, Any]:
        """Without the engine, whose episodes in progress cannot be copied."""
        return {**self.__dict__, "_engine": self._engine.seeds(), "begun": np.zeros(self.num_envs, np.bool_)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._engine = self._made(state["_engine"])

    @property
    def anomaly_spec(self) -> dict[str, Any]:
        """The recipe of the anomaly."""
        found: dict[str, Any] = json.loads(self._engine.anomaly_spec())
        return found

    @property
    def ids(self) -> list[str]:
        """What goes wrong at the same time: mostly one anomaly."""
        return str(self.anomaly_spec["anomaly"]).split("+")

    def anomalies(self) -> list[str]:
        """Ids of the anomalies that apply to such simulators."""
        return self._engine.anomalies()

    def begin(
        self, observations: Any, where: NDArray[np.bool_] | None = None, seeds: Sequence[int | None] | None = None
    ) -> None:
        """Begins episodes.

        :param observations: the first ones, of shape ``(num_envs, ...)``; those of other simulators are not looked at.
        :param where: in which simulators; in all, if not given.
        :param seeds: of the onset and the random numbers, one for each simulator; the next of each, if not given.
        """
        rows = np.flatnonzero(np.ones(self.num_envs, np.bool_) if where is None else self._mask(where))
        given = [None] * self.num_envs if seeds is None else list(seeds)
        if len(given) != self.num_envs:
            raise ValueError(f"seeds: expected {self.num_envs}, found {len(given)}")
        self.end(where)
        at = rows.tolist()
        self._actions.begin(at)
        self._observations.begin(at)
        self._engine.begin(at, [given[i] for i in at], self._observations.sent(as_numpy(observations)))
        self.begun[rows] = True

    def end(self, where: NDArray[np.bool_] | None = None) -> None:
        """Sets every parameter back to its nominal value, before simulators are reset."""
        for i in np.flatnonzero(np.ones(self.num_envs, np.bool_) if where is None else self._mask(where)):
            for name, nominal in self._nominal.items():
                self._set(name, nominal, int(i))

    def act(self, actions: Any, running: NDArray[np.bool_] | None = None) -> Any:
        """The commands that reach the simulators.

        :param actions: those of the policy, of shape ``(num_envs, ...)``.
        :param running: which simulators take the step; all, if not given. What of others is given comes back as it is.
        """
        running = None if running is None else self._mask(running)
        waiting = ~self.begun if running is None else running & ~self.begun
        if waiting.any():
            raise ValueError(f"expected begin() before act() in simulator {int(np.flatnonzero(waiting)[0])}")
        sent = self._actions.sent(as_numpy(actions))
        reaching = self._engine.act(sent, running)
        return actions if np.array_equal(reaching, sent) else as_before(self._actions.back(reaching), actions)

    def see(self, observations: Any, rewards: Any) -> Any:
        """The observations after the step, as policies read them.

        :param observations: those of the simulators, of shape ``(num_envs, ...)``.
        :param rewards: of the step, of shape ``(num_envs,)``; what is not finite ends an episode as diverged.
        """
        sent = self._observations.sent(as_numpy(observations))
        seen = self._engine.see(sent, as_numpy(rewards))
        if not (self._is_seen and self._engine.active().any()):
            return observations
        return as_before(self._observations.back(seen), observations)

    @property
    def onsets(self) -> NDArray[np.int64]:
        """The first anomalous step of each episode."""
        return self._engine.onsets()

    @property
    def active(self) -> NDArray[np.bool_]:
        """In which simulators the fault was active in the last step."""
        return self._engine.active()

    @property
    def diverged(self) -> dict[int, str]:
        """The simulators in which a number was not finite, each with the reason; nothing is disturbed there any longer."""
        return dict(self._engine.diverged())

    def _mask(self, given: NDArray[np.bool_]) -> NDArray[np.bool_]:
        mask = as_numpy(given)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ValueError(f"expected {self.num_envs} booleans, found {mask.dtype} of shape {mask.shape}")
        return mask


def _nothing(name: str, value: float, i: int) -> None:
    """There is no parameter to be set."""


def _onsets(onset: Onset | Sequence[int], n: int, horizon: int) -> tuple[list[int] | None, Onset]:
    """The onset of each simulator, if each has its own; else that of all."""
    if isinstance(onset, str) or np.ndim(onset) == 0:
        return None, plain(onset)
    onsets = np.asarray(onset)
    if onsets.shape != (n,) or onsets.dtype.kind not in "iu" or not ((onsets >= 0) & (onsets < horizon)).all():
        raise ValueError(f"onset: expected {n} steps before {horizon}, found {onsets.tolist()} (whole numbers are needed)")
    return onsets.tolist(), 0
