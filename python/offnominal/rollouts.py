"""Rollouts of generative policies: who notices a failing one, once the clock is taken out (``docs/rollouts.md``).

Each function is a command of ``offnominal rollouts`` and returns what that command prints with ``--json``, :func:`watch` a row
for each rollout; :func:`offnominal.record` writes what they read. A :class:`Probe` is a file of :func:`fit` at work.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from os import PathLike
from typing import Any, NamedTuple

from offnominal import _engine
from offnominal._command import call
from offnominal._json import plain
from offnominal._record import _chunk, _numbers
from offnominal._tables import Result

Path = str | PathLike[str]

__all__ = ["Probe", "Verdict", "fit", "judge", "signals", "watch"]


def judge(
    files: Path | Sequence[Path],
    *,
    detectors: Sequence[str] | None = None,
    versus: str | None = None,
    splits: Sequence[str] | None = None,
    executed: int | None = None,
    instructions: Path | None = None,
    from_step: int | None = None,
    alpha: float | None = None,
    replicates: int | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Judges failure detectors at the same task and step among rollouts that still run, and by the usual protocols.

    :param files: rollouts as JSON lines or Parquet, or folders of them.
    :param detectors: such as ``mean(tce)``, ``-acm``, ``hazard``; each signal and its mean so far if not given.
    :param versus: the detector from which the others are told apart, by a difference with its interval.
    :param splits: ``folds:5``, ``tasks:5``, ``seen:0,1,2``, ``unseen:0,1,2``; without one, nothing is learned.
    :param executed: actions of each chunk that are executed, where the files do not say it.
    :param instructions: embeddings of the tasks' instructions, a ``.npy`` file that holds a dictionary.
    :param from_step: the first step that is compared.
    :param alpha: share of successful rollouts that may have an alarm.
    :param replicates: bootstrap replicates of each interval.
    :param out: folder for the tables and the page; nothing is written if not given.
    """
    request = {
        "files": _all(files), "detectors": detectors, "versus": versus, "splits": splits, "executed": executed,
        "instructions": instructions, "from_step": from_step, "alpha": alpha, "replicates": replicates, "out": out,
    }  # fmt: skip
    return Result(call("rollouts.judge", request, seed=seed, jobs=jobs, progress=progress))


