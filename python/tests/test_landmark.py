"""The landmark AUC of plain arrays: by counting pairs, a clock, the engine's own command, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offnominal
from offnominal.rollouts import LandmarkAuc, landmark_auc

Drawn = tuple[list[Any], list[bool], list[str]]


def drawn(seed: int, n: int = 40) -> Drawn:
    """Rollouts of three tasks with ties; failures score a little higher and run longer."""
    rng = np.random.default_rng(seed)
    success = [bool(i % 3) for i in range(n)]
    lengths = [int(rng.integers(1, 15)) if ok else 15 for ok in success]
    scores = [rng.integers(0, 6, length) + (0 if ok else 1) for ok, length in zip(success, lengths, strict=True)]
    return scores, success, [f"task {i % 4 % 3}" for i in range(n)]


def counted(scores: list[Any], success: list[bool], task: list[str], from_step: int = 0) -> tuple[float, float, float, int]:
    """By pairs, by cells and by tasks, from each pair of a failure and a success that run at the same step."""
    cells: dict[tuple[str, int], list[float]] = {}
    for i, j in np.ndindex(len(scores), len(scores)):
        if success[i] or not success[j] or task[i] != task[j]:
            continue
        for step in range(from_step, min(len(scores[i]), len(scores[j]))):
            case, control = scores[i][step], scores[j][step]
            cells.setdefault((task[i], step), []).append(float(case > control) + 0.5 * float(case == control))
    of_task: dict[str, list[float]] = {}
    for (name, _), pairs in cells.items():
        of_task.setdefault(name, []).extend(pairs)
    everything = [pair for pairs in cells.values() for pair in pairs]
    by_cells, by_tasks = ([np.mean(pairs) for pairs in parts.values()] for parts in (cells, of_task))
    return float(np.mean(everything)), float(np.mean(by_cells)), float(np.mean(by_tasks)), len(cells)


def values(found: LandmarkAuc) -> tuple[float, float, float]:
    return found.pairs.value, found.cells.value, found.tasks.value


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("from_step", [0, 4])
def test_it_is_what_counting_pairs_gives(seed: int, from_step: int) -> None:
    scores, success, task = drawn(seed)
    found = landmark_auc(scores, success, task, from_step=from_step, replicates=200)
    *expected, n_cells = counted(scores, success, task, from_step)
    assert values(found) == pytest.approx(expected, abs=1e-12)
    assert (found.rollouts, found.failures, found.n_cells) == (40, 14, n_cells)
    for area in (found.pairs, found.cells, found.tasks):
        assert 0 <= area.low < area.value < area.high <= 1


@pytest.mark.parametrize("seed", range(5))
def test_a_clock_and_a_score_that_knows_the_task_have_one_half(seed: int) -> None:
    scores, success, task = drawn(seed)
    clock = [np.arange(len(one)) for one in scores]
    prior = [np.full(len(one), float(name[-1])) for one, name in zip(scores, task, strict=True)]
    for blind in (clock, prior):
        found = landmark_auc(blind, success, task, replicates=100)
        assert values(found) == (0.5, 0.5, 0.5)
    # Whole rollouts: the clock is nearly perfect.
    assert np.mean([len(f) > len(s) for f, ok in zip(scores, success, strict=True) if not ok
                    for s, good in zip(scores, success, strict=True) if good]) > 0.9  # fmt: skip
    perfect = [np.full(len(one), 0.0 if ok else 1.0) for one, ok in zip(scores, success, strict=True)]
    assert values(landmark_auc(perfect, success, task)) == (1.0, 1.0, 1.0)


def test_order_of_rollouts_and_increasing_maps_change_nothing() -> None:
    scores, success, task = drawn(7)
    found = values(landmark_auc(scores, success, task, replicates=100))
    order = np.random.default_rng(0).permutation(len(scores))
    mixed = [np.exp(scores[i]) for i in order], [success[i] for i in order], [task[i] for i in order]
    assert values(landmark_auc(*mixed, replicates=100)) == pytest.approx(found, abs=1e-12)
    negative = landmark_auc([-one for one in scores], success, task, replicates=100)
    assert values(negative) == pytest.approx([1 - value for value in found], abs=1e-12)


def test_the_command_gives_the_same_numbers_and_intervals(tmp_path: Path) -> None:
    scores, success, task = drawn(3)
    rows = zip(scores, success, task, strict=True)
    lines = [{"task": name, "success": ok, "steps": [{"x": int(x)} for x in one]} for one, ok, name in rows]
    file = tmp_path / "rollouts.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judged = offnominal.rollouts.judge(file, detectors=["x"], replicates=300, seed=5, progress=False)
    (row,) = [row for row in judged["sections"][0]["detectors"] if row["detector"] == "x"]
    found = landmark_auc(scores, success, task, replicates=300, seed=5)
    for name, area in (("pairs", found.pairs), ("cells", found.cells), ("tasks", found.tasks)):
        expected = row["landmark"][name]
        assert (area.value, area.low, area.high) == (expected["value"], expected["low"], expected["high"])


GOOD: Drawn = ([[1.0, 2.0], [0.5], [3.0]], [False, True, True], ["a", "a", "b"])


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"scores": []}, "scores: expected an array for each rollout, found none"),
        ({"scores": [1.0, 2.0, 3.0]}, r"scores of rollout 0: expected a number per step .* found the shape \[\]"),
        ({"scores": [[1.0], [], [3.0]]}, r"scores of rollout 1: .* found the shape \[0\]"),
        ({"scores": [[1.0, float("nan")], [0.5], [3.0]]}, "scores of rollout 0: expected finite numbers, found nan at step 1"),
        ({"scores": [["a"], [0.5], [3.0]]}, "scores of rollout 0: expected numbers"),
        ({"success": [True] * 3}, "success: expected failed and successful rollouts, found 0 failed of 3"),
        ({"success": [False] * 3}, "found 3 failed of 3"),
        ({"success": [False, True]}, r"success: expected one for each of 3 rollouts, found the shape \[2\]"),
        ({"success": [0.5, 1.0, 1.0]}, "success: expected true or false for each rollout, found float64"),
        ({"success": [0, 1, 2]}, "success: expected true or false for each rollout, found int64"),
        ({"task": ["a", "a"]}, "task: expected one for each of 3 rollouts, found 2"),
        ({"task": ["a", None, "b"]}, "task: expected a name or a number, found None of rollout 1"),
        ({"task": ["a", "b", "c"]}, "expected at least 1 steps of a task with a failure and a success, found 0"),
        ({"from_step": 1}, "steps of a task with a failure and a success"),
        ({"from_step": -1}, "from_step: expected 0 or more, found -1"),
        ({"replicates": 10}, "replicates: expected 100 or more, found 10"),
    ],
)
def test_what_cannot_be_compared_is_refused(changed: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = dict(zip(("scores", "success", "task"), GOOD, strict=True))
    assert landmark_auc(**given, replicates=100).pairs.value == 1.0
    with pytest.raises(ValueError, match=says):
        landmark_auc(**{**given, **changed})
