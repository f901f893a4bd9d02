"""Thresholds of anybody's scores, and of monitors that are fitted for a rate of false alarms."""

import os
import warnings

import numpy as np
import pytest

import offnominal
from offnominal import alarms, detectors

SLOW = os.environ.get("RUN_SLOW_TESTS") == "1"


def episodes(n, rng, longest=80):
    """Autocorrelated scores with a level of their own, of different lengths."""
    return [np.cumsum(rng.normal(size=rng.integers(1, longest))) * 0.1 + rng.normal() for _ in range(n)]


def scored(watch, given):
    """The scores of whole episodes, step by step."""
    found = []
    for rows, commands in given:
        watch.reset()
        found.append(np.array([watch.transition(rows[t], commands[t], rows[t + 1]).score for t in range(len(commands))]))
    return found


@pytest.fixture(scope="module")
def played():
    return [offnominal.collect("sap-goal1", "tqc", episodes=40, seed=seed) for seed in (1, 2)]


def test_the_threshold_is_that_of_a_fit(played):
    train, aside = played
    watch = alarms.fit(train, aside, detectors.Knn(k=3), alpha=0.1, diagnosis=False)
    scores = scored(watch, [(episode.observations, episode.actions) for episode in aside])
    about = watch.about["threshold"]
    dt = watch.about["dt_secs"]
    found = alarms.threshold(scores, alpha=0.1, dt_secs=dt)
    assert found.threshold == about["value"] and found.n == 40 and (found.promise, found.promised) == ("share", 0.1)
    for mine, of_fit in ((found.share, about["false_alarms"]), (found.per_hour, about["per_hour"])):
        assert (mine.value, mine.low, mine.high, mine.method) == tuple(
            of_fit[key] for key in ("value", "low", "high", "method")
        )
    # One array with the episode of each score is the same.
    joined = alarms.threshold(
        np.concatenate(scores), np.repeat(np.arange(40), [len(s) for s in scores]), alpha=0.1, dt_secs=dt
    )
    assert joined == found


def test_a_rate_is_that_of_a_fit(played):
    train, aside = played
    watch = alarms.fit(train, aside, detectors.Knn(k=3), false_alarms="9600/day", diagnosis=False)
    scores, dt = scored(watch, [(episode.observations, episode.actions) for episode in aside]), watch.about["dt_secs"]
    found = alarms.threshold(scores, per_hour=400.0, dt_secs=dt)
    about = watch.about["threshold"]
    assert found.threshold == about["value"] and about["promised_per_hour"] == 400.0 and about["alpha"] < 1
    hours = sum(len(s) for s in scores) * dt / 3600
    # The threshold is exceeded by as many of the calibration episodes as the rate allows, less one for the episode to come.
    assert sum(s.max() > found.threshold for s in scores) == int(400 * hours) - 1 > 0
    assert found.per_hour.low < found.per_hour.value <= 400 and found.per_hour.value == about["per_hour"]["value"]


def test_a_stream_has_the_blocks_of_the_rule_for_streams():
    rng = np.random.default_rng(3)
    own = rng.normal(size=(20_002, 1))
    fit = {"rule": "run-length", "false_alarms": "1/hour", "dt_secs": 1.0, "channels": (["x"], []), "diagnosis": False}
    train = [(own[:10_001], np.empty((10_000, 0)))]
    aside = [(own[10_001:], np.empty((10_000, 0)))]
    watch = alarms.fit(train, aside, detectors.Knn(k=3), **fit)
    about = watch.about["threshold"]
    assert about["run_length"]["steps"] == 3600 and about["promised_per_hour"] == 1.0
    (scores,) = scored(watch, aside)
    found = alarms.threshold(scores, per_hour=4.0, dt_secs=1.0)
    assert (found.block, found.n) == (about["run_length"]["block"], about["run_length"]["n_blocks"])
    hours = len(scores) / 3600
    blocks = scores[: found.n * found.block].reshape(found.n, found.block).max(axis=1)
    assert (blocks > found.threshold).sum() == int(4 * found.n * found.block / 3600) - 1 <= 4 * hours


