"""Recordings of a machine, without a simulator: logs of any format and data frames, as episodes.

:func:`read` gives :class:`Recordings`, which are understood wherever episodes are asked for (:mod:`offnominal.episodes`)::

    runs = offnominal.logs.read(["run00.csv", "run01.csv"], "map.toml")
    monitor = offnominal.detectors.Panel().fit(runs)

The commands on logs are ``inspect``, ``fit`` and ``score`` of :mod:`offnominal.commands`; :func:`frames` gives the videos of
LeRobot. ``docs/reference/logs.md`` explains mappings.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from offnominal import _engine
from offnominal._frames import content, is_frame
from offnominal._json import as_json
from offnominal._progress import display
from offnominal._recordings import Recording, Recordings
from offnominal._videos import frames

Path = str | os.PathLike[str]

#: A path, a data frame, several of them, or a dict of name → data frame.
Logs = Any

__all__ = ["Recording", "Recordings", "frames", "propose", "read"]


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