def fit(
    files: Path | Sequence[Path],
    out: Path,
    *,
    detector: str | None = None,
    executed: int | None = None,
    instructions: Path | None = None,
    alpha: float | None = None,
    held_out: float | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Result:
    """Fits a failure probe with a threshold for each task, and writes it as ``probe.safetensors`` into a folder.

    :param files: rollouts as JSON lines or Parquet, or folders of them.
    :param detector: as :func:`judge` has them; ``hazard`` if not given.
    :param executed: actions of each chunk that are executed, where the files do not say it; a step of :meth:`Probe.step` need
        not say it either then.
    :param instructions: embeddings of the tasks' instructions, a ``.npy`` file that holds a dictionary.
    :param alpha: share of a task's successes that may have an alarm, on average.
    :param held_out: share of the rollouts of each task and outcome that sets thresholds, and is not learned from.
    """
    request = {
        "files": _all(files), "out": out, "detector": detector, "executed": executed, "instructions": instructions,
        "alpha": alpha, "held_out": held_out,
    }  # fmt: skip
    return Result(call("rollouts.fit", request, seed=seed, jobs=1, progress=progress))


def watch(
    probe: Path,
    files: Path | Sequence[Path],
    *,
    executed: int | None = None,
    instructions: Path | None = None,
) -> Result:
    """Scores recorded rollouts step by step with a probe: for each one its scores, and its first alarm.

    :param probe: a file of :func:`fit`.
    :param files: rollouts as JSON lines or Parquet, or folders of them; they need no outcome.
    :param executed: actions of each chunk that are executed, where the files do not say it; as in the fit if not given.
    :param instructions: embeddings of the instructions of tasks that the probe does not know.
    """
    request = {"probe": probe, "files": _all(files), "executed": executed, "instructions": instructions}
    return Result(call("rollouts.watch", request, seed=0, jobs=1, progress=False))


class Verdict(NamedTuple):
    """What is said of a step."""

    #: How likely a failure is; for ``hazard``, ``survival``, ``actprobe`` and ``odds`` a probability.
    score: float
    #: Whether the score is above the threshold of the task; ``None`` if the task has none, and so no promise.
    alarm: bool | None


class Probe:
    """A fitted failure probe, which watches one rollout at a time; :meth:`load` opens a file of :func:`fit`.

    ::

        probe = offnominal.rollouts.Probe.load("runs/reach/probe.safetensors")
        probe.begin("stack the cups")
        while not done:
            chunk = policy.predict_action_chunk(observation)
            score, alarm = probe.step(chunk, executed=5)
            if alarm:
                break
    """

    def __init__(self, engine: _engine.Probe) -> None:
        self._engine = engine
        #: The threshold of the task that is watched; ``None`` if it has none.
        self.threshold: float | None = None

    @classmethod
    def load(cls, path: Path) -> Probe:
        """Opens a file.

        :raises OSError: if it cannot be read.
        :raises ValueError: if it is damaged, was edited, or is of another version.
        """
        return cls(_engine.Probe.open(os.fspath(path)))

    @property
    def about(self) -> dict[str, Any]:
        """What was fitted, on what, and when it raises an alarm."""
        found: dict[str, Any] = json.loads(self._engine.about())
        return found

    def __repr__(self) -> str:
        about = self.about
        return f"<Probe {about['detector']} of {len(about['tasks'])} tasks, alpha {about['alpha']:g}>"

    def begin(self, task: str | int, *, executed: int | None = None, instruction: Any = None) -> None:
        """A rollout of a task begins.

        A task that the probe does not know is scored, and has no alarm: no threshold would promise anything of it.

        :param task: its name, as in the recordings.
        :param executed: actions of each chunk that are executed, where a step does not say it; as in the fit if not given.
        :param instruction: the embedding ``[D]`` of the task's instruction, for a detector that reads instructions and a task
            that it does not know.
        :raises ValueError: if the detector needs an instruction, and none is given.
        """
        given = None if instruction is None else _numbers(instruction).reshape(-1).tolist()
        self.threshold = self._engine.begin(str(task), executed, given)

    def step(
        self,
        chunk: Any = None,
        *,
        executed: int | None = None,
        embedding: Any = None,
        samples: bool = False,
        **signals: float,
    ) -> Verdict:
        """The next step: what the policy predicts at it, before it acts.

        :param chunk: the predicted actions, ``[H, A]`` or ``[1, H, A]``, if the probe reads signals of chunks.
        :param executed: how many of them are executed before the next chunk.
        :param embedding: the embedding ``[D]`` of the observation, if the probe reads it.
        :param samples: whether the first axis of a chunk ``[S, H, A]`` are samples, of which the first one is executed.
        :param signals: signals of your own, by their names in the recordings.
        :raises ValueError: if something is missing that the probe reads, or is not what it should be; call :meth:`begin` then.
        """
        fields: dict[str, Any] = {name: float(value) for name, value in signals.items()}
        if chunk is not None:
            fields["chunk"] = _chunk(chunk, samples).tolist()
        if executed is not None:
            fields["executed"] = executed
        if embedding is not None:
            fields["embedding"] = _numbers(embedding).reshape(-1).tolist()
        return Verdict(*self._engine.step(json.dumps(fields, allow_nan=False, default=plain)))


def signals(files: Path | Sequence[Path], out: Path, *, executed: int | None = None) -> Result:
    """Writes the signals of rollouts, those of their chunks among them, as ``signals.jsonl`` into a folder."""
    request = {"files": _all(files), "executed": executed, "out": out}
    return Result(call("rollouts.signals", request, seed=0, jobs=1, progress=False))


def _all(files: Path | Sequence[Path]) -> list[Path]:
    """One file or several."""
    return [files] if isinstance(files, (str, PathLike)) else list(files)
