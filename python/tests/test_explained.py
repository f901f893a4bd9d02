"""What an alarm is due to: the parts of a score, and the faults that a diagnosis names."""

import json
import subprocess
import sys

import numpy as np
import pytest

import offnominal
from offnominal import alarms, commands, detectors

QUICK = {"id": "ensemble-dm", "members": 2, "hidden": [8], "training": {"epochs": 5}}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A monitor whose detector tells the parts of its score, and whose diagnosis names faults."""
    path = tmp_path_factory.mktemp("explained") / "naming.monitor"
    options = {"detector": QUICK, "train": 20, "calibration": 20, "rule": "max", "faults": 12}
    commands.fit(path, env="sap-goal0", policy="tqc", seed=1, progress=False, **options)
    return path


@pytest.fixture(scope="module")
def strange():
    return offnominal.collect("sap-goal0", "tqc", episodes=1, seed=3, anomaly="obs-offset", magnitude=3.0, onset=5)[0]


def of_the_program(file, episode):
    """What the program says of the same steps, which it has from Rust."""
    rows = zip(episode.observations.tolist(), episode.actions.tolist())
    lines = "".join(json.dumps({"obs": obs, "action": action}) + "\n" for obs, action in rows)
    command = [sys.executable, "-m", "offnominal", "monitor", str(file)]
    found = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in found.stdout.splitlines()]


def test_shares_and_candidates_are_those_of_the_program(file, strange):
    watch, told, dues = alarms.Watch.load(file), of_the_program(file, strange), []
    names = [channel["name"] for channel in watch.about["observation"]]
    assert watch.shares() is None and not watch.is_diagnosis_due
    watch.step(strange.observations[0], strange.actions[0])
    for expected, obs, action in zip(told, strange.observations[1:], strange.actions[1:]):
        verdict, shares = watch.step(obs, action), watch.shares()
        assert verdict.score == expected["score"]
        assert shares.dtype == np.float64 and shares.shape == (len(names),)
        assert shares.sum() == pytest.approx(verdict.score, rel=1e-9)
        if verdict.is_alarm:
            assert {part["name"]: part["share"] for part in expected["shares"]} == {n: s for n, s in zip(names, shares) if s}
        assert watch.is_diagnosis_due == ("diagnosis" in expected)
        if watch.is_diagnosis_due:
            dues.append(verdict.step)
            assert watch.diagnose() == expected["diagnosis"]
    assert len(dues) == 3 and dues == [dues[0], dues[0] + 5, dues[0] + 20]
    fields = {"anomaly", "direction", "neutral", "magnitude", "probability"}
    candidates = watch.diagnose()["candidates"]
    assert candidates and all(set(candidate) == fields for candidate in candidates)


def test_a_fitted_detector_has_shares_too(strange):
    nominal = offnominal.collect("sap-goal0", "tqc", episodes=8, seed=1)
    monitor = detectors.EnsembleDm(members=2, hidden=[8], training={"epochs": 5}).fit(nominal)
    rows = strange.observations
    for t in range(10):
        score = monitor.step(rows[t], strange.actions[t], rows[t + 1])
        assert monitor.shares().sum() == pytest.approx(score, rel=1e-9)
    plain = detectors.Knn().fit(nominal)
    plain.step(rows[0], strange.actions[0], rows[1])
    assert plain.shares() is None
