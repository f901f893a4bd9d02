"""Detectors, monitors, and the episodes they take."""

import json

import numpy as np
import pytest

import offnominal
from offnominal import _engine, detectors

#: Quick ones, of all kinds: distance, time, density.
QUICK = ["knn", "clock", "isolation-forest"]


@pytest.fixture(scope="module")
def episodes():
    return offnominal.collect("sap-goal1", "tqc", episodes=6, seed=1)


def test_every_detector_of_the_engine_has_a_class():
    assert set(detectors.ALL) == {id for id, _ in _engine.detectors()}
    assert detectors.PeDm is detectors.ALL["pe-dm"] and "PeDm" in dir(detectors)
    assert detectors.PeDm.__doc__.startswith("P") or detectors.PeDm.__doc__


def test_a_wrong_name_is_explained():
    with pytest.raises(AttributeError, match="did you mean PeDm"):
        _ = detectors.PeDM
    with pytest.raises(TypeError, match="kk"):
        detectors.Knn(kk=3)


@pytest.mark.parametrize("id", QUICK)
def test_streamed_scores_are_batch_scores(id, episodes):
    monitor = detectors.ALL[id]().fit(episodes)
    episode = episodes[0]
    batch = monitor.score(episode)
    monitor.reset()
    streamed = [
        monitor.step(episode.observations[t], episode.actions[t], episode.observations[t + 1])
        for t in range(len(episode))
    ]
    assert batch.shape == (len(episode),) and batch.dtype == np.float64
    assert streamed == pytest.approx(batch.tolist(), rel=1e-5)


def test_the_same_seed_gives_the_same_bits(episodes):
    scores = [detectors.IsolationForest().fit(episodes, seed=seed).score(episodes[0]) for seed in (1, 1, 2)]
    assert np.array_equal(scores[0], scores[1]) and not np.array_equal(scores[0], scores[2])


def test_a_change_is_noticed(episodes):
    monitor = detectors.Knn().fit(episodes)
    strange = offnominal.collect(
        "sap-goal1", "tqc", episodes=2, seed=2, anomaly="obs-offset", magnitude=2.0, onset=5
    )
    scores, labels = monitor.score(strange[0]), strange[0].labels
    assert scores[labels].mean() > 3 * scores[~labels].mean()


class Bare:
    """An episode of somebody else: Minari's look like this."""

    def __init__(self, episode):
        self.observations, self.actions = episode.observations, episode.actions


class Minaris:
    """A dataset of somebody else."""

    def __init__(self, episodes):
        self.all = episodes

    def iterate_episodes(self):
        return (Bare(episode) for episode in self.all)


def forms(episodes, folder):
    """The same episodes in every form."""
    episodes.save(folder / "episodes.arrow")
    yield episodes
    yield list(episodes)
    yield Minaris(episodes)
    yield folder / "episodes.arrow"
    yield str(folder / "episodes.arrow")
    yield [(e.observations, e.actions) for e in episodes]
    yield [(e.observations.astype(np.float64), e.actions.tolist()) for e in episodes]
    yield [{"observations": np.asfortranarray(e.observations), "actions": e.actions} for e in episodes]


def test_episodes_of_every_form_give_the_same_scores(episodes, tmp_path):
    scores = [detectors.Knn().fit(form).score(episodes[0]) for form in forms(episodes, tmp_path)]
    assert len(scores) == 8 and all(np.array_equal(s, scores[0]) for s in scores)


