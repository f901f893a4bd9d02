"""Recordings of a machine, without a simulator: logs of any format and data frames, as episodes.

:func:`read` gives :class:`Recordings`, which are understood wherever episodes are asked for (:mod:`offnominal.episodes`)::

    runs = offnominal.logs.read(["run00.csv", "run01.csv"], "map.toml")
    monitor = offnominal.detectors.ResidualViews().fit(runs)

:func:`inspect`, :func:`fit`, :func:`recalibrate` (``fit --recalibrate``), :func:`score` and :func:`score_splits`
(``score FOLDER``) are commands; :func:`frames` gives the videos of LeRobot. ``docs/logs.md`` explains mappings.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from offnominal import _engine
from offnominal._command import call
from offnominal._frames import content, is_frame
from offnominal._json import as_json
from offnominal._progress import display
from offnominal._recordings import Recording, Recordings
from offnominal._tables import Result
from offnominal._videos import frames

Path = str | os.PathLike[str]

#: A path, a data frame, several of them, or a dict of name → data frame.
Logs = Any

__all__ = ["Recording", "Recordings", "fit", "frames", "inspect", "propose", "read", "recalibrate", "score", "score_splits"]


def read(
    logs: Logs,
    mapping: Path | Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    jobs: int = 0,
    progress: bool = True,
) -> Recordings:
    """Reads logs at one clock: at each step a channel has the last value that was seen, never a later one.

    Files and data frames take the same way, so the same columns give the same bits.

    :param logs: a path, or a data frame of pandas, polars or Arrow; several of them; or a dict of name → data frame. A unit
        may stand in brackets after the name of a column. Levels of the index of a frame are columns by their names; an index of
        times, or of times since the start, is ``time`` without. Another one without a name is refused, unless it counts rows.
    :param mapping: which column is what: the path of a file, its text (a ``str`` of several lines), or the same as a dict;
        what :func:`propose` says, if not given.
    :param strict: whether a part of a log that cannot be read is an error.
    :raises OSError: if a log cannot be read.
    :raises ValueError: if a log lacks a column of the mapping, or something in it is wrong; the message names log and place.
    :warns UserWarning: for each thing that was left out of the logs, taken as missing or for granted; the command line calls
        them remarks.
    """
    found, shared = _engine.read_logs(_listed(logs), _given(mapping), strict, jobs, display(progress))
    about = json.loads(shared)
    for remark in about["remarks"]:
        warnings.warn(remark, stacklevel=2)
    names, units = _both(about, "name"), _both(about, "unit")
    each = [Recording(**own, names=names, units=units) for own in found]
    return Recordings(about["mapping"], names, units, about["dt_secs"], each)


def propose(logs: Logs) -> str:
    """The mapping that is proposed for logs that are alike: the text of a file, which says why and where it guesses.

    :param logs: as in :func:`read`.
    """
    return _engine.propose_mapping(_listed(logs))


def inspect(
    logs: Path | Sequence[Path],
    *,
    map: Path | None = None,
    page: Path | None = None,
    strict: bool = False,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """What is in logs: topics, columns, rates, gaps, ranges, and a proposed mapping.

    :param map: a file to write the mapping to.
    :param page: a page to write, with a picture of each channel.
    :param strict: whether a part of a log that cannot be read is an error.
    """
    request = {"logs": _paths(logs), "map": map, "page": page, "strict": strict}
    return Result(call("inspect", request, seed=0, jobs=jobs, progress=progress))


def fit(
    logs: Path | Sequence[Path],
    file: Path,
    *,
    map: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Fits a detector on the earlier recordings, sets its threshold on the later ones, and writes both as one file.

    :param map: the file of a mapping; without it, the proposed one is used.
    :param options: ``detector`` (an id, or a dict with ``id``), ``train``, ``calibration``, ``rule``, ``alpha``,
        ``confidence``, ``by_task`` (a threshold for each task), ``alarm`` (a dict of ``arm_after``, ``raise_after``,
        ``clear_after``), ``diagnosis``, ``strict`` (a part of a log that cannot be read is an error).
    """
    request = {"logs": _paths(logs), "map": map, "file": file, **options}
    return Result(call("fit", request, seed=seed, jobs=jobs, progress=progress))


