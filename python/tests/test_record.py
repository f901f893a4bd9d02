"""Rollouts of policies in the style of LeRobot are recorded as the command reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offnominal
from offnominal import _engine


class Tensor:
    """What is needed of a tensor of PyTorch."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, dtype=np.float32)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def float(self) -> Tensor:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values, dtype=dtype)


class Queued:
    """Predicts a chunk of four actions, and gives the first two of them one by one."""

    def __init__(self) -> None:
        self.queue: list[Any] = []

    def select_action(self, observation: Any) -> Any:
        if not self.queue:
            self.queue = list(self.predict_action_chunk(observation).values[0, :2])
        return self.queue.pop(0)

    def predict_action_chunk(self, observation: Any) -> Tensor:
        return Tensor([[[observation, i] for i in range(4)]])


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_queue_of_actions_is_counted_and_the_command_reads_it(tmp_path: Path) -> None:
    policy, file = Queued(), tmp_path / "runs" / "rollouts.jsonl"
    with offnominal.record(policy, file, embed=lambda observation: [observation, 1]) as recorder:
        for success in (True, False):
            policy.queue.clear()
            recorder.begin("stack")
            for t in range(5):
                assert policy.select_action(float(t)).shape == (2,)
                recorder.note(speed=0.5)
            recorder.end(success=success)
    assert "select_action" not in vars(policy)
    first, second = lines(file)
    assert (first["rollout"], second["rollout"], second["success"]) == (0, 1, False)
    assert [step["executed"] for step in first["steps"]] == [2, 2, 1]
    assert first["steps"][1]["chunk"] == [[2, 0], [2, 1], [2, 2], [2, 3]]
    assert first["steps"][2]["embedding"] == [4, 1]
    line = ["offnominal", "rollouts", "signals", str(file), "--out", str(tmp_path / "out")]
    assert _engine.main(line) == 0
    steps = lines(tmp_path / "out" / "signals.jsonl")[0]["steps"]
    # What was foreseen of the third action, [0, 2], is now [2, 0]; and so on: each number is off by two.
    assert [step["tce"] for step in steps] == [0, 4, 4] and steps[0]["speed"] == 0.5


def test_a_policy_without_chunks_has_chunks_of_one_action(tmp_path: Path) -> None:
    class Plain:
        def select_action(self, observation: Any) -> Any:
            return np.full(3, observation)

    policy = Plain()
    recorder = offnominal.record(policy, tmp_path / "r.jsonl")
    policy.select_action(0.0)
    recorder.begin(4, rollout="a")
    policy.select_action(1.0)
    recorder.discard()
    recorder.begin(4, rollout="b")
    policy.select_action(2.0)
    recorder.end(success=True)
    recorder.close()
    assert lines(tmp_path / "r.jsonl") == [
        {
            "rollout": "b",
            "task": 4,
            "success": True,
            "steps": [{"step": 0, "chunk": [[2, 2, 2]], "executed": 1}],
        }
    ]


def test_samples_are_kept_and_other_shapes_are_refused(tmp_path: Path) -> None:
    class Sampling:
        def predict_action_chunk(self, observation: Any) -> Any:
            return np.asarray(observation)

    policy = Sampling()
    with offnominal.record(policy, tmp_path / "r.jsonl", executed=1, samples=True) as recorder:
        recorder.begin("lift")
        policy.predict_action_chunk(np.zeros((3, 2, 1)))
        with pytest.raises(ValueError, match="failure_step: expected a step of a failed rollout of 1, found 1"):
            recorder.end(success=False, failure_step=1)
        recorder.end(success=False, failure_step=0)
    assert lines(tmp_path / "r.jsonl")[0]["failure_step"] == 0
    assert lines(tmp_path / "r.jsonl")[0]["steps"][0]["chunk"] == [[[0], [0]]] * 3
    with offnominal.record(policy, tmp_path / "r.jsonl", executed=1) as recorder:
        recorder.begin("lift")
        with pytest.raises(ValueError, match=r"\[H, A\] or \[1, H, A\], found \[3, 2, 1\]"):
            policy.predict_action_chunk(np.zeros((3, 2, 1)))
        with pytest.raises(ValueError, match="finite numbers"):
            policy.predict_action_chunk([[np.nan]])
        with pytest.raises(ValueError, match="expected a chunk since the rollout began"):
            recorder.end(success=True)
        with pytest.raises(ValueError, match="expected the end of the rollout before"):
            recorder.begin("lift")


def test_what_is_no_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a policy with select_action or predict_action_chunk, found int"):
        offnominal.record(3, tmp_path / "r.jsonl")

    class Chunks:
        def predict_action_chunk(self, observation: Any) -> Any:
            return observation

    with pytest.raises(ValueError, match="executed: expected the number of actions"):
        offnominal.record(Chunks(), tmp_path / "r.jsonl")
    recorder = offnominal.record(Queued(), tmp_path / "r.jsonl")
    with pytest.raises(ValueError, match="call begin"):
        recorder.note(x=1.0)
    recorder.begin("lift")
    with pytest.raises(ValueError, match="note: expected a chunk"):
        recorder.note(x=1.0)
