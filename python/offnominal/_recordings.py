"""Recordings of logs at one clock, as :func:`offnominal.logs.read` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from offnominal._tables import Tabular, facts


@dataclass(frozen=True, eq=False, repr=False)
class Recording(Tabular):
    """One episode of a log: T steps, and T + 1 observations."""

    #: What it is called in reports.
    name: str
    #: The log that it is of: a path, or the name of a data frame.
    log: str
    #: The time of the first observation in nanoseconds, by the clock of the log.
    start_nanos: int
    #: The time of each observation in seconds since the first, ``[T + 1]``.
    secs: NDArray[np.float64]
    #: Observations, ``[T + 1, o]``; where a value is missing, the last one before it.
    observations: NDArray[np.float64]
    #: Commands, ``[T, a]``; ``a`` may be 0.
    actions: NDArray[np.float64]
    #: Which values of the observations are missing, ``[T + 1, o]``.
    is_missing: NDArray[np.bool_]
    #: How old each value of the observations was, in seconds, ``[T + 1, o]``.
    ages_secs: NDArray[np.float32]
    #: Where something was wrong, ``[T]``; ``None`` if the mapping names no label.
    labels: NDArray[np.bool_] | None
    #: Whether it succeeded; ``None`` if the mapping names no outcome.
    success: bool | None
    #: Its task; ``None`` if the mapping names none.
    task: str | None
    #: Whether neither label nor outcome says that something was wrong.
    is_nominal: bool
    #: Why nothing is fitted on it, such as a last window that the log does not fill; ``None`` if nothing says so.
    left_out: str | None
    #: Names of the numbers of an observation, and of a command.
    names: tuple[list[str], list[str]]
    #: Their units; empty where none is known.
    units: tuple[list[str], list[str]]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def onset(self) -> int | None:
        """The first step whose label says that something was wrong."""
        return None if self.labels is None or not self.labels.any() else int(self.labels.argmax())

    @property
    def share_missing(self) -> float:
        """Share of the values of the observations that are missing."""
        return float(self.is_missing.mean())

    def columns(self) -> dict[str, Any]:
        """One row per observation; command and label are those of the step that follows, so the last row has none."""
        rows = {"step": np.arange(len(self.secs)), "secs": self.secs}
        seen = {f"observation.{name}": self.observations[:, i] for i, name in enumerate(self.names[0])}
        done = {f"action.{name}": _padded(self.actions[:, i]) for i, name in enumerate(self.names[1])}
        return rows | seen | done | ({} if self.labels is None else {"label": _padded(self.labels)})

    def _about(self) -> dict[str, Any]:
        return {
            "name": self.name, "steps": len(self), "observations": ", ".join(self.names[0]),
            "commands": ", ".join(self.names[1]) or "none", "missing": self.share_missing, "nominal": self.is_nominal,
        }  # fmt: skip

    def __repr__(self) -> str:
        kind = "nominal" if self.is_nominal else "not nominal"
        o, a = len(self.names[0]), len(self.names[1])
        return f"<Recording {self.name}: {len(self)} steps of {o} observation and {a} command channels, {kind}>"

    def _repr_html_(self) -> str:
        return facts("Recording", self._about())


@dataclass(frozen=True, eq=False, repr=False)
class Recordings(Sequence[Recording], Tabular):
    """Recordings at one clock, in the order in which they begin, with the mapping by which they were read.

    A slice is of the same type, and so are the recordings of :attr:`nominal`.
    """

    #: Which column is what, as the text of a file; a proposed one says why.
    mapping: str
    #: Names of the numbers of an observation, and of a command.
    names: tuple[list[str], list[str]]
    #: Their units; empty where none is known.
    units: tuple[list[str], list[str]]
    #: Seconds per step: of the clock, else of the first recording on average.
    dt_secs: float
    _all: list[Recording] = field(default_factory=list)

    def _of(self, chosen: list[Recording]) -> Recordings:
        return Recordings(self.mapping, self.names, self.units, self.dt_secs, chosen)

    @property
    def nominal(self) -> Recordings:
        """Those of which neither label nor outcome says that something was wrong."""
        return self._of([own for own in self._all if own.is_nominal])

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, i: int) -> Recording: ...

    @overload
    def __getitem__(self, i: slice) -> Recordings: ...

    def __getitem__(self, i: int | slice) -> Recording | Recordings:
        return self._of(self._all[i]) if isinstance(i, slice) else self._all[i]

    def columns(self) -> dict[str, Any]:
        """The rows of all recordings, one after another, with the number of the recording in front."""
        each = [own.columns() for own in self._all]
        numbers = np.repeat(np.arange(len(each)), [len(own.secs) for own in self._all])
        # A label may be known of some recordings only.
        names = dict.fromkeys(name for own in each for name in own)
        parts = {name: [own.get(name, np.full(len(own["step"]), np.nan)) for own in each] for name in names}
        return {"episode": numbers, **{name: np.concatenate(own) for name, own in parts.items()}}

    def _about(self) -> dict[str, Any]:
        steps = sum(len(own) for own in self._all)
        return {
            "recordings": len(self), "nominal": len(self.nominal), "steps": steps, "seconds per step": self.dt_secs,
            "observations": ", ".join(self.names[0]), "commands": ", ".join(self.names[1]) or "none",
        }  # fmt: skip

    def __repr__(self) -> str:
        about = self._about()
        return f"<Recordings: {len(self)}, {about['nominal']} of them nominal, {about['steps']} steps of {about['observations']}>"

    def _repr_html_(self) -> str:
        return facts("Recordings", self._about())


def _padded(values: NDArray[Any]) -> NDArray[np.float64]:
    """With a row that has no number at the end."""
    return np.append(values.astype(np.float64), np.nan)
