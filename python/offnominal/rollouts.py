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
from offnominal._tables import Result

__all__ = [
    "judge",
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
    """Judge failure detectors among rollouts, once the clock is taken out.

    The command ``offnominal rollouts judge``.

    :param files: Rollouts as JSON lines or Parquet, or folders of them
    :param detectors: A detector; may be given several times: SIGNAL, max(SIGNAL), mean(SIGNAL), sum(SIGNAL),
        ewma(SIGNAL), -DETECTOR, actprobe, hazard, hazard(SIGNAL,...), odds(DETECTOR,...) [default: each signal and its
        mean so far]
    :param versus: The detector from which the others are told apart, by a difference with its interval
    :param splits: What is learned from and what is judged; may be given several times: folds:N, tasks:N, or the
        published splits seen:SEEDS and unseen:SEEDS [default: all rollouts are judged, and nothing is learned]
    :param executed: Actions of each chunk that are executed before the next one, where the files do not say it
    :param instructions: Embeddings of the tasks' instructions: a .npy file that holds a dictionary of arrays by task
    :param from_step: The first step that is compared [default: 0]
    :param alpha: Share of successful rollouts that may have an alarm [default: 0.15]
    :param replicates: Bootstrap replicates of each interval, 100 to 100000 [default: 1000]
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
    """Write what chunks of actions say as signals, for `rollouts judge`, `fit` and `score`.

    The command ``offnominal rollouts signals``.

    :param files: Rollouts as JSON lines or Parquet, or folders of them
    :param executed: Actions of each chunk that are executed before the next one, where the files do not say it
    :param out: Folder for signals.jsonl and signals.toml [default: runs/rollouts]
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("rollouts signals", locals())
