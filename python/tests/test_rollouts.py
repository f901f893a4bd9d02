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
