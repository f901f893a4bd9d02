"""Thresholds for scores that anybody has computed: what :func:`offnominal.alarms.threshold` gives."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine

#: A drift that chance makes more rarely than this is told.
_RARE = 0.01


@dataclass(frozen=True)
class Interval:
    """A value with its interval of 95 %: over calibration sets, or over rollouts."""

    value: float
    low: float
    high: float
    #: How the interval was made.
    method: str


@dataclass(frozen=True)
class Threshold:
    """A threshold of scores, what it promises, and what speaks against the promise."""

    #: An alarm is a score **above** this.
    threshold: float
    #: What is promised: a ``share`` of nominal episodes with an alarm, or alarms ``per_hour`` of nominal operation; at most
    #: ``promised``, and on average over calibration sets if there is no ``confidence`` in the one at hand.
    promise: Literal["share", "per_hour"]
    promised: float
    confidence: float | None
    #: Episodes, or blocks of a stream, that set the threshold.
    n: int
    #: Steps of a block of a stream, whose exceedances count as one alarm; ``None`` for episodes, which count one each.
    block: int | None
    #: The share of episodes, or blocks, with an alarm that is to be expected.
    share: Interval
    #: The alarms per hour that are to be expected; ``None`` without ``dt_secs``.
    per_hour: Interval | None
    #: The p value of a test whether scores drift from the first episode or block to the last; ``None`` for fewer than ten.
    drift_p: float | None


def threshold(
    scores: Any,
    episodes: Any = None,
    *,
    alpha: float | None = None,
    per_hour: float | None = None,
    dt_secs: float | None = None,
    confidence: float | None = None,
) -> Threshold:
    """A threshold for any scores of nominal operation, with a promise of how many false alarms it has.

    The scores must be of data that the detector was not fitted on, in the order of time, and larger where something is more
    anomalous. New nominal episodes must be exchangeable with these ones, or blocks of a stream with one another; a test of
    drift says whether that is doubtful, with a warning. ``docs/howto/threshold.md`` has examples.

    :param scores: of each step: a list of one-dimensional arrays, one per episode; or one array or column ``[T]`` of all.
    :param episodes: which episode each of these scores is of ``[T]``, where ``scores`` is one array; without it, that is one
        stream without episodes.
    :param alpha: accepted share of nominal episodes with an alarm, between 0 and 1.
    :param per_hour: accepted alarms per hour instead, of which an episode, or a block of a stream, counts one at most.
    :param dt_secs: seconds per step.
    :param confidence: promises ``alpha`` with this confidence in the calibration set at hand, not on average over them.
    :raises ValueError: if a score is not finite, episodes are out of order, there are too few of them or too few hours for
        what is to be promised, or a number is wrong.
    """
    _check(alpha, per_hour, dt_secs, confidence)
    flat, lengths = _read(scores, episodes)
    if lengths is None and per_hour is None:
        raise ValueError(
            "episodes: expected the episode of each score, as alpha is a share of episodes, found one stream; say per_hour"
        )
    text = _engine.nominal_threshold(flat, lengths, alpha, confidence, per_hour, dt_secs)
    found: dict[str, Any] = json.loads(text)
    if found["drift"] is not None and found["drift"] < _RARE:
        what = f"scores: they drift (p = {found['drift']:.3f}); the promise does not hold for later ones if they go on"
        warnings.warn(what, stacklevel=2)
    return Threshold(
        threshold=found["value"],
        promise="share" if per_hour is None else "per_hour",
        promised=float(per_hour if alpha is None else alpha),  # type: ignore[arg-type]  # one of them is given
        confidence=confidence,
        n=found["n"],
        block=found["block"],
        share=_interval(found["share"]),
        per_hour=None if found["per_hour"] is None else _interval(found["per_hour"]),
        drift_p=found["drift"],
    )


def _interval(found: dict[str, Any]) -> Interval:
    # JSON has no infinity: an end that is missing is no bound.
    high = float("inf") if found["high"] is None else found["high"]
    return Interval(found["value"], found["low"], high, found["method"])


def _check(alpha: float | None, per_hour: float | None, dt_secs: float | None, confidence: float | None) -> None:
    if (alpha is None) == (per_hour is None):
        raise ValueError(f"expected alpha or per_hour, found {'neither' if alpha is None else 'both'}")
    for name, share in (("alpha", alpha), ("confidence", confidence)):
        if share is not None and not 0 < share < 1:
            raise ValueError(f"{name}: expected a number between 0 and 1, found {share}")
    for name, number in (("per_hour", per_hour), ("dt_secs", dt_secs)):
        if number is not None and not 0 < number < float("inf"):
            raise ValueError(f"{name}: expected a number above zero, found {number}")
    if per_hour is not None and dt_secs is None:
        raise ValueError("dt_secs: expected the seconds of a step, as per_hour is a rate, found none")
    if per_hour is not None and confidence is not None:
        raise ValueError("confidence: expected it with alpha, found it with per_hour, which is promised on average")


def _read(scores: Any, episodes: Any) -> tuple[NDArray[np.float64], list[int] | None]:
    """All scores one after another, and the lengths of the episodes; none for a stream."""
    if episodes is None and _is_list_of_episodes(scores):
        each = [_column(one, f"scores of episode {i}") for i, one in enumerate(scores)]
        return np.concatenate(each), [len(one) for one in each]
    flat = _column(scores, "scores")
    if episodes is None:
        return flat, None
    return flat, _lengths(scores, episodes, len(flat))


def _is_list_of_episodes(scores: Any) -> bool:
    return isinstance(scores, Sequence) and len(scores) > 0 and np.ndim(scores[0]) > 0


def _column(given: Any, what: str) -> NDArray[np.float64]:
    if np.ma.is_masked(given):
        raise ValueError(f"{what}: expected finite numbers, found masked ones; leave out what has no score")
    try:
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: expected numbers, found {type(given).__name__} ({error})") from None
    if column.ndim != 1 or not len(column):
        raise ValueError(f"{what}: expected a number per step [T], T at least 1, found the shape {list(column.shape)}")
    return column


def _lengths(scores: Any, episodes: Any, n: int) -> list[int]:
    """How many scores each episode has, whose scores must stand together."""
    of_pandas = all(hasattr(getattr(column, "index", None), "equals") for column in (scores, episodes))
    if of_pandas and not scores.index.equals(episodes.index):
        raise ValueError("episodes: expected the index of scores, found another one")
    ids = np.asarray(episodes)
    if ids.shape != (n,):
        raise ValueError(f"episodes: expected one for each of {n} scores, found the shape {list(ids.shape)}")
    unknown = np.array([one is None or one != one for one in ids.tolist()])
    if unknown.any():
        raise ValueError(f"episodes: expected one for each score, found none at {int(unknown.argmax())}")
    begins = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    seen: set[Any] = set()
    for at in begins.tolist():
        if ids[at] in seen:
            raise ValueError(
                f"episodes: expected the scores of an episode one after another, found {ids[at]} again at {at}; sort them"
            )
        seen.add(ids[at])
    return [int(length) for length in np.diff([*begins.tolist(), n])]
