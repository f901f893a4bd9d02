"""The benchmark from Python."""

import _thread
import signal
import threading

import numpy as np
import pytest

import offnominal
from offnominal import detectors

SMALL = {
    "env": "sap-goal1",
    "anomalies": [{"id": "obs-offset", "magnitude": 1.0}],
    "episodes": (8, 6, 6),
    "false_alarms": 0.25,
    "options": {"replicates": 50, "traces": 1},
    "jobs": 2,
}


class Jump:
    """How far the observation moved in a step, in units of the largest move in training."""

    name = "jump"

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, episodes):
        self.scale = max(self._moves(episode).max() for episode in episodes)

    def score(self, episode):
        return (self._moves(episode) / self.scale) ** self.power

    def _moves(self, episode):
        observations, actions = episode
        assert len(observations) == len(actions) + 1
        return np.linalg.norm(np.diff(observations, axis=0), axis=1)


class JumpsInRows:
    """The same in the manner of PyOD: one row per step."""

    def fit(self, rows):
        self.centre = rows.mean(axis=0)

    def decision_function(self, rows):
        return np.linalg.norm(rows - self.centre, axis=1)


def value(results, detector, metric="auroc_matched"):
    rows = results.table.query("detector == @detector and metric == @metric and anomaly == 'obs-offset'")
    assert len(rows) == 1
    return rows["value"].iloc[0]


def test_detectors_of_python_and_of_the_engine_in_one_table(tmp_path):
    own = [Jump(), offnominal.adapters.Rows(JumpsInRows(), name="rows")]
    found = offnominal.bench(
        policy="tqc", detectors=["clock", detectors.Knn(k=3), *own], out=tmp_path / "a", **SMALL
    )
    assert set(found.table["detector"]) == {"clock", "knn", "jump", "rows"}
    assert value(found, "clock") == 0.5
    assert value(found, "knn") > 0.8 and value(found, "rows") > 0.6
    assert found.report.is_file() and "jump" in str(found) and "<iframe" in found._repr_html_()
    assert found.to_arrow().num_rows == len(found.table)


def test_the_same_call_finds_what_is_finished_and_gives_the_same_bits(tmp_path):
    calls = []

    class Counted(Jump):
        def fit(self, episodes):
            calls.append(len(episodes))
            super().fit(episodes)

        def __deepcopy__(self, memo):
            return self

    for _ in range(2):
        offnominal.bench(policy="tqc", detectors=[Counted()], out=tmp_path, **SMALL)
        first = (tmp_path / "results.csv").read_bytes()
    assert (tmp_path / "results.csv").read_bytes() == first and calls == [8]
    offnominal.bench(policy="tqc", detectors=["clock"], out=tmp_path, **SMALL)
    assert offnominal.bench(policy="tqc", detectors=[Jump(2.0)], out=tmp_path, **SMALL)


def towards(obs):
    """A policy that pushes against the first two numbers."""
    return -np.asarray(obs[:2], np.float32).clip(-1, 1)


def test_policies_of_python(tmp_path):
    policies = {"towards": towards, "shipped": offnominal.Policy("sap-goal1", "tqc")}
    found = offnominal.bench(policy=policies, detectors=["knn"], out=tmp_path, **SMALL)
    assert set(found.table["policy"]) == {"towards", "shipped"}


def test_exceptions_of_python_arrive_as_they_are(tmp_path):
    class Broken(Jump):
        def score(self, episode):
            raise ZeroDivisionError("of my own")

    class Short(Jump):
        def score(self, episode):
            return [0.0]

    with pytest.raises(ZeroDivisionError, match="of my own"):
        offnominal.bench(policy="tqc", detectors=[Broken()], out=tmp_path, **SMALL)
    with pytest.raises(ValueError, match="finite numbers, one for each step, found 1"):
        offnominal.bench(policy="tqc", detectors=[Short()], out=tmp_path, **SMALL)
    with pytest.raises(ValueError, match="action of the policy: expected an array of shape"):
        offnominal.bench(policy=lambda obs: [0.0], detectors=["knn"], out=tmp_path, **SMALL)


@pytest.fixture
def interruptible():
    """Ctrl-C raises, even where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_stops_and_the_same_call_goes_on(tmp_path, interruptible):
    begun = threading.Event()

    class Slow(Jump):
        def fit(self, episodes):
            if not begun.is_set():
                begun.set()
                _thread.interrupt_main()
            super().fit(episodes)

    with pytest.raises(KeyboardInterrupt):
        offnominal.bench(policy="tqc", detectors=["knn", Slow(), "clock"], out=tmp_path, **SMALL)
    assert not (tmp_path / "results.csv").exists()
    found = offnominal.bench(policy="tqc", detectors=["knn", Jump(), "clock"], out=tmp_path, **SMALL)
    whole = offnominal.bench(policy="tqc", detectors=["knn", Jump(), "clock"], out=tmp_path / "whole", **SMALL)
    assert (found.folder / "results.csv").read_bytes() == (whole.folder / "results.csv").read_bytes()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"detectors": ["knnn"]}, 'did you mean "knn"'),
        ({"detectors": [object()]}, "expected an id, or an object with fit and score, found object"),
        ({"detectors": ["knn"], "anomalies": ["obs-nose"]}, 'did you mean "obs-noise"'),
        ({"detectors": ["knn"], "episodes": (0, 1, 1)}, "train"),
        ({"detectors": ["knn"], "options": {"replicate": 3}}, "replicate"),
        ({"detectors": ["knn"], "policy": 3}, "expected a name, a callable or a model with predict, found int"),
    ],
)
def test_bad_arguments_are_explained(given, expected, tmp_path):
    with pytest.raises(ValueError, match=expected):
        offnominal.bench(**{**SMALL, "out": tmp_path, **given})