def recalibrate(
    monitor: Path,
    logs: Path | Sequence[Path],
    file: Path,
    *,
    map: Path | None = None,
    memory: int = 50,
    tolerance: float = 3.0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Lets the threshold of a monitor follow later recordings that are nominal, and writes the monitor as another file.

    :param map: the file of a mapping, which must name the channels of the monitor; without it, that of the fit.
    :param memory: last recordings that set the threshold; at least as many as its promise needs are taken.
    :param tolerance: how far the threshold may rise, in units of the distance from the median recording of the fit to its
        threshold.
    """
    request = {"recalibrate": monitor, "logs": _paths(logs), "map": map, "memory": memory, "tolerance": tolerance, "file": file}
    return Result(call("fit", request, seed=0, jobs=jobs, progress=progress))


def score(
    monitor: Path,
    logs: Path | Sequence[Path],
    *,
    map: Path | None = None,
    report: Path | None = None,
    alarms: Path | None = None,
    strict: bool = False,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Alarms of a monitor in recordings, and what they are worth where labels or outcomes tell the truth.

    :param map: the file of a mapping, which must name the channels of the monitor; without it, that of the fit.
    :param report: a page to write, with each alarm and the channels around it.
    :param alarms: a table of the alarms to write.
    :param strict: whether a part of a log that cannot be read is an error.
    :param seed: of the ``random`` row and of the intervals.
    """
    request = {"monitor": monitor, "logs": _paths(logs), "map": map, "report": report, "alarms": alarms, "strict": strict}
    return Result(call("score", request, seed=seed, jobs=jobs, progress=progress))


def score_splits(
    folder: Path,
    detectors: Sequence[str | Mapping[str, Any]] = ("default",),
    *,
    rule: str = "conformal",
    alpha: float = 0.05,
    table: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Fits detectors on the splits ``train`` and ``val`` of a folder as Anomaly-Gym publishes it, and judges them on its other
    splits, by anomaly and strength. The detector ``clock`` stands before them.

    :param detectors: ids, or mappings with the ``id``, parameters and perhaps a ``name``.
    :param rule: how thresholds are set.
    :param alpha: accepted share of nominal episodes with an alarm, for the rules that promise one.
    :param table: a table of all numbers to write, as CSV or Parquet.
    :param seed: of the fits and of the intervals.
    """
    request = {"monitor": folder, "detectors": list(detectors), "rule": rule, "alpha": alpha, "table": table}
    return Result(call("score", request, seed=seed, jobs=jobs, progress=progress))


def _paths(logs: Path | Sequence[Path]) -> list[Path]:
    return [logs] if isinstance(logs, (str, os.PathLike)) else list(logs)


def _listed(logs: Logs) -> list[Any]:
    """The logs one by one: a path as text, a frame as its name and what the engine reads of it."""
    if isinstance(logs, (str, os.PathLike)) or is_frame(logs):
        logs = [logs]
    named = logs.items() if isinstance(logs, Mapping) else ((f"frame {i}", log) for i, log in enumerate(_each(logs)))
    return [_log(str(name), log) for name, log in named]


def _each(logs: Logs) -> Iterable[Any]:
    if not isinstance(logs, Iterable) or isinstance(logs, np.ndarray):
        raise ValueError(f"logs: expected paths or data frames, found {type(logs).__name__}")
    return logs


def _log(name: str, log: Any) -> Any:
    if isinstance(log, (str, os.PathLike)):
        return os.fspath(log)
    if not is_frame(log):
        raise ValueError(f"{name}: expected a path or a data frame, found {type(log).__name__}")
    return name, content(log)


def _given(mapping: Path | Mapping[str, Any] | None) -> str:
    """A mapping as JSON that the engine reads."""
    if mapping is None:
        return "null"
    if isinstance(mapping, Mapping):
        return as_json({"table": dict(mapping)})
    text = os.fspath(mapping)
    return json.dumps({"text" if "\n" in text else "file": text})


def _both(about: dict[str, Any], key: str) -> tuple[list[str], list[str]]:
    """Something of each channel of an observation, and of a command."""
    return [each[key] or "" for each in about["observation"]], [each[key] or "" for each in about["action"]]
