"""Monitors with their thresholds: files that ``offnominal fit`` writes, and :func:`fit` here.

A file holds the fitted detector, the rule that set the threshold and what the rule promises; ``docs/explanations/alarms.md`` explains
the rules. A :class:`Watch` is such a file at work. :func:`threshold` sets the threshold of scores that anybody has computed.

The file of a detector that is written in Python holds a pickle beside that, and whoever opens a pickle executes what is in
it. So such a file is written only with ``pickle=True``, and opened only with ``trusted=True``.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine, _pickled
from offnominal._given import Episodes, Given, nominal
from offnominal._json import as_json
from offnominal._own import known
from offnominal._progress import display
from offnominal._scores import Interval, Threshold, threshold
from offnominal._tables import facts
from offnominal.detectors import Detector
from offnominal.envs import environment_id
from offnominal.episodes import Dataset
from offnominal.logs import Recordings
from offnominal.policies import Policy

__all__ = ["Interval", "Recalibrated", "Rule", "Threshold", "Verdict", "Watch", "fit", "threshold"]

Rule = Literal["3sigma", "q95", "max", "conformal", "band", "cusum", "martingale", "run-length"]


@dataclass(frozen=True)
class Verdict:
    """What is said of a step."""

    #: Which step of the episode, counted from 0.
    step: int
    #: How anomalous the detector finds it.
    score: float
    #: What is compared with the threshold: the score, or what has accumulated.
    statistic: float
    threshold: float
    #: Whether the alarm is on.
    state: str
    #: Whether it went on or off in this step.
    event: str | None
    #: Numbers of the observation that were not read.
    missing: int
    #: The longest time, in steps, for which one of them has not been read; 0 if all were.
    stale: int
    #: Share of what the detector compares that was read: 1 if nothing is missing, 0 if the score says nothing.
    confidence: float
    #: Sensors that are lost: numbers of the observation that were not read for longer than ``lost_after``.
    lost: int
    #: ``lost`` or ``returned``, if that happened to a sensor in this step. It is no alarm.
    sensor_event: str | None
    #: Whether the promise does not hold for this step, as its episode is longer than any that set the threshold.
    beyond_promise: bool

    @property
    def is_alarm(self) -> bool:
        """Whether the alarm was raised in this step."""
        return self.event == "raised"


@dataclass(frozen=True)
class Recalibrated:
    """A threshold that has followed a nominal episode."""

    threshold: float
    #: Whether it would be higher but for the tolerance: something has drifted too far, or is broken.
    is_limited: bool


class Watch:
    """A fitted detector with its threshold, watching one episode at a time; :func:`fit` and :meth:`load` make one."""

    def __init__(self, engine: _engine.Watch) -> None:
        self._engine = engine

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, trusted: bool = False) -> Watch:
        """Opens a file of ``offnominal fit`` or of :meth:`save`.

        :param trusted: whether the pickle of a detector that is written in Python may be executed; say so only for files
            of your own.
        :raises OSError: if it cannot be read.
        :raises ValueError: if it is damaged, was edited, is of another version, or would have to be trusted.
        """
        if not _pickled.is_one(path):
            return cls(_engine.Watch.open(os.fspath(path)))
        return cls(_engine.Watch.from_parts(*_pickled.read(path, trusted)))

    def save(self, path: str | os.PathLike[str], *, pickle: bool = False) -> None:
        """Writes a file that ``offnominal monitor`` reads, whole or not at all; what is remembered of an episode is not in it.

        :param pickle: whether a detector that is written in Python may be pickled. Only Python opens such a file, and only
            where it is trusted.
        :raises ValueError: if the detector is written in Python, and ``pickle`` is not given.
        """
        content, own = self._engine.parts()
        if own is not None and not pickle:
            raise ValueError(f"pickle: expected True for a detector written in Python ({type(own).__name__}), found False")
        _engine.write(os.fspath(path), content if own is None else _pickled.written(content, own))

    @classmethod
    def _unpickled(cls, content: bytes, own: Any) -> Watch:
        return cls(_engine.Watch.from_parts(content, own))

    def __reduce__(self) -> tuple[Any, ...]:
        return Watch._unpickled, self._engine.parts()

    def _facts(self) -> dict[str, Any]:
        about = self.about
        detector, threshold = about["detector"], about["threshold"]
        return {
            "detector": detector["params"].get("name", "python") if detector["id"] == "python" else detector["id"],
            "environment": about["environment"]["id"], "policy": about["policy"]["id"], "rule": threshold["rule"],
            "threshold": threshold["value"], "diagnoses": about["diagnoses"],
        }  # fmt: skip

    def __repr__(self) -> str:
        about = self._facts()
        alarm = f"alarm above {about['threshold']:.6g} ({about['rule']})"
        return f"<Watch {about['detector']} of {about['policy']} in {about['environment']}: {alarm}>"

    def _repr_html_(self) -> str:
        return facts("Watch", self._facts())

    @property
    def about(self) -> dict[str, Any]:
        """What was fitted, on what, when it raises an alarm, and what that promises."""
        found: dict[str, Any] = json.loads(self._engine.about())
        return found

    def reset(self, group: str | None = None) -> None:
        """An episode begins.

        :param group: the group that it is of, if the monitor was fitted with ``groups``; the threshold is then that of the group,
            else that of all episodes together.
        :raises ValueError: if the monitor has no such group.
        """
        self._engine.reset(group)

    def step(self, obs: Any, action: Any = None) -> Verdict | None:
        """The observation that was just read and the command for it; without a command the episode is over.

        The verdict is on the step that ends with this observation, so there is none at the first call. NaN stands for a
        number that was not read.
        """
        found = self._engine.step(obs, action)
        return None if found is None else Verdict(*found)

    def transition(self, obs: Any, action: Any, next_obs: Any) -> Verdict:
        """A whole step, which must begin where the one before it ended."""
        return Verdict(*self._engine.transition(obs, action, next_obs))

    @property
    def lost(self) -> list[str]:
        """Names of the sensors that are lost now."""
        return self._engine.lost()

    def confirm(self, *, memory: int = 50, tolerance: float = 3.0) -> Recalibrated:
        """The episode since the last reset was nominal, whatever the monitor said of it: the threshold follows benign drift.

        :meth:`save` writes the new threshold. ``docs/explanations/alarms.md`` says what is promised.

        :param memory: last episodes that set the threshold; at least as many as its promise needs are taken.
        :param tolerance: how far the threshold may rise, in units of the distance from the median episode of the fit to its
            threshold.
        :raises ValueError: if no step was judged, or the rule promises no share of false alarms.
        """
        return Recalibrated(*self._engine.confirm(memory, tolerance))

    def acknowledge(self) -> str | None:
        """Somebody has seen the alarm: it goes off, and can be raised again."""
        return self._engine.acknowledge()

    def shares(self) -> NDArray[np.float64] | None:
        """The part of the last step's score that is due to each number of the observation, ``[o]``: the parts sum to the score.

        ``about["observation"]`` has their names. ``None`` before the first verdict of an episode, and if the detector does not
        tell. What a score was made of is not yet what is broken, for which there is :meth:`diagnose`.
        """
        return self._engine.shares()

    @property
    def is_diagnosis_due(self) -> bool:
        """Whether a diagnosis says something new at the last step.

        So it does at the step that raised the alarm and, if faults can be named, 5 and 20 steps after it.
        """
        return self._engine.is_diagnosis_due()

    def diagnose(self) -> dict[str, Any] | None:
        """What looks wrong, judging from the last steps; ``None`` where nothing can be said.

        :returns: ``family`` (``unknown`` without commands and taught faults), ``probabilities`` of the families, ``onset`` and
            the ``channels`` that are off. If the monitor was taught to name faults, ``candidates`` lists those that it may be,
            each with ``anomaly``, ``direction``, ``neutral``, ``magnitude`` and ``probability``; an empty list says that it is
            another fault. ``docs/howto/monitor.md`` explains them.
        """
        found: dict[str, Any] | None = json.loads(self._engine.diagnose())
        return found


def fit(
    episodes: Episodes,
    calibration: Episodes,
    detector: str | Detector | Any = "default",
    *,
    groups: Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    rule: Rule = "conformal",
    alpha: float | None = None,
    false_alarms: str | None = None,
    confidence: float | None = None,
    run_length: float | str | None = None,
    block: int | None = None,
    monitors: int = 1,
    arm_after: int = 0,
    raise_after: int = 1,
    clear_after: int | None = None,
    diagnosis: bool = True,
    lost_after: int | None = None,
    env: str | None = None,
    policy: str | Policy | None = None,
    system: str | None = None,
    channels: tuple[Sequence[str], Sequence[str]] | None = None,
    dt_secs: float | None = None,
    pickle: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> Watch:
    """Fits a detector on nominal episodes, sets its threshold on others, and perhaps writes both as one file.

    :param episodes: nominal episodes to learn from, in any form of :mod:`offnominal.episodes`; of recordings and disturbed
        episodes those that are not nominal are left out, with a warning.
    :param calibration: other nominal episodes of the same policy, to set the threshold; likewise.
    :param detector: an id, a recipe, or an object of your own with ``fit(episodes)`` and ``score(episode) -> [T]``. If it also
        has ``reset()`` and ``step(obs, action, next_obs) -> float``, a step is scored with these, else the whole episode so
        far is scored at each step.
    :param groups: the name of each calibration episode's group, such as its task; each group with enough episodes gets a
        threshold of its own, and the others share one.
    :param out: a file to write.
    :param alpha: accepted share of nominal episodes with an alarm, for the rules that promise one; 0.05 if nothing is said.
    :param false_alarms: accepted false alarms per time instead, such as ``"0.5/hour"`` or ``"2/day"``, for the rules
        ``conformal`` (an episode counts one at most) and ``run-length``.
    :param confidence: promises that share with this confidence in the calibration set at hand, not on average over them.
    :param run_length: how far apart false alarms are at least, on average, for the rule ``run-length`` of streams without
        episodes: a number of steps, or a time such as ``"10h"``.
    :param block: steps of a block, for the same rule; five times as long as scores depend on one another if not given.
    :param monitors: monitors that share the promise, such as those of a fleet: each gets its part of the false alarms.
    :param arm_after: steps at the beginning of an episode in which no alarm is raised.
    :param raise_after: exceedances in a row that raise the alarm.
    :param clear_after: quiet steps in a row that clear it; without it the alarm stays until the next episode.
    :param diagnosis: whether the monitor is to hold what a diagnosis needs, which takes longer to fit.
    :param lost_after: steps in a row that a number may be missing before its sensor counts as lost; ten, or as many as
        nineteen of twenty calibration episodes go without one at most.
    :param env: id of the environment of the engine in which the episodes were played; a :class:`offnominal.Dataset` says it.
    :param policy: the policy of the engine that acted; likewise.
    :param system: what the monitor calls a system that is no environment of the engine; ``system`` if not given.
    :param channels: names of the numbers of an observation, and of an action; data frames and recordings have their own.
    :param dt_secs: seconds per step of such a system; if neither this nor a recording says it, a step counts as a second, and
        nothing can be promised per time. If recordings of logs are given and none of these three, the monitor is the one of
        :func:`offnominal.fit` on logs, which scores logs.
    :param pickle: whether a detector that is written in Python may be pickled into ``out``.
    :raises ValueError: if a name or a number is wrong, or there are too few episodes for what the rule promises.
    """
    given = _Fitted.of(episodes, calibration, env, policy, (system, channels, dt_secs))
    request = {
        "env": given.env,
        "policy": given.policy,
        "detector": known(detector),
        "rule": rule,
        "alpha": alpha,
        "false_alarms": false_alarms,
        "confidence": confidence,
        "run_length": run_length,
        "block": block,
        "monitors": monitors,
        "alarm": {"arm_after": arm_after, "raise_after": raise_after, "clear_after": clear_after},
        "diagnosis": diagnosis,
        "lost_after": lost_after,
        # A name only: nothing is written.
        "file": "memory",
    }
    acting = policy._engine if isinstance(policy, Policy) else None
    text, shown, named = as_json(request), display(progress), given.groups(groups)
    fitted, doubts = _engine.fit_watch(text, given.episodes, named, given.recipes, given.system, seed, acting, shown)
    for doubt in doubts:
        warnings.warn(doubt, stacklevel=2)
    found = Watch(fitted)
    if out is not None:
        found.save(out, pickle=pickle)
    return found


@dataclass(frozen=True)
class _Fitted:
    """Nominal episodes of a system, and what it is called."""

    train: Given
    calibration: Given
    #: Calibration episodes that were given, nominal or not.
    total: int
    env: str
    policy: str
    #: The recipes that both must have been played by.
    recipes: list[str]
    #: What the engine does not know: channels and time; ``None`` for its own environments.
    system: str | None

    @classmethod
    def of(cls, train: Any, aside: Any, env: str | None, policy: Any, own: tuple[str | None, Any, float | None]) -> _Fitted:
        name = policy.name if isinstance(policy, Policy) else policy
        opened = [Dataset(_engine.load(os.fspath(e))) if isinstance(e, (str, Path)) else e for e in (train, aside)]
        learned, given = nominal(opened[0]), Given.of(opened[1], "calibration")
        rest = given.nominal()
        total = len(given.pairs)
        played = [e for e in opened if isinstance(e, Dataset)]
        if len(played) == 2:
            recipe = played[0].recipe
            # What an anomaly was done to is left out by now.
            recipes = [json.dumps({**each.recipe, "anomaly_spec": None}) for each in played]
            return cls(learned, rest, total, recipe["env"], recipe["policy"]["id"], recipes, None)
        if env is not None and name is not None:
            return cls(learned, rest.like(learned), total, environment_id(env), name, [], None)
        if env is not None:
            raise ValueError(f"policy: expected the policy that acted in {env}, found none")
        described = as_json(_described(opened[0], learned, *own))
        return cls(learned, rest.like(learned), total, own[0] or "system", name or "policy", [], described)

    @property
    def episodes(self) -> tuple[list[Any], list[Any]]:
        return self.train.pairs, self.calibration.pairs

    def groups(self, named: Sequence[str] | None) -> list[str] | None:
        """The group of each calibration episode that is left."""
        if named is None:
            return None
        if len(named) != self.total:
            raise ValueError(f"groups: expected one for each of {self.total} calibration episodes, found {len(named)}")
        return [str(named[i]) for i in self.calibration.kept]


def _described(episodes: Any, given: Given, system: str | None, channels: Any, dt_secs: float | None) -> dict[str, Any]:
    """Channels, units and seconds per step, as far as they are known; of recordings of logs also their mapping."""
    recorded = episodes if isinstance(episodes, Recordings) else None
    names = channels or given.names or tuple([str(i) for i in range(rows.shape[1])] for rows in given.pairs[0])
    units = recorded.units if recorded and not channels else ([""] * len(part) for part in names)
    parts = [[{"name": str(n), "unit": u} for n, u in zip(*part)] for part in zip(names, units)]
    is_as_read = recorded is not None and (system, channels, dt_secs) == (None, None, None)
    return {
        "observation": parts[0],
        "action": parts[1],
        "dt_secs": dt_secs if dt_secs is not None else recorded.dt_secs if recorded else None,
        "clock": recorded.mapping if recorded and dt_secs is None else None,
        "mapping": recorded.mapping if recorded and is_as_read else None,
    }
