"""Rollouts of generative policies: who notices a failing one, once the clock is taken out (``docs/rollouts.md``).

Each function is a command of ``offnominal rollouts`` and returns what that command prints with ``--json``;
:func:`offnominal.record` writes what they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from offnominal._command import call
from offnominal._tables import Result

Path = str | PathLike[str]

__all__ = ["judge", "signals"]


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


def signals(files: Path | Sequence[Path], out: Path, *, executed: int | None = None) -> Result:
    """Writes the signals of rollouts, those of their chunks among them, as ``signals.jsonl`` into a folder."""
    request = {"files": _all(files), "executed": executed, "out": out}
    return Result(call("rollouts.signals", request, seed=0, jobs=1, progress=False))


def _all(files: Path | Sequence[Path]) -> list[Path]:
    """One file or several."""
    return [files] if isinstance(files, (str, PathLike)) else list(files)
