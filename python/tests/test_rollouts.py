"""Rollouts are judged from Python as on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offnominal


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Rollouts of two tasks whose failures jump more, and run longer."""
    rng, lines = np.random.default_rng(3), []
    for i in range(60):
        fails = i % 3 == 0
        steps: list[dict[str, Any]] = [
            {"step": t, "chunk": [[float(x)], [0.5]]}
            for t, x in enumerate(rng.random(12 if fails else 8) * (1.5 if fails else 1))
        ]
        lines.append({"rollout": i, "task": f"task {i % 2}", "success": not fails, "executed": 1, "steps": steps})
    file = tmp_path / "rollouts.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_a_detector_is_judged_beside_the_clock(recorded: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "detectors": ["mean(acm)"],
        "splits": ["folds:4"],
        "replicates": 100,
        "progress": False,
    }
    found = offnominal.rollouts.judge(recorded, out=tmp_path / "out", **options)
    rows = {row["detector"]: row["landmark"]["pairs"]["value"] for row in found["sections"][0]["detectors"]}
    assert rows["clock"] == rows["task-prior"] == 0.5 < 0.7 < rows["mean(acm)"]
    assert found == json.loads((tmp_path / "out" / "rollouts.json").read_text())
    again = offnominal.rollouts.judge([recorded], jobs=1, **options)
    assert again["sections"] == found["sections"] and "page" not in again


def test_signals_are_written_and_bad_requests_are_named(recorded: Path, tmp_path: Path) -> None:
    found = offnominal.rollouts.signals(recorded, tmp_path)
    assert found["signals"] == ["tce", "acm", "jerk"] and Path(found["file"]).exists()
    with pytest.raises(ValueError, match=r"expected max, mean, sum or ewma of a signal"):
        offnominal.rollouts.judge(recorded, detectors=["most(acm)"], progress=False)
    with pytest.raises(ValueError, match="hazard learns from rollouts: expected a split"):
        offnominal.rollouts.judge(recorded, detectors=["hazard"], progress=False)


def test_a_probe_says_beside_a_policy_what_it_says_of_the_recording(recorded: Path, tmp_path: Path) -> None:
    found = offnominal.rollouts.fit(recorded, tmp_path, alpha=0.2, executed=1, progress=False)
    assert [task["from"] for task in found["about"]["tasks"]] == ["own", "own"]
    watched = offnominal.rollouts.watch(found["file"], recorded)["rollouts"]
    probe = offnominal.rollouts.Probe.load(found["file"])
    assert "hazard of 2 tasks" in repr(probe) and probe.about["signals"] == ["tce", "acm"]
    for line, expected in zip(recorded.read_text().splitlines(), watched, strict=True):
        rollout = json.loads(line)
        probe.begin(rollout["task"])
        verdicts = [probe.step(np.array([step["chunk"]])) for step in rollout["steps"]]
        assert [score for score, _ in verdicts] == expected["scores"] and probe.threshold == expected["threshold"]
        alarms = [t for t, (_, alarm) in enumerate(verdicts) if alarm]
        assert next(iter(alarms), None) == expected["alarm"]


def test_a_probe_is_quiet_about_unknown_tasks_and_names_what_is_wrong(recorded: Path, tmp_path: Path) -> None:
    file = offnominal.rollouts.fit(recorded, tmp_path, detector="mean(acm)", alpha=0.2, progress=False)["file"]
    probe = offnominal.rollouts.Probe.load(file)
    with pytest.raises(ValueError, match=r"expected a rollout that has begun, found none; call begin\(task\)"):
        probe.step([[0.5]])
    probe.begin("juggle")
    assert probe.step(acm=2.0) == (2.0, None) and probe.threshold is None
    with pytest.raises(ValueError, match="step 1: expected the signals"):
        probe.step(tce=1.0)
    probe.begin("task 0")
    with pytest.raises(ValueError, match="expected `executed`, the number of its actions that are executed"):
        probe.step([[0.5]])
    probe.begin("task 0", executed=1)
    assert probe.step([[0.5]]).score == 0.5
    content = bytearray(Path(file).read_bytes())
    content[-1] ^= 1
    Path(file).write_bytes(content)
    with pytest.raises(ValueError, match="damaged or was edited"):
        offnominal.rollouts.Probe.load(file)
    with pytest.raises(OSError, match="none.safetensors"):
        offnominal.rollouts.Probe.load(tmp_path / "none.safetensors")
