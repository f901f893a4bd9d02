"""Results and training runs in Weights & Biases and MLflow, and folders for the Hugging Face hub."""

import json
import os
import sys

import pytest
from test_bench import SMALL

import offnominal
from offnominal import alarms, hub, trackers
from offnominal._events import points

slow = pytest.mark.skipif(os.environ.get("RUN_SLOW_TESTS") != "1", reason="slow tier")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return offnominal.bench(policy="tqc", detectors=["clock", "knn"], out=tmp_path_factory.mktemp("bench"), **SMALL)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    settings = ["hidden=[16, 16]", "learning_starts=100", "eval_every=200", "eval_episodes=2"]
    offnominal.train("cartpole", folder, steps=400, seed=1, set=settings, progress=False)
    return folder


def test_curves_are_those_of_the_event_files(run):
    found = points(run)
    evaluations = [point for point in found if point.tag == "eval/return"]
    assert [point.step for point in evaluations] == [200, 400] and all(1 <= p.value <= 500 for p in evaluations)
    file = next(run.glob("events.out.tfevents.*"))
    content = file.read_bytes()
    file.write_bytes(content[:-5])
    assert points(run) == found[:-1] or len(points(run)) < len(found)
    file.write_bytes(content)


def test_without_the_library_a_tracker_names_the_extra(results, monkeypatch):
    for name in ("wandb", "mlflow"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=rf'pip install "offnominal\[{name}\]"'):
            getattr(trackers, name)(results)


class Fake:
    """What of wandb is called."""

    def __init__(self):
        self.logged, self.summary, self.files, self.id = [], {}, [], "one"
        self.Table = self.Html = lambda *content, **more: (content, more)

    def init(self, **given):
        self.given = given
        return self

    def log(self, numbers, step=None):
        self.logged.append((step, numbers))

    def Artifact(self, name, type):  # noqa: N802
        return self

    def add_file(self, path):
        self.files.append(path)

    def log_artifact(self, artifact):
        assert artifact is self

    def finish(self):
        self.is_finished = True


def test_what_is_logged(results, run, monkeypatch):
    fake = Fake()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    assert trackers.wandb(results, mode="offline") == "one" and fake.is_finished
    assert fake.given["mode"] == "offline" and fake.given["name"] == "bench"
    assert fake.summary["sap-goal1/tqc/clock/auroc_matched"] == 0.5
    assert {path.rsplit("/")[-1] for path in fake.files} == {"results.csv", "results.parquet", "report.html"}
    assert {name for _, numbers in fake.logged for name in numbers} == {"results", "report"}
    fake = Fake()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    trackers.wandb(run)
    assert [step for step, numbers in fake.logged if "eval/return" in numbers] == [200, 400]
    assert fake.summary["steps"] == 400 and len(fake.files) == 2
    with pytest.raises(FileNotFoundError, match="expected a folder of offnominal bench or offnominal train"):
        trackers.wandb(run.parent)


@slow
def test_weights_and_biases_takes_it(results, run, tmp_path):
    pytest.importorskip("wandb", reason="wandb is not installed")
    for found in (results, run):
        identity = trackers.wandb(found, mode="offline", dir=str(tmp_path))
        assert list(tmp_path.glob(f"wandb/offline-run-*-{identity}/run-{identity}.wandb"))


@slow
def test_mlflow_takes_it(results, run, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    for found in (results, run):
        identity = trackers.mlflow(found, tracking_uri=(tmp_path / "mlruns").as_uri())
        data = mlflow.get_run(identity).data
        assert data.metrics and data.params
    assert mlflow.MlflowClient().get_metric_history(identity, "eval/return")


def test_a_policy_for_the_hub_comes_back(tmp_path):
    policy = offnominal.Policy("sap-goal1", "tqc")
    folder = hub.save(policy, tmp_path / "policy", license="MIT")
    card = (folder / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: offnominal\n") and "license: mit" in card and "success rate" in card
    again = hub.load(folder)
    assert again.digest == policy.digest and again.env == "sap-goal1"
    (folder / "policy.safetensors").write_bytes(b"other")
    with pytest.raises(ValueError, match="expected SHA-256"):
        hub.load(folder)
    with pytest.raises(ValueError, match="expected one with a file"):
        hub.save(offnominal.Policy("sap-goal1", "random"), tmp_path / "random")


def test_a_monitor_for_the_hub_comes_back(tmp_path):
    nominal = offnominal.collect("sap-goal1", "tqc", episodes=10, seed=1)
    watch = alarms.fit(nominal[:5], nominal[5:], "knn", rule="max", diagnosis=False)
    folder = hub.save(watch, tmp_path / "watch")
    assert hub.load(folder).about == watch.about and "# knn for sap-goal1" in (folder / "README.md").read_text()
    meta = json.loads((folder / "offnominal.json").read_text())
    for wrong, expected in [({"format": 2}, "version 1"), ({"kind": "../x"}, "policy, watch"), ({"sha256": 1}, "SHA-256")]:
        (folder / "offnominal.json").write_text(json.dumps({**meta, **wrong}))
        with pytest.raises(ValueError, match=expected):
            hub.load(folder)
    (folder / "offnominal.json").write_text("[]")
    with pytest.raises(ValueError, match="expected what offnominal.hub.save wrote"):
        hub.load(folder)
    with pytest.raises(ValueError, match="thing: expected a Policy or a Watch, found int"):
        hub.save(3, tmp_path / "x")


@slow
def test_the_hub_reads_the_model_card(tmp_path):
    library = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    folder = hub.save(offnominal.Policy("sap-goal1", "tqc"), tmp_path, license="MIT")
    data = library.ModelCard.load(folder / "README.md").data
    assert data.library_name == "offnominal" and "sap-goal1" in data.tags and data.license == "mit"
