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
    found = offnominal.rollouts.signals(recorded, out=tmp_path)
    assert found["signals"] == ["tce", "acm", "jerk"] and Path(found["file"]).exists()
    with pytest.raises(ValueError, match=r"expected max, mean, sum, ewma or reversals of a signal"):
        offnominal.rollouts.judge(recorded, detectors=["most(acm)"], progress=False)
    with pytest.raises(ValueError, match="hazard learns from rollouts: expected a split"):
        offnominal.rollouts.judge(recorded, detectors=["hazard"], progress=False)


def test_a_monitor_of_signals_says_beside_a_policy_what_it_says_of_the_recording(recorded: Path, tmp_path: Path) -> None:
    found = offnominal.rollouts.signals(recorded, out=tmp_path)
    log, mapping, monitor = found["file"], found["mapping"], tmp_path / "m.monitor"
    offnominal.fit(monitor, logs=log, map_=mapping, by_task=True, detector="knn", alpha=0.2, progress=False)
    watch = offnominal.alarms.Watch.load(monitor)
    names = [channel["name"] for channel in watch.about["observation"]]
    assert names == ["tce", "acm", "jerk"]
    signals, recordings = offnominal.ChunkSignals(), offnominal.logs.read(log, mapping)
    for line, recording in zip(recorded.read_text().splitlines(), recordings, strict=True):
        rollout = json.loads(line)
        watch.reset(rollout["task"])
        signals.reset()
        verdicts = []
        for step in rollout["steps"]:
            values = signals.step(np.array([step["chunk"]]), executed=1)
            verdicts.append(watch.step([values[name] for name in names], []))
        assert verdicts[0] is None
        assert [verdict.score for verdict in verdicts[1:]] == pytest.approx(watch_scores(watch, recording))


def watch_scores(watch: offnominal.alarms.Watch, recording: Any) -> list[float]:
    """What the monitor says of the steps of a recording."""
    watch.reset(recording.task)
    rows = zip(recording.observations[:-1], recording.observations[1:], strict=True)
    return [watch.transition(obs, [], next_obs).score for obs, next_obs in rows]


def test_what_is_no_chunk_is_named() -> None:
    signals = offnominal.ChunkSignals()
    assert signals.step([[0.5]], executed=1) == {"tce": 0.0, "acm": 0.5, "jerk": 0.0}
    with pytest.raises(ValueError, match="expected actions of 1 numbers as before, found 2"):
        signals.step([[0.5, 1.0]], executed=1)
    with pytest.raises(ValueError, match="expected one executed action or more, found 0"):
        signals.step([[0.5]], executed=0)
    signals.reset()
    found = signals.step(np.zeros((3, 2, 1)), executed=1, samples=True)
    assert list(found) == ["tce", "acm", "jerk", "stac-mmd", "stac-energy", "entropy"]