def test_columns_of_data_frames_are_read_and_must_belong_together():
    pd = pytest.importorskip("pandas")
    own = episodes(30, np.random.default_rng(1))
    frame = pd.DataFrame(
        {"score": np.concatenate(own), "run": np.repeat([f"r{i}" for i in range(30)], [len(e) for e in own])}
    )
    assert alarms.threshold(frame["score"], frame["run"], alpha=0.1) == alarms.threshold(own, alpha=0.1)
    shuffled = frame.sample(frac=1, random_state=1)
    with pytest.raises(ValueError, match="expected the index of scores"):
        alarms.threshold(frame["score"], shuffled["run"], alpha=0.1)
    with pytest.raises(ValueError, match="one after another, found r.* again at .*; sort them"):
        alarms.threshold(shuffled["score"], shuffled["run"], alpha=0.1)
    with pytest.raises(ValueError, match=r"found the shape \[\d+, 2\]"):
        alarms.threshold(frame[["score", "score"]], alpha=0.1)


@pytest.mark.parametrize(
    ("scores", "ids", "asked", "says"),
    [
        ([[1.0]] * 18, None, {"alpha": 0.05}, "at least 19 nominal calibration episodes, found 18"),
        ([[1.0]] * 58, None, {"alpha": 0.05, "confidence": 0.95}, "at least 59 nominal calibration episodes, found 58"),
        ([[1.0]] * 20, None, {}, "expected alpha or per_hour, found neither"),
        ([[1.0]] * 20, None, {"alpha": 0.1, "per_hour": 1.0}, "expected alpha or per_hour, found both"),
        ([[1.0]] * 20, None, {"alpha": 1.0}, "alpha: expected a number between 0 and 1, found 1.0"),
        ([[1.0]] * 20, None, {"alpha": float("nan")}, "alpha: expected a number between 0 and 1, found nan"),
        ([[1.0]] * 20, None, {"per_hour": 1.0}, "dt_secs: expected the seconds of a step"),
        ([[1.0]] * 20, None, {"per_hour": 0.0, "dt_secs": 1.0}, "per_hour: expected a number above zero, found 0"),
        (
            [[1.0]] * 20,
            None,
            {"per_hour": 1.0, "dt_secs": 1.0},
            "at least 1 h of nominal calibration episodes, found 0.005556 h: record more, or accept 180",
        ),
        ([[1.0]] * 20, None, {"per_hour": 9000.0, "dt_secs": 1.0}, "expected a rate below 3600, one alarm an episode"),
        ([[1.0]] * 20, None, {"per_hour": 1.0, "dt_secs": 1.0, "confidence": 0.9}, "confidence: expected it with alpha"),
        ([[1.0], [2.0, np.nan]], None, {"alpha": 0.5}, "episode 1, step 1: expected a finite score, found NaN"),
        (
            [[1.0], []],
            None,
            {"alpha": 0.5},
            r"scores of episode 1: expected a number per step .* found the shape \[0\]",
        ),
        ([], None, {"alpha": 0.5}, r"scores: expected a number per step .* found the shape \[0\]"),
        (["a", "b"], None, {"alpha": 0.5}, "scores: expected numbers, found list"),
        (np.ma.masked_array([1.0, 2.0], [0, 1]), None, {"alpha": 0.5}, "masked"),
        ([1.0, 2.0], None, {"alpha": 0.5}, "episodes: expected the episode of each score"),
        ([1.0, 2.0], [1], {"alpha": 0.5}, r"episodes: expected one for each of 2 scores, found the shape \[1\]"),
        ([1.0, 2.0, 3.0], [1, 2, 1], {"alpha": 0.5}, "found 1 again at 2; sort them"),
        ([1.0, 2.0], [1.0, np.nan], {"alpha": 0.5}, "episodes: expected one for each score, found none at 1"),
        (np.ones(300), None, {"per_hour": 1.0, "dt_secs": 1.0}, "at least 20 blocks|at least 1 h"),
    ],
)
def test_what_cannot_be_promised_is_refused(scores, ids, asked, says):
    with pytest.raises(ValueError, match=says):
        alarms.threshold(scores, ids, **asked)


