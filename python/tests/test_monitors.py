"""Monitors of anything: whatever episodes are given as, whatever the detector is written in, kept and brought back."""

import copy
import multiprocessing
import pickle
import zipfile

import numpy as np
import pytest
from test_bench import Jump, JumpsInRows
from test_detectors import Minaris

import offnominal
from offnominal import Monitor, alarms, detectors
from offnominal.alarms import Watch

QUICK = {"rule": "max", "diagnosis": False}


@pytest.fixture(scope="module")
def played():
    return [offnominal.collect("sap-goal1", "tqc", episodes=12, seed=seed) for seed in (1, 2)]


def arrays(episodes):
    return [(e.observations, e.actions) for e in episodes]


def forms(episodes, folder):
    """The same episodes in every form but that of a dataset."""
    episodes.save(folder / "episodes.arrow")
    yield list(episodes)
    yield Minaris(episodes)
    yield arrays(episodes)
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
    yield episodes.to_pandas()
    yield episodes.to_polars()
    yield episodes.to_arrow()


def verdicts(watch, episode):
    watch.reset()
    steps = zip(episode.observations, episode.actions)
    return [watch.step(obs, action) for obs, action in steps][1:]


def test_episodes_of_every_form_make_the_same_monitor(played, tmp_path):
    train, aside = played
    whole = alarms.fit(train, aside, detectors.Knn(), **QUICK)
    expected, other = verdicts(whole, aside[0]), list(forms(aside, tmp_path))
    for given, calibration in zip(forms(train, tmp_path), other):
        watch = alarms.fit(given, calibration, detectors.Knn(), system="cart", dt_secs=0.5, **QUICK)
        assert verdicts(watch, aside[0]) == expected
        assert watch.about["environment"] == {"id": "cart", "digest": ""} and watch.about["dt_secs"] == 0.5
    named = alarms.fit(train.to_pandas(), aside, detectors.Knn(), **QUICK)
    assert named.about["observation"][0]["name"] == train.names[0][0] != "0"


def test_a_path_and_a_slice_are_of_their_environment(played, tmp_path):
    train, aside = played
    train.save(tmp_path / "train.arrow")
    whole = alarms.fit(train[:8], aside[2:], detectors.Knn(), **QUICK)
    assert isinstance(train[:8], offnominal.Dataset) and len(train[:8]) == 8 and whole.about["train_episodes"] == 8
    assert whole.about["environment"]["id"] == "sap-goal1" and whole.about["environment"]["digest"]
    alarms.fit(str(tmp_path / "train.arrow"), aside, detectors.Knn(), **QUICK)
    told = alarms.fit(arrays(train), arrays(aside), detectors.Knn(), env="sap-goal1", policy="tqc", **QUICK)
    assert told.about["environment"] == whole.about["environment"]


def test_wrong_episodes_are_explained(played):
    train, aside = played
    other = offnominal.collect("cartpole", "random", episodes=3)
    disturbed = offnominal.collect("sap-goal1", "tqc", episodes=2, anomaly="obs-offset", magnitude=1.0, onset=2)
    narrow = [(o[:, :3], a) for o, a in arrays(aside)]
    for calibration, expected in [
        (other, "expected episodes of sap-goal1|cartpole"),
        ([e for e in disturbed if e.labels.any()], "calibration: expected nominal episodes, found none; the first: episode 0"),
        (narrow, "calibration episode 0: expected 22 observation and 2 action channels"),
    ]:
        with pytest.raises(ValueError, match=expected):
            alarms.fit(train, calibration, detectors.Knn(), **QUICK)
    with pytest.raises(ValueError, match="policy: expected the policy that acted in sap-goal1"):
        alarms.fit(arrays(train), arrays(aside), detectors.Knn(), env="sap-goal1", **QUICK)
    with pytest.raises(ValueError, match="columns observation.NAME"):
        alarms.fit(train.to_pandas()[["episode", "reward"]], aside, detectors.Knn(), **QUICK)


class Streamed(Jump):
    """Scores a step without those before it."""

    steps = 0

    def reset(self):
        pass

    def step(self, obs, action, next_obs):
        type(self).steps += 1
        return float(np.linalg.norm(next_obs - obs) / self.scale)


@pytest.mark.parametrize("own", [Jump(), Streamed(), offnominal.adapters.Rows(JumpsInRows(), name="rows")])
def test_a_detector_of_python_is_deployed_and_kept(own, played, tmp_path):
    train, aside = played
    watch = alarms.fit(train, aside, own, out=tmp_path / "own.monitor", pickle=True, **QUICK)
    expected = verdicts(watch, aside[0])
    assert len(expected) == len(aside[0]) - 1 and all(np.isfinite(v.score) for v in expected)
    fitted = copy.deepcopy(own)
    fitted = fitted.fit(arrays(train)) or fitted
    assert [v.score for v in expected] == pytest.approx(list(fitted.score(arrays(aside)[0]))[:-1])
    kept = Watch.load(tmp_path / "own.monitor", trusted=True)
    assert verdicts(kept, aside[0]) == expected and kept.about == watch.about
    assert verdicts(pickle.loads(pickle.dumps(watch)), aside[0]) == expected


