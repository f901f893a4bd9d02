"""A benchmark on many machines."""

import os
import pickle
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from test_bench import SMALL, Jump

import offnominal
from offnominal.cluster import Ray

slow = pytest.mark.skipif(os.environ.get("RUN_SLOW_TESTS") != "1", reason="slow tier")


class Slow(Jump):
    """Says on which machine it is, and takes its time."""

    def __init__(self, name, begun):
        super().__init__()
        self.name, self.begun = name, begun

    def fit(self, episodes):
        import ray

        if ray.is_initialized():
            (Path(self.begun) / ray.get_runtime_context().get_node_id()).touch()
            time.sleep(1.0)
        super().fit(episodes)


def opposite(obs):
    """A policy of Python's own."""
    return -np.asarray(obs[:2], np.float32).clip(-1, 1)


@pytest.fixture
def cluster(monkeypatch):
    """Three machines in one: a head that runs nothing, and two with a processor each, which know this module."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from ray.cluster_utils import Cluster

    known = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(known))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    memory = 80 * 2**20
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=memory) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


@slow
def test_a_machine_is_lost_and_nothing_else(cluster, tmp_path):
    machines, (_, doomed) = cluster
    begun = tmp_path / "begun"
    begun.mkdir()

    def lose():
        while not (begun / doomed.node_id).exists():
            time.sleep(0.05)
        machines.remove_node(doomed, allow_graceful=False)

    killer = threading.Thread(target=lose)
    killer.start()
    on = Ray(in_flight=3)
    detectors = ["clock", "knn", *(Slow(f"slow{i}", str(begun)) for i in range(6))]
    given = {**SMALL, "policy": {"opposite": opposite, "tqc": offnominal.Policy("sap-goal1")}, "detectors": detectors}
    found = offnominal.bench(**given, out=tmp_path / "cluster", on=on)
    killer.join(timeout=30)
    here = offnominal.bench(**given, out=tmp_path / "here")
    assert (found.folder / "results.csv").read_bytes() == (here.folder / "results.csv").read_bytes()
    assert not killer.is_alive() and len({summary["node"] for summary in on.summaries}) == 2
    assert len(on.summaries) == len({summary["cell"] for summary in on.summaries}) == 2 * (4 + 1 + 8)


@slow
def test_an_exception_arrives_and_the_rest_is_called_off(cluster, tmp_path):
    class Broken(Jump):
        def score(self, episode):
            raise ZeroDivisionError("of my own")

    with pytest.raises(ZeroDivisionError, match="of my own"):
        offnominal.bench(policy="tqc", detectors=[Broken()], out=tmp_path, on=Ray(), **SMALL)


def test_without_ray_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install \"offnominal\[ray\]\""):
        offnominal.bench(policy="tqc", detectors=["clock"], out=tmp_path, on=Ray(), **SMALL)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"num_cpus": 0}, "num_cpus: expected a positive number, found 0"),
        ({"num_gpus": -1}, "num_gpus: expected a number that is not negative, found -1"),
        ({"retries": -1}, "retries: expected a number that is not negative, found -1"),
        ({"in_flight": 0}, "in_flight: expected at least 1, found 0"),
    ],
)
def test_bad_arguments_are_explained(given, expected):
    with pytest.raises(ValueError, match=expected):
        Ray(**given)


def test_policies_travel():
    shipped = offnominal.Policy("sap-goal1", "tqc")
    models = Path(__file__).parents[2] / "crates/offnominal-agents/tests/sb3"
    imported = offnominal.Policy.from_sb3(models / "tqc.zip", models / "tqc.pkl", env="pendulum")
    for policy in (shipped, imported):
        there = pickle.loads(pickle.dumps(policy))
        assert (there.name, there.env, there.digest) == (policy.name, policy.env, policy.digest)
    obs = np.array([1, 0, 0.5], np.float32)
    assert (there(obs) == imported(obs)).all()
