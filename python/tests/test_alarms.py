"""Monitors with thresholds, as files, and the command line."""

import json
import subprocess
import sys

import numpy as np
import pytest

import offnominal
from offnominal import alarms, detectors


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("alarms") / "knn.monitor"
    train, aside = (offnominal.collect("sap-goal1", "tqc", episodes=20, seed=seed) for seed in (1, 2))
    alarms.fit(train, aside, detectors.Knn(k=3), out=path, rule="max", diagnosis=False, raise_after=2)
    return path


def strange():
    return offnominal.collect("sap-goal1", "tqc", episodes=1, seed=3, anomaly="obs-offset", magnitude=3.0, onset=5)[0]


def test_an_alarm_is_raised_after_the_onset_and_not_before(file):
    watch, episode = alarms.Watch.load(file), strange()
    assert watch.about["detector"]["id"] == "knn" and watch.about["threshold"]["rule"] == "max"
    verdicts = [watch.step(episode.observations[t], episode.actions[t]) for t in range(len(episode))]
    verdicts.append(watch.step(episode.observations[-1]))
    assert verdicts[0] is None and [v.step for v in verdicts[1:]] == list(range(len(episode)))
    raised = [v.step for v in verdicts[1:] if v.is_alarm]
    assert len(raised) == 1 and raised[0] >= 6 and verdicts[-1].state == "raised"
    assert watch.acknowledge() == "cleared" and watch.diagnose() is None


def test_whole_transitions_are_the_same(file):
    watch, episode = alarms.Watch.load(file), strange()
    rows = episode.observations
    first = [watch.transition(rows[t], episode.actions[t], rows[t + 1]) for t in range(len(episode))]
    watch.reset()
    again = [watch.transition(rows[t], episode.actions[t], rows[t + 1]) for t in range(len(episode))]
    assert first == again
    with pytest.raises(ValueError, match="obs"):
        watch.transition(rows[0][:2], episode.actions[0], rows[1])


def test_what_is_not_read_is_counted_and_a_sensor_is_lost_in_the_end(file):
    watch, episode = alarms.Watch.load(file), strange()
    limit, row = watch.about["lost_after"], episode.observations[0].copy()
    watch.step(row, episode.actions[0])
    row[1] = np.nan
    verdicts = [watch.step(row, episode.actions[0]) for _ in range(limit + 1)]
    assert [v.missing for v in verdicts] == [1] * (limit + 1) and verdicts[-1].stale == limit + 1
    assert [v.sensor_event for v in verdicts] == [None] * limit + ["lost"] and all(v.confidence < 1 for v in verdicts)
    assert len(watch.lost) == verdicts[-1].lost == 1
    back = watch.step(episode.observations[0], episode.actions[0])
    assert (back.missing, back.lost, back.sensor_event, watch.lost) == (0, 0, "returned", [])


def test_bad_files_and_arguments_are_explained(file, tmp_path):
    with pytest.raises((ValueError, OSError), match="none.monitor"):
        alarms.Watch.load(tmp_path / "none.monitor")
    damaged = tmp_path / "bad.monitor"
    damaged.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="bad.monitor"):
        alarms.Watch.load(damaged)
    few = offnominal.collect("sap-goal1", "tqc", episodes=3)
    with pytest.raises(ValueError, match="rule: expected one of 3sigma, q95, max"):
        alarms.fit(few[:1], few[1:], "knn", out=tmp_path / "x", rule="most")
    with pytest.raises(ValueError, match="expected at least|calibration"):
        alarms.fit(few[:1], few[1:], "knn", out=tmp_path / "x", alpha=0.01)
    with pytest.raises(ValueError, match='did you mean "knn"'):
        alarms.fit(few[:1], few[1:], "knnn", out=tmp_path / "x", rule="max")
    assert not (tmp_path / "x").exists()


def command(*line):
    return subprocess.run([sys.executable, "-m", "offnominal", *line], capture_output=True, text=True)


def test_the_command_line_is_that_of_the_binary():
    found = command("list", "envs", "--json")
    assert {environment["id"] for environment in json.loads(found.stdout)} == set(offnominal.environments())
    assert command("--help").returncode == 0 and "bench" in command("--help").stdout
    wrong = command("evaluate", "--env", "sap-goal7", "--policy", "tqc")
    assert wrong.returncode == 2 and 'did you mean "sap-goal0"' in wrong.stderr
    assert command("evaluate").returncode == 2