def test_a_detector_with_step_is_asked_once_a_step(played):
    train, aside = played
    watch = alarms.fit(train, aside, Streamed(), **QUICK)
    Streamed.steps = 0
    found = verdicts(watch, aside[0])
    assert Streamed.steps == len(found)


class Bomb:
    """What a pickle can do."""

    def __reduce__(self):
        return exec, ("raise RuntimeError('it was executed')",)


def test_a_pickle_is_opened_only_where_it_is_trusted(played, tmp_path):
    train, aside = played
    watch, path = alarms.fit(train, aside, Jump(), **QUICK), tmp_path / "own.monitor"
    with pytest.raises(ValueError, match="pickle: expected True for a detector written in Python"):
        watch.save(path)
    assert not path.exists()
    watch.save(path, pickle=True)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["detector.pickle"] = pickle.dumps(Bomb())
    with zipfile.ZipFile(tmp_path / "bomb.monitor", "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    for name in ("own.monitor", "bomb.monitor"):
        with pytest.raises(ValueError, match=f"{name}: expected trusted=True"):
            Watch.load(tmp_path / name)
    with pytest.raises(ValueError, match=r"bomb.monitor: expected a detector with SHA-256 \w+, found"):
        Watch.load(tmp_path / "bomb.monitor", trusted=True)


def scores(monitor, episode):
    return list(monitor.score(episode))


@pytest.mark.parametrize("id", ["knn", "isolation-forest", "cusum"])
def test_a_fitted_detector_is_kept_and_travels(id, played, tmp_path):
    options = {"inner": detectors.Knn(k=2)} if id == "cusum" else {}
    monitor = detectors.ALL[id](**options).fit(played[0])
    expected = scores(monitor, played[1][0])
    monitor.save(tmp_path / "fitted.safetensors")
    assert scores(Monitor.load(tmp_path / "fitted.safetensors"), played[1][0]) == expected
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(scores, (monitor, played[1][0])) == expected
    assert scores(copy.copy(monitor), played[1][0]) == expected


def test_wrong_files_of_fitted_detectors_are_explained(played, tmp_path):
    monitor, path = detectors.Knn().fit(played[0]), tmp_path / "knn.safetensors"
    monitor.save(path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match=r"knn.safetensors: "):
        Monitor.load(path)
    with pytest.raises(OSError, match="none"):
        Monitor.load(tmp_path / "none")
    alarms.fit(*played, "knn", out=tmp_path / "with.monitor", **QUICK)
    with pytest.raises(ValueError, match=r"with.monitor: .*offnominal.alarms.Watch.load"):
        Monitor.load(tmp_path / "with.monitor")


def test_groups_have_thresholds_of_their_own(played):
    train, aside = played
    named = ["reach" if i % 2 else "push" for i in range(len(aside))]
    watch = alarms.fit(train, aside, detectors.Knn(), rule="conformal", alpha=0.2, diagnosis=False, groups=named)
    largest = {name: max(largest_of(watch, e) for e, own in zip(aside, named) if own == name) for name in named}

    def threshold(group):
        watch.reset(group)
        watch.step(aside[0].observations[0], aside[0].actions[0])
        return watch.step(aside[0].observations[1], aside[0].actions[1]).threshold

    assert {name: threshold(name) for name in largest} == pytest.approx(largest)
    assert threshold(None) == watch.about["threshold"]["value"]
    with pytest.raises(ValueError, match='expected one of push, reach, found "raech"; did you mean "reach"'):
        watch.reset("raech")
    with pytest.raises(ValueError, match="expected one for each of 12 calibration episodes, found 2"):
        alarms.fit(train, aside, detectors.Knn(), groups=["a", "b"], **QUICK)


def largest_of(watch, episode):
    return max(verdict.score for verdict in verdicts(watch, episode))


def test_a_threshold_follows_confirmed_episodes_and_is_kept(played, tmp_path):
    train, aside = played
    aside, later = aside[:6], aside[6:]
    watch = alarms.fit(train, aside, detectors.Knn(), rule="conformal", alpha=0.2, diagnosis=False)
    with pytest.raises(ValueError, match="expected an episode with at least one step"):
        watch.confirm()
    before = watch.about["threshold"]["value"]
    largest = [largest_of(watch, e) for e in later]
    for episode in later:
        verdicts(watch, episode)
        found = watch.confirm(memory=4, tolerance=0.0)
    assert found.threshold == pytest.approx(min(before, max(largest[-4:])))
    for known in [train[0], aside[0]]:
        verdicts(watch, known)
        watch.step(known.observations[-1])
        with pytest.raises(ValueError, match="expected an episode that is new to the monitor"):
            watch.confirm(memory=4, tolerance=0.0)
    assert watch.about["threshold"]["drift"]["confirmed"] == len(later)
    watch.save(tmp_path / "later.monitor")
    assert Watch.load(tmp_path / "later.monitor").about == watch.about
