"""The other commands of the engine as functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import offnominal

CAMPAIGN = """
name = "small"
seed = 1
envs = ["sap-goal1"]
detectors = ["clock"]
anomalies = [{ id = "obs-offset", magnitude = 1.0 }]
false_alarms = 0.25
replicates = 50
traces = 1
video = false
episodes = { train = 8, validation = 6, test = 6 }
"""


def test_a_campaign_file_is_run_and_its_page_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(CAMPAIGN)
    found = offnominal.commands.bench(campaign=tmp_path / "small.toml", out=tmp_path / "out", progress=False)
    assert found["rows"] > 0 and all(Path(file).is_file() for file in found["files"])
    assert offnominal.report(tmp_path / "out") == {"report": found["report"]}


def test_a_trained_policy_is_played_and_watched(tmp_path: Path) -> None:
    options: dict[str, Any] = {"steps": 300, "set_": ["hidden=[8]", "batch=16"]}
    card = offnominal.train("cartpole", out=tmp_path / "run", seed=1, progress=False, **options)
    assert card["steps"] == 300 and "--steps 300" in card["command"]
    policy, monitor = str(tmp_path / "run" / "policy.safetensors"), tmp_path / "knn.monitor"
    counts: dict[str, Any] = {"train": 6, "calibration": 6, "rule": "max", "diagnosis": False}
    counts |= {"env": "cartpole", "policy": policy, "progress": False}
    fitted = offnominal.fit(monitor, detector={"id": "knn", "k": 3}, **counts)
    assert fitted["monitor"]["detector"]["id"] == "knn" and fitted["monitor"]["detector"]["params"]["k"] == 3
    assert offnominal.fit(monitor, detector=offnominal.detectors.Knn(k=3), **counts) == fitted
    episodes = tmp_path / "episodes.arrow"
    offnominal.collect("cartpole", policy, episodes=3).save(episodes)
    assert [found["episode"] for found in offnominal.score(monitor, logs=episodes)] == [0, 1, 2]
    with pytest.raises(TypeError, match="stepps"):
        offnominal.train("cartpole", out=tmp_path / "other", stepps=3)


def test_scores_are_judged(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("episode,step,score,label\na,0,0.1,0\na,1,0.9,1\nb,0,0.2,0\nb,1,0.8,1\n")
    found = offnominal.metrics(tmp_path / "scores.csv", replicates=100)
    assert found["auroc_global"]["value"] == 1.0


def test_an_episode_is_drawn(tmp_path: Path) -> None:
    anomaly: dict[str, Any] = {"anomaly": "act-scaling", "magnitude": 0.5, "onset": 0}
    found = offnominal.render(env="sap-goal0", policy="tqc", out=tmp_path, size=16, **anomaly)
    assert found["onset"] == 0 and all(Path(file).is_file() for file in found["files"])


def test_a_calibration_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="episodes: expected 24 to 100000, found 3"):
        offnominal.calibrate("sap-goal0", policy="tqc", out=tmp_path, episodes=3)


def test_policies_of_a_training_become_one(tmp_path: Path) -> None:
    options: dict[str, Any] = {"steps": 200, "set_": ["hidden=[8]", "batch=16"], "progress": False}
    members = [tmp_path / str(seed) / "policy.safetensors" for seed in (1, 2)]
    for seed, member in enumerate(members, 1):
        offnominal.train("cartpole", out=member.parent, seed=seed, **options)
    found = offnominal.ensemble("cartpole", members, out=tmp_path / "both")
    assert found == {"policy": str(tmp_path / "both" / "policy.safetensors"), "members": 2}
    with pytest.raises(ValueError, match="expected at least two members, found 1"):
        offnominal.ensemble("cartpole", members[:1], out=tmp_path / "one")


def test_a_dataset_is_exported(tmp_path: Path) -> None:
    offnominal.collect("cartpole", "random", episodes=2).save(tmp_path / "episodes.arrow")
    found = offnominal.commands.export("minari", tmp_path / "episodes.arrow", "cartpole/random-v0", out=tmp_path)
    assert found["episodes"] == 2 and Path(found["folder"]).is_dir()