def test_a_minari_dataset(episodes, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    episodes.to_minari("offnominal/sap-v0")
    found = detectors.Knn().fit(minari.load_dataset("offnominal/sap-v0")).score(episodes[0])
    assert np.array_equal(found, detectors.Knn().fit(episodes).score(episodes[0]))


def test_choices_are_numbers():
    played = offnominal.collect("cartpole", "random", episodes=5)
    own = [(e.observations, e.actions[:, 0].astype(np.int64)) for e in played]
    assert np.array_equal(detectors.Knn().fit(own).score(own[0]), detectors.Knn().fit(played).score(played[0]))


def row(n, width):
    return np.zeros((n, width), np.float32)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], "expected at least one, found none"),
        (row(3, 2), "expected a list of episodes, a dataset or a path, found an array of float32"),
        ([3], "episode 0: expected observations and actions, found int"),
        ([(row(3, 2), row(3, 1))], r"expected observations of shape \[T \+ 1, o\] and actions of shape \[T, a\]"),
        ([(row(3, 2), row(2, 1)), (row(3, 3), row(2, 1))], "expected 2 \\+ 1, found 3 \\+ 1|expected .* channels"),
        ([(row(3, 2) * np.nan, row(2, 1))], "episode 0, observations: expected finite numbers, found NaN"),
        ([(np.array([["a"], ["b"]]), row(1, 1))], "found one of dtype <U1"),
        ([(np.array([[None], [1]]), row(1, 1))], "expected finite numbers, found NaN"),
        ([([[1], [2, 3]], row(1, 1))], "expected an array of numbers, found setting an array element with a sequence"),
        ([({"camera": row(2, 2)}, row(1, 1))], "found a dict of camera"),
        ([(row(3, 0), row(2, 1))], r"expected observations of shape"),
        ([(row(1, 2), row(0, 1))], "expected"),
    ],
)
def test_bad_episodes_are_explained(given, expected):
    with pytest.raises(ValueError, match=expected):
        detectors.Knn().fit(given)


def test_another_width_is_not_scored(episodes):
    monitor = detectors.Clock().fit(episodes)
    with pytest.raises(ValueError, match="as in training, found"):
        monitor.score((row(3, 2), row(2, 1)))
    with pytest.raises(ValueError, match="observation: expected an array of shape"):
        monitor.step(row(1, 2)[0], row(1, 1)[0], row(1, 2)[0])


def test_files_that_are_not_there_or_damaged(tmp_path):
    with pytest.raises(OSError, match="cannot read "):
        offnominal.load(tmp_path / "none.arrow")
    (tmp_path / "bad.arrow").write_bytes(b"not arrow")
    with pytest.raises(ValueError, match="bad.arrow"):
        offnominal.load(tmp_path / "bad.arrow")


def test_a_detector_that_looks_inside_the_policy_needs_it(episodes):
    looks_inside = next(id for id in detectors.ALL if id == "feature-knn")
    with pytest.raises(ValueError, match="expected the policy that acts"):
        detectors.ALL[looks_inside]().fit(episodes)
    policy = offnominal.Policy("sap-goal1", "tqc")
    assert np.isfinite(detectors.ALL[looks_inside]().fit(episodes, policy=policy).score(episodes[0])).all()


def test_collecting_again_gives_the_same_bits_in_python_and_in_the_engine():
    """The policy and the environment of the engine, stepped in Python, give what the engine plays."""
    played = offnominal.collect("sap-goal0", "tqc", episodes=1, seed=5)[0]
    env, policy = offnominal.Environment("sap-goal0"), offnominal.Policy("sap-goal0")
    own = offnominal.episodes.record(env, policy, played.seed)
    assert np.array_equal(own.observations, played.observations) and np.array_equal(own.actions, played.actions)


def test_twins_and_recipes():
    played = offnominal.collect("sap-goal1", "tqc", episodes=2, anomaly="obs-drift", strength="strong")
    assert played.twins == [1, None, 3, None] and played.recipe["anomaly_spec"]["anomaly"] == "obs-drift"
    assert played[0].onset is not None and played[1].onset is None and not played[1].labels.any()
    assert json.dumps(played.recipe)


def test_evaluation():
    found = offnominal.evaluate("sap-goal0", "tqc", episodes=20)
    assert found["return"]["low"] < found["return"]["value"] < found["return"]["high"]
    assert found["random_return"]["value"] < found["return"]["value"] and found["success"]["n"] == 20
