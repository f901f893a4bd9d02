"""Risk, shift, pixels and image detectors from Python: the engine's commands as functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offnominal
from offnominal import image_detectors, pixels, risk


def test_a_budget_is_what_the_command_prints() -> None:
    found = risk.budget(p=1e-3)
    assert found == {"episodes": found["episodes"]} and found["episodes"] > 0


def test_an_estimate_is_the_same_for_any_number_of_threads(tmp_path: Path) -> None:
    def estimate(jobs: int, out: Path | None) -> Any:
        return risk.estimate("pendulum", "random", episodes=40, seed=3, jobs=jobs, out=out, progress=False)

    first = estimate(1, tmp_path / "run")
    assert first == estimate(2, None)
    assert first["experiments"] == 40 and (tmp_path / "run" / "report.html").is_file()


def test_experiments_may_follow_what_failed(tmp_path: Path) -> None:
    few: dict[str, Any] = {"randomise": "gravity", "sigma": 0.2, "below": 12.0, "progress": False}
    found = risk.estimate("cartpole", "random", method="adaptive", episodes=400, seed=5, out=tmp_path, **few)
    plain = risk.estimate("cartpole", "random", episodes=400, seed=6, **few)
    assert found["run"]["method"] == {"name": "adaptive", "plain_share": 0.5, "predictor": None, "rate": 0.01}
    assert found["risk"]["risk"]["low"] < plain["risk"]["risk"]["high"] and found["draws"] == 40_000
    gate = risk.estimate("cartpole", "random", method="adaptive", goal="gate", episodes=20, **few)
    assert gate["run"]["method"]["plain_share"] == 0.8
    with pytest.raises(ValueError, match="top share: expected the method thinned"):
        risk.estimate("cartpole", "random", top_share=0.1, **few)


def test_a_cheap_simulator_helps_a_dear_one(tmp_path: Path) -> None:
    def found(cheap: Any, **more: Any) -> Any:
        return risk.estimate("sap-goal2", "tqc", cheap=cheap, episodes=100, per_dear=2, progress=False, **more)

    first = found("sap-goal2", cheap_parameters={"mass": 1.1}, out=tmp_path)
    assert first["cheap_parameters"] == {"mass": 1.1} and first["cheap_cost"]["episodes"] == 300
    assert (tmp_path / "multifidelity.json").is_file()
    with pytest.raises(ValueError, match="initial conditions: expected those of sap-goal2 and pendulum to be the same"):
        found("pendulum")


def test_a_history_is_made_of_policies(tmp_path: Path) -> None:
    policies = [Path(__file__).parents[2] / "agents/driving-tqc/policies/000525000.safetensors"]
    few: dict[str, Any] = {"episodes": 20, "history_only": True, "progress": False}
    found = risk.learn("driving", policies=policies, out=tmp_path, **few)
    assert found["played"]["policies"][0]["episodes"] == 20 and (tmp_path / "history.safetensors").is_file()
    assert "cross_entropy" not in found


def test_a_wrong_argument_is_named() -> None:
    with pytest.raises(ValueError, match="plain share"):
        risk.estimate("pendulum", "random", plain_share=2.0, progress=False)
    with pytest.raises(TypeError, match="pass"):
        pixels.describe("nowhere", **{"pass": 1})
    with pytest.raises(ValueError, match="expected one of hopper"):
        offnominal.shift("cartpole", progress=False)


def test_scenes_are_drawn_and_described(tmp_path: Path) -> None:
    written = pixels.scenes(n=2, out=tmp_path / "scenes", seed=1, progress=False)
    assert written["folder"] == str(tmp_path / "scenes")
    assert pixels.describe(tmp_path / "scenes", progress=False)


def test_an_image_detector_is_fitted_and_scores_frames() -> None:
    rng = np.random.default_rng(1)

    def episode(level: int) -> tuple[Any, Any]:
        frames = rng.integers(0, level, (13, 32, 32, 3), dtype=np.uint8)
        return frames, np.zeros((12, 1), np.float32)

    detector = image_detectors.ALL["frame-knn-own"]()
    monitor = detector.fit([episode(60) for _ in range(6)], seed=1)
    nominal, bright = monitor.score(*episode(60)), monitor.score(*episode(255))
    assert nominal.shape == (12,) and bright.mean() > nominal.mean()
    assert (monitor.fork().score(*episode(60)) >= 0).all()
    with pytest.raises(ValueError, match="expected frames of shape"):
        monitor.score(np.zeros((3, 3)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="unknown field"):
        image_detectors.ALL["frame-knn-own"](sides=3)


def test_a_formula_says_when_an_episode_fails() -> None:
    formula = "eventually[0, 5] (cos_theta > 0.9)"
    found = risk.estimate("pendulum", "random", stl=formula, episodes=60, progress=False)
    assert found["run"]["scenario"] == {"criterion": {"stl": formula}}
    assert 0 < len(found["failures"]) < 60
    narrow = risk.estimate("pendulum", "random", stl=formula, width=0.5, progress=False)
    assert narrow["risk"]["risk"]["high"] - narrow["risk"]["risk"]["low"] <= 0.5
    with pytest.raises(ValueError, match="did you mean \"cos_theta\""):
        risk.estimate("pendulum", "random", stl="always (cos_teta > 0)", progress=False)


NOISE = """
[sensors.motor]
unit = "1"
white = 0.5
source = "a fixture"

[[action]]
channels = ["*"]
sensor = "motor"
"""


def test_a_likely_failure_under_disturbances_is_found_and_replayed(tmp_path: Path) -> None:
    noise = tmp_path / "motor.toml"
    noise.write_text(NOISE)
    formula = "always (abs(theta_velocity) < 7)"
    found = risk.stress(
        "pendulum", "random", noise=noise, stl=formula, searches=3, budget=60, refine=60,
        out=tmp_path / "stress", progress=False,
    )  # fmt: skip
    assert [row["strategy"] for row in found["strategies"]] == ["random", "climb", "cross-entropy"]
    failure = found["failures"][0]
    assert failure["likelihood"]["distance"] <= failure["first"]["distance"]
    again = offnominal.render(run=tmp_path / "stress", out=tmp_path / "video")
    assert (again["steps"], again["likelihood"]) == (failure["steps"], failure["likelihood"])
    with pytest.raises(ValueError, match="expected nominal noise to search"):
        risk.stress("pendulum", "random", progress=False)
