"""The landmark AUC of scores that anybody has computed: what :func:`offnominal.rollouts.landmark_auc` gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._scores import Interval, _column


@dataclass(frozen=True)
class LandmarkAuc:
    """How well scores separate failing from succeeding rollouts of the same task at the same step; a clock has 0.5."""

    #: Over all pairs of a failing and a succeeding rollout that run at the same step: ruled by early steps.
    pairs: Interval
    #: Each step of each task counts once: ruled by late steps, when few rollouts run.
    cells: Interval
    #: Over the pairs of a task, and then each task counts once.
    tasks: Interval
    rollouts: int
    failures: int
    #: Steps of tasks at which both a failing and a succeeding rollout run; no other step is compared.
    n_cells: int


def landmark_auc(
    scores: Sequence[Any],
    success: Any,
    task: Sequence[Any],
    *,
    from_step: int = 0,
    replicates: int = 1000,
    seed: int = 0,
) -> LandmarkAuc:
    """The AUC of scores at the same task and step, among rollouts that still run, with intervals of 95 % over rollouts.

    Failed rollouts mostly run to the time limit and successful ones end early, so the AUROC of whole rollouts rewards a step
    counter. Here a step counter has exactly 0.5, and so has a score that only knows the task. ``docs/howto/rollouts.md`` explains
    it. The intervals hold for scores of one model on rollouts that it has not seen; where several models scored parts of
    the rollouts, compare each part by itself.

    :param scores: of each rollout, one number per step ``[T]``, larger where a failure is likelier.
    :param success: of each rollout, whether it succeeded.
    :param task: of each rollout, the name or number of its task.
    :param from_step: the first step that is compared.
    :param replicates: of the bootstrap, which draws rollouts anew within task and outcome.
    :param seed: of the bootstrap.
    :raises ValueError: if there are not as many of each, a score is not finite, all rollouts have the same outcome, or no
        failing and succeeding rollout of one task run at the same step.
    """
    each = [_column(one, f"scores of rollout {i}") for i, one in enumerate(scores)]
    if not each:
        raise ValueError("scores: expected an array for each rollout, found none")
    for i, one in enumerate(each):
        if not np.isfinite(one).all():
            step = int(np.argmin(np.isfinite(one)))
            raise ValueError(f"scores of rollout {i}: expected finite numbers, found {one[step]} at step {step}")
    fails = ~_outcomes(success, len(each))
    if fails.all() or not fails.any():
        raise ValueError(f"success: expected failed and successful rollouts, found {fails.sum()} failed of {len(fails)}")
    for name, number, least in (("from_step", from_step, 0), ("replicates", replicates, 100), ("seed", seed, 0)):
        if number < least:
            raise ValueError(f"{name}: expected {least} or more, found {number}")
    rollouts = list(zip(_tasks(task, len(each)), fails.tolist(), strict=True))
    lengths = [len(one) for one in each]
    areas, n_cells = json.loads(_engine.landmark_auc(np.concatenate(each), lengths, rollouts, from_step, replicates, seed))
    pairs, cells, tasks = (Interval(area["value"], area["low"], area["high"], area["method"]) for area in areas)
    return LandmarkAuc(pairs, cells, tasks, len(each), int(fails.sum()), n_cells)


def _outcomes(success: Any, n: int) -> NDArray[np.bool_]:
    found = np.asarray(success)
    if found.shape != (n,):
        raise ValueError(f"success: expected one for each of {n} rollouts, found the shape {list(found.shape)}")
    if found.dtype != bool and not (np.issubdtype(found.dtype, np.integer) and np.isin(found, (0, 1)).all()):
        raise ValueError(f"success: expected true or false for each rollout, found {found.dtype}")
    return found.astype(bool)


def _tasks(task: Any, n: int) -> list[int]:
    """Tasks as numbers, in the order in which they come."""
    names = list(task)
    if len(names) != n:
        raise ValueError(f"task: expected one for each of {n} rollouts, found {len(names)}")
    unknown = [i for i, name in enumerate(names) if name is None or name != name]
    if unknown:
        raise ValueError(f"task: expected a name or a number, found {names[unknown[0]]} of rollout {unknown[0]}")
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]
