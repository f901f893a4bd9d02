"""Monitors with their thresholds: files that ``offnominal fit`` writes, and :func:`fit` here.

A file holds the fitted detector, the rule that set the threshold and what the rule promises; ``docs/alarms.md`` explains
the rules. A :class:`Watch` is such a file at work.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Literal

from offnominal import _engine
from offnominal.detectors import Detector
from offnominal.episodes import Dataset

Rule = Literal["3sigma", "q95", "max", "conformal", "band", "cusum", "martingale"]


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

    @property
    def is_alarm(self) -> bool:
        """Whether the alarm was raised in this step."""
        return self.event == "raised"


class Watch:
    """A fitted detector with its threshold, watching one episode at a time.

    :param path: a file of ``offnominal fit``.
    :raises ValueError: if it is damaged, was edited, or is of another version.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._engine = _engine.Watch(os.fspath(path))

    @property
    def about(self) -> dict[str, Any]:
        """What was fitted, on what, when it raises an alarm, and what that promises."""
        found: dict[str, Any] = json.loads(self._engine.about())
        return found

    def reset(self) -> None:
        """An episode begins."""
        self._engine.reset()

    def step(self, obs: Any, action: Any = None) -> Verdict | None:
        """The observation that was just read and the command for it; without a command the episode is over.

        The verdict is on the step that ends with this observation, so there is none at the first call.
        """
        found = self._engine.step(obs, action)
        return None if found is None else Verdict(*found)

    def transition(self, obs: Any, action: Any, next_obs: Any) -> Verdict:
        """A whole step, which must begin where the one before it ended."""
        return Verdict(*self._engine.transition(obs, action, next_obs))

    def acknowledge(self) -> str | None:
        """Somebody has seen the alarm: it goes off, and can be raised again."""
        return self._engine.acknowledge()

    def diagnose(self) -> dict[str, Any] | None:
        """What looks wrong, judging from the last steps; ``None`` where nothing can be said."""
        found: dict[str, Any] | None = json.loads(self._engine.diagnose())
        return found


def fit(
    episodes: Dataset,
    calibration: Dataset,
    detector: str | Detector = "default",
    *,
    out: str | os.PathLike[str],
    rule: Rule = "conformal",
    alpha: float = 0.05,
    arm_after: int = 0,
    raise_after: int = 1,
    clear_after: int | None = None,
    diagnosis: bool = True,
    seed: int = 0,
) -> Watch:
    """Fits a detector on nominal episodes, sets its threshold on others, and writes both as one file.

    :param episodes: what :func:`offnominal.collect` played, to learn from.
    :param calibration: other nominal episodes of the same policy, to set the threshold.
    :param alpha: accepted share of nominal episodes with an alarm, for the rules that promise one.
    :param arm_after: steps at the beginning of an episode in which no alarm is raised.
    :param raise_after: exceedances in a row that raise the alarm.
    :param clear_after: quiet steps in a row that clear it; without it the alarm stays until the next episode.
    :param diagnosis: whether the file is to hold what a diagnosis needs, which takes longer to fit.
    :raises ValueError: if a name or a number is wrong, or there are too few episodes for what the rule promises.
    """
    request = {
        "env": episodes.recipe["env"],
        "policy": episodes.recipe["policy"]["id"],
        "detector": detector if isinstance(detector, str) else detector.recipe(),
        "rule": rule,
        "alpha": alpha,
        "alarm": {"arm_after": arm_after, "raise_after": raise_after, "clear_after": clear_after},
        "diagnosis": diagnosis,
        "file": os.fspath(out),
    }
    _engine.fit_file(json.dumps(request), episodes._recording, calibration._recording, seed)
    return Watch(out)
