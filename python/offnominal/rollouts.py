"""Rollouts of generative policies: who notices a failing one, once the clock is taken out (``docs/rollouts.md``).

Each function is a command of ``offnominal rollouts`` and returns what that command prints with ``--json``;
:func:`offnominal.record` writes what they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from offnominal import _engine
from offnominal._command import call
from offnominal._record import _chunk
from offnominal._tables import Result

Path = str | PathLike[str]

__all__ = ["ChunkSignals", "judge", "signals"]


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
    return Result(call("rollouts judge", request, seed=seed, jobs=jobs, progress=progress))


class ChunkSignals:
    """The signals of a policy's chunks while it acts, as :func:`signals` computes them of recordings.

    ::

        watch = offnominal.alarms.Watch.load("runs/probe.monitor")
        signals = offnominal.rollouts.ChunkSignals()
        watch.reset("stack the cups")
        while not done:
            found = signals.step(policy.predict_action_chunk(observation), executed=5)
            verdict = watch.step([found[channel["name"]] for channel in watch.about["observation"]], [])
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """A rollout begins."""
        self._engine = _engine.ChunkSignals()

    def step(self, chunk: Any, executed: int, *, samples: bool = False) -> dict[str, float]:
        """The signals of the next chunk, by their names.

        :param chunk: the predicted actions, ``[H, A]`` or ``[1, H, A]``.
        :param executed: how many of them are executed before the next chunk.
        :param samples: whether the first axis of a chunk ``[S, H, A]`` are samples, of which the first one is executed.
        :raises ValueError: if it is no chunk, or its width or number of samples is not that of the one before.
        """
        found = _chunk(chunk, samples)
        sizes = found.shape if samples else (1, *found.shape)
        return dict(self._engine.step(sizes, found.reshape(-1).tolist(), executed))


def signals(files: Path | Sequence[Path], out: Path, *, executed: int | None = None) -> Result:
    """Writes the signals of rollouts, those of their chunks among them, into a folder.

    ``signals.jsonl`` is a log, and ``signals.toml`` a mapping of its columns, for :func:`offnominal.logs.read`,
    :func:`offnominal.logs.fit` and :func:`offnominal.logs.score`.

    :param files: rollouts as JSON lines or Parquet, or folders of them; all may lack their outcome.
    :param executed: actions of each chunk that are executed, where the files do not say it.
    """
    request = {"files": _all(files), "executed": executed, "out": out}
    return Result(call("rollouts signals", request, seed=0, jobs=1, progress=False))


def _all(files: Path | Sequence[Path]) -> list[Path]:
    """One file or several."""
    return [files] if isinstance(files, (str, PathLike)) else list(files)