def test_scores_that_drift_are_told():
    rng = np.random.default_rng(2)
    steady = episodes(40, rng)
    assert (
        alarms.threshold(steady, alpha=0.1).drift_p > 0.01 and alarms.threshold(steady[:9], alpha=0.2).drift_p is None
    )
    with pytest.warns(UserWarning, match=r"they drift \(p = 0.001\)"):
        found = alarms.threshold([e + 0.2 * i for i, e in enumerate(steady)], alpha=0.1)
    assert found.drift_p == 0.001


def test_a_rate_needs_to_know_how_long_a_step_takes():
    rng = np.random.default_rng(4)
    own = [(rng.normal(size=(50, 2)), np.empty((49, 0))) for _ in range(20)]
    with pytest.raises(ValueError, match="expected to know how many seconds a step takes"):
        alarms.fit(own[:10], own[10:], "knn", false_alarms="1/hour", diagnosis=False)
    with pytest.raises(ValueError, match="expected false alarms per time"):
        alarms.fit(own[:10], own[10:], "knn", false_alarms="1/week", diagnosis=False, dt_secs=60.0)
    with pytest.raises(ValueError, match="clear_after"):
        alarms.fit(own[:10], own[10:], "knn", false_alarms="1/hour", diagnosis=False, dt_secs=60.0, clear_after=3)
    with pytest.raises(ValueError, match="groups: expected alpha"):
        alarms.fit(own[:10], own[10:], "knn", false_alarms="1/hour", diagnosis=False, dt_secs=60.0, groups=["a"] * 10)
    without = alarms.fit(own[:10], own[10:], "knn", alpha=0.2, diagnosis=False).about["threshold"]
    assert "per_hour" not in without and "promised_per_hour" not in without


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("own", [{}, {"system": "pump"}])
def test_rows_without_a_clock_have_no_hours_whatever_the_system_is_called(own):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    rows = [{"a": rng.normal(size=50), "b": rng.normal(size=50)} for _ in range(40)]
    asked = {"false_alarms": "1/hour", "diagnosis": False, "progress": False, **own}
    runs = offnominal.logs.read({f"r{i:02}": pandas.DataFrame(one) for i, one in enumerate(rows)})
    with pytest.raises(ValueError, match="expected to know how many seconds a step takes"):
        alarms.fit(runs[:20], runs[20:], "mewma", **asked)
    timed = [{"time": np.arange(50) * 100.0, **one} for one in rows]
    runs = offnominal.logs.read({f"r{i:02}": pandas.DataFrame(one) for i, one in enumerate(timed)})
    assert alarms.fit(runs[:20], runs[20:], "mewma", **asked | {"false_alarms": "0.1/hour"}).about["threshold"]["promised_per_hour"] == 0.1


def test_the_share_and_the_rate_are_kept_in_new_data():
    sets, fresh = (600, 200) if SLOW else (60, 200)
    share, surplus = [], []
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        aside, new = episodes(60, rng), episodes(fresh, rng)
        with warnings.catch_warnings():
            # One set in a hundred seems to drift.
            warnings.simplefilter("ignore")
            by_share = alarms.threshold(aside, alpha=0.1)
            by_hour = alarms.threshold(aside, per_hour=2.0, dt_secs=3.6)
        share.append(np.mean([e.max() > by_share.threshold for e in new]))
        hours = sum(map(len, new)) * 3.6 / 3600
        surplus.append(sum(e.max() > by_hour.threshold for e in new) / fresh - 2.0 * hours / fresh)
    for found, most in ((share, 0.1), (surplus, 0.0)):
        assert np.mean(found) <= most + 3 * np.std(found) / np.sqrt(sets), (np.mean(found), most)
    # Not by alarms that never come.
    assert np.mean(share) > 0.07
