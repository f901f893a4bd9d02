"""Failure detectors for rollouts of generative policies (VLA, diffusion).

Each function is a command and returns what that prints with ``--json``: a dict, with ``to_pandas()``, ``to_polars()`` and
``to_arrow()``. Arguments are those of the command line, which checks them, and what is left out has the command's default;
without an ``out`` that has none, nothing is written. The same ``seed`` gives the same bits for any ``jobs``.

Written from the declarations of the commands by ``python/tests/test_functions.py``.
"""

# ruff: noqa: D214, D405, D411, D413, D416, E501

from __future__ import annotations

from collections.abc import Sequence

from offnominal._command import Path, one
from offnominal._landmark import LandmarkAuc, landmark_auc
from offnominal._tables import Result

__all__ = [
    "LandmarkAuc",
    "judge",
    "landmark_auc",
    "signals",
]


def judge(
    files: Path | Sequence[Path],
    *,
    detectors: str | int | Sequence[str | int] | None = None,
    versus: str | int | None = None,
    splits: str | int | Sequence[str | int] | None = None,
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
    """Judge failure detectors on rollouts, at matched times.

    The command ``offnominal rollouts judge``.

    :param files: Rollouts: JSON lines, Parquet, pickles of ActProbe, or folders
    :param detectors: Detector (docs/howto/rollouts.md); repeatable [default: each signal and its running mean]
    :param versus: Reference detector for paired differences
    :param splits: folds:N, tasks:N, seen:SEEDS or unseen:SEEDS; repeatable [default: nothing is learned]
    :param executed: Executed actions per chunk, if the files do not say it
    :param instructions: Embeddings of task instructions (.npy with a dictionary by task)
    :param from_step: First step that is compared [default: 0]
    :param alpha: Accepted share of successful rollouts with an alarm [default: 0.15]
    :param replicates: Bootstrap replicates per interval [default: 1000]
    :param out: Folder for rollouts.json, rollouts.csv and rollouts.html
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("rollouts judge", locals())


def signals(
    files: Path | Sequence[Path],
    *,
    executed: int | None = None,
    out: Path | None = None,
    progress: bool = True,
) -> Result:
    """Write signals computed from action chunks.

    The command ``offnominal rollouts signals``.

    :param files: Rollouts: JSON lines, Parquet, pickles of ActProbe, or folders
    :param executed: Executed actions per chunk, if the files do not say it
    :param out: Folder for signals.jsonl and signals.toml [default: runs/rollouts]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("rollouts signals", locals())
