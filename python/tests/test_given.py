"""What episodes may be given as, and which of them are nominal, whoever asks."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal

import numpy as np
import pytest

import offnominal
from offnominal import adapters, alarms, detectors

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

MAPPING = {
    "version": 1, "observation": [{"column": "level"}, {"column": "flow"}], "command": [],
    "clock": {"column": "time", "unit": "s"}, "episodes": {"by": "file"}, "label": "fault",
}  # fmt: skip

QUICK = {"rule": "max", "diagnosis": False, "progress": False}


def plant(seed, steps=60):
    """Three numbers that follow two commands."""
    r = np.random.default_rng(seed)
    x, u = np.zeros((steps + 1, 3)), r.normal(size=(steps, 2))
    for t in range(steps):
        x[t + 1] = 0.8 * x[t] + 0.3 * np.resize(u[t], 3) + 0.1 * r.normal(size=3)
    return x * [1, 10, 100], u


def frame(seeds):
    """The same as a data frame."""
    parts = []
    for i, seed in enumerate(seeds):
        x, u = plant(seed)
        u = np.vstack([u, [np.nan, np.nan]])
        names = ["observation.x", "observation.v", "observation.z", "action.a", "action.b"]
        parts.append(pandas.DataFrame(np.hstack([x, u]), columns=names).assign(episode=i))
    return pandas.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Forty recordings, every second one with a labelled fault."""
    folder, r = tmp_path_factory.mktemp("logs"), np.random.default_rng(0)
    paths = [folder / f"run{i:02}.csv" for i in range(40)]
    for i, path in enumerate(paths):
        bad = (np.arange(60) >= 20) & (i % 2 == 0)
        t = np.arange(60) / 10
        level = np.sin(t) + 0.01 * r.normal(size=60) + 5 * bad
        table = pandas.DataFrame({"time": t, "level": level, "flow": np.cos(t), "fault": bad.astype(int)})
        table.to_csv(path, index=False)
    return offnominal.logs.read(paths, MAPPING, progress=False)


def with_labels(name, episodes):
    """The same episodes in other forms, with what says that some are not nominal."""
    pairs = [(e.observations, e.actions) for e in episodes]
    dicts = [{"observations": o, "actions": a, "labels": e.labels} for (o, a), e in zip(pairs, episodes)]
    return {"recordings": episodes, "list": list(episodes), "dicts": dicts}[name]


@pytest.mark.parametrize("form", ["recordings", "list", "dicts"])
def test_what_is_labelled_faulty_is_learned_by_nobody(runs, form):
    given = with_labels(form, runs)
    expected = alarms.fit(runs.nominal[:10], runs.nominal[10:], "mewma", **QUICK).about["threshold"]
    if form != "recordings":
        expected.pop("per_hour")  # lists and dicts have no clock
    with pytest.warns(UserWarning, match="training: 10 of 20 episodes are not nominal and were left out"):
        watch = alarms.fit(given[:20], given[20:], "mewma", **QUICK)
    assert watch.about["threshold"] == expected and watch.about["train_episodes"] == 10
    right = detectors.Knn().fit(runs.nominal, progress=False).score(runs[0])
    with pytest.warns(UserWarning, match="its label"):
        assert np.array_equal(detectors.Knn().fit(given, progress=False).score(runs[0]), right)
    with pytest.warns(UserWarning, match="validation: "):
        detectors.Knn().fit(runs.nominal, given, progress=False)
    faulty = given[::2] if form != "recordings" else list(given)[::2]
    with pytest.raises(ValueError, match="training: expected nominal episodes, found none"):
        detectors.Knn().fit(faulty, progress=False)


def test_of_a_disturbed_dataset_the_twins_are_learned(tmp_path):
    both = offnominal.collect("sap-goal1", "tqc", episodes=6, seed=1, anomaly="obs-offset", magnitude=1.0, onset=5)
    twins = [e for e in both if not e.labels.any()]
    assert len(twins) == 6
    right = detectors.Knn().fit(twins, progress=False).score(both[0])
    both.save(tmp_path / "both.arrow")
    for given in (both, both.to_pandas(), both.to_polars(), tmp_path / "both.arrow"):
        with pytest.warns(UserWarning, match="6 of 12 episodes"):
            assert np.array_equal(detectors.Knn().fit(given, progress=False).score(both[0]), right)


def test_groups_are_those_of_the_episodes_that_are_left(runs):
    named = ["a" if i % 4 == 1 else "b" if i % 4 == 3 else "faulty" for i in range(20)]
    options = {"alpha": 0.4, "diagnosis": False, "progress": False}
    with pytest.warns(UserWarning):
        watch = alarms.fit(runs[:20], runs[20:], "mewma", groups=named, **options)
    assert {group["name"] for group in watch.about["groups"]["own"]} == {"a", "b"}
    with pytest.raises(ValueError, match="groups: expected one for each of 20 calibration episodes, found 10"), pytest.warns(UserWarning):
        alarms.fit(runs[:20], runs[20:], "mewma", groups=["a"] * 10, **options)


def test_channels_are_matched_by_name():
    train, aside = frame(range(10)), frame(range(10, 20))

    def threshold(calibration):
        return alarms.fit(train, calibration, "knn", **QUICK).about["threshold"]["value"]

    other = aside[["episode", "observation.z", "observation.v", "action.b", "observation.x", "action.a"]]
    assert threshold(other) == threshold(aside) == threshold(polars.from_pandas(other))
    with pytest.raises(ValueError, match="calibration: expected the channels x, v, z, a, b, found pressure, v, z, a, b"):
        threshold(aside.rename(columns={"observation.x": "observation.pressure"}))
    whole = detectors.Knn().fit(train, aside, progress=False)
    assert np.array_equal(detectors.Knn().fit(train, other, progress=False).score(plant(3)), whole.score(plant(3)))


@pytest.mark.parametrize("change", [
    lambda own: own.set_index("episode"),
    lambda own: own.assign(step=np.tile(np.arange(61), 3)).set_index(["episode", "step"]),
    lambda own: polars.from_pandas(own),
    lambda own: polars.from_pandas(own).to_arrow(),
    lambda own: own.astype({"observation.x": "Float64", "action.a": "Float64"}),
])  # fmt: skip
def test_episodes_of_a_frame_are_told_apart_wherever_their_number_is(change):
    own = frame(range(3))
    found, right = offnominal.episodes.pairs(change(own)), [plant(seed) for seed in range(3)]
    assert len(found) == 3
    assert all(np.array_equal(a, b) for pair, wanted in zip(found, right) for a, b in zip(pair, wanted))


@pytest.mark.parametrize("change, expected", [
    (lambda own: own.rename(columns={"episode": "run"}).set_index("run"), "expected a column episode.*found none but the column run"),
    (lambda own: own.drop(columns="episode").assign(step=np.tile(np.arange(61), 3)), "a column step that begins again"),
    (lambda own: own.assign(episode=[None] * 61 + [1.0] * 122), "column episode: expected"),
    (lambda own: pandas.concat([own, own[["observation.x"]]], axis=1), "found observation.x twice"),
    (lambda own: pandas.concat({"a": own, "b": own}), "index: expected levels with names"),
    (lambda own: own.set_index(own["observation.x"].to_numpy()), "index: expected a name, times, or whole numbers"),
])  # fmt: skip
def test_frames_whose_episodes_nobody_can_tell_are_refused(change, expected):
    with pytest.raises(ValueError, match=expected):
        offnominal.episodes.pairs(change(frame(range(3))))


def signals(run):
    t = np.arange(50) / 10
    return pandas.DataFrame({"run": run, "time": t, "level": np.sin(t + run), "flow": np.cos(t + run)})


def test_levels_of_an_index_are_columns_of_a_log():
    flat = pandas.concat([signals(0), signals(1)])
    right = offnominal.logs.read(flat, progress=False)
    assert len(right) == 2 and right.dt_secs == pytest.approx(0.1)
    found = offnominal.logs.read(flat.set_index(["run", "time"]), progress=False)
    assert len(found) == 2 and found.dt_secs == right.dt_secs
    assert all(np.array_equal(a.observations, b.observations) for a, b in zip(found, right))
    with pytest.raises(ValueError, match="index: expected levels with names"):
        offnominal.logs.read(pandas.concat({"a": flat, "b": flat}), progress=False)


def timed(index):
    return signals(0).drop(columns=["run", "time"]).set_index(index)


T = np.arange(50) / 10


@pytest.mark.parametrize("log", [
    timed(pandas.to_timedelta(T, unit="s")),
    timed(pandas.to_timedelta(T, unit="s").rename("time")),
    timed(pandas.to_datetime(T + 1.6e9, unit="s")),
    timed(pandas.to_timedelta(T, unit="s")).reset_index(names="time"),
    polars.from_pandas(timed(pandas.to_timedelta(T, unit="s")).reset_index(names="time")),
    polars.from_pandas(timed(pandas.to_timedelta(T, unit="s")).reset_index(names="time")).to_arrow(),
], ids=["unnamed", "named", "dates", "column", "polars", "arrow"])  # fmt: skip
def test_times_and_how_long_something_took_are_clocks(log):
    found = offnominal.logs.read(log, progress=False)
    assert len(found) == 1 and found.dt_secs == pytest.approx(0.1) and found.names[0] == ["level", "flow"]


def test_decimals_are_numbers():
    x, u = plant(1)
    own = pandas.DataFrame({"observation.x": [Decimal(f"{v:.3f}") for v in x[:, 0]], "action.u": np.append(u[:, 0], np.nan)})
    for given in (own, polars.from_pandas(own), polars.from_pandas(own).to_arrow()):
        (observations, _), = offnominal.episodes.pairs(given)
        assert np.array_equal(observations[:, 0], np.round(x[:, 0], 3))
    log = pandas.DataFrame({"time": T, "level": [Decimal(f"{np.sin(t):.4f}") for t in T], "flow": np.cos(T)})
    for given in (log, polars.from_pandas(log), polars.from_pandas(log).to_arrow()):
        found = offnominal.logs.read(given, progress=False)
        assert found.names[0] == ["level", "flow"] and found[0].observations[10, 0] == np.round(np.sin(1.0), 4)


def test_texts_are_no_numbers():
    own = frame(range(1)).astype({"observation.x": "str"})
    with pytest.raises(ValueError, match="column observation.x: expected an array of numbers"):
        offnominal.episodes.pairs(own)


def test_what_a_mask_hides_is_not_read():
    train, aside = [[plant(seed) for seed in own] for own in (range(5), range(5, 10))]
    hidden = np.ma.masked_array(train[0][0], mask=train[0][0] > 10)
    with pytest.raises(ValueError, match="training episode 0.*expected finite numbers, found NaN"):
        detectors.Knn().fit([(hidden, train[0][1]), *train[1:]], progress=False)
    watch = alarms.fit(train, aside, "knn", **QUICK)
    x, u = plant(11)
    watch.step(x[0], u[0])
    assert watch.step(np.ma.masked_array(x[1], mask=[True, False, False]), u[1]).missing == 1
    assert watch.step(np.ma.masked_array(x[2].astype(np.float32), mask=[True, True, False]), u[2]).missing == 2


def test_training_is_no_calibration():
    own = [plant(seed) for seed in range(20)]
    with pytest.raises(ValueError, match="calibration: expected other episodes than those that were learned from, found 20 of 20"):
        alarms.fit(own, own, "knn", **QUICK)
    with pytest.warns(UserWarning, match="10 of 20 calibration recordings mostly repeat training rows"):
        alarms.fit(own, own[10:] + [plant(seed) for seed in range(20, 30)], "knn", **QUICK)


class Ranked:
    """Ranks rows among those that are scored with them, as ECOD of PyOD does."""

    def fit(self, rows):
        self.rows = np.asarray(rows, float)
        return self

    def decision_function(self, rows):
        both = np.vstack([self.rows, np.asarray(rows, float)])
        n, found = len(both), np.zeros(len(both))
        for column in both.T:
            ordered = np.sort(column)
            below = np.searchsorted(ordered, column, "right") / n
            above = (n - np.searchsorted(ordered, column, "left")) / n
            found += np.maximum(-np.log(below), -np.log(above))
        return found[len(self.rows):]  # fmt: skip


def drifting(r, steps=40):
    x = np.zeros((steps + 50, 4))
    for t in range(1, steps + 50):
        x[t] = 0.97 * x[t - 1] + np.sqrt(1 - 0.97**2) * r.normal(size=4)
    return x[50:].astype(np.float32), np.zeros((steps - 1, 1), np.float32)


def test_an_estimator_that_ranks_rows_keeps_its_promise():
    """With 39 calibration episodes at alpha 0.05 about 1 of 20 alarm; scored as a batch it was 1 of 4."""
    r, alarmed = np.random.default_rng(5), []
    for _ in range(4):
        train, aside, fresh = ([drifting(r) for _ in range(n)] for n in (3, 39, 30))
        watch = alarms.fit(train, aside, adapters.Rows(Ranked()), alpha=0.05, diagnosis=False, progress=False)
        for observations, actions in fresh:
            watch.reset()
            verdicts = [watch.step(o, a) for o, a in zip(observations, actions)]
            alarmed.append(any(v is not None and v.is_alarm for v in verdicts))
    assert np.mean(alarmed) < 0.12


class Centred:
    """Scores how far a step is from the mean of its episode, which nobody knows while it happens."""

    def fit(self, episodes):
        return self

    def score(self, episode):
        observations, _ = episode
        return np.abs(observations[1:] - observations.mean(0)).sum(1)


def test_a_score_that_knows_what_comes_later_is_refused():
    train, aside = [[plant(seed) for seed in own] for own in (range(5), range(5, 10))]
    with pytest.raises(ValueError, match="detector centred: expected the score of a step to depend on the steps before it only"):
        alarms.fit(train, aside, Centred(), **QUICK)


def test_scoring_episodes_leaves_a_stepped_monitor_alone():
    train = [plant(seed) for seed in range(5)]
    monitor = detectors.Mewma().fit(train, progress=False)
    x, u = (own.astype(np.float32) for own in plant(20))

    def stepped(disturb):
        monitor.reset()
        found = []
        for t in range(len(u)):
            found.append(monitor.step(x[t], u[t], x[t + 1]))
            disturb()
        return found

    assert stepped(lambda: monitor.score(train[0])) == stepped(lambda: None)


def test_threads_score_at_the_same_time():
    train = [plant(seed, 400) for seed in range(5)]
    monitor = detectors.Knn().fit(train, progress=False)
    expected, found = [monitor.score(own) for own in train], [[] for _ in range(8)]
    work = [threading.Thread(target=lambda own=own: own.extend(monitor.score(e) for e in train)) for own in found]
    [thread.start() for thread in work]
    [thread.join() for thread in work]
    assert all(np.array_equal(a, b) for own in found for a, b in zip(own, expected, strict=True))


SCORE = """
import numpy as np, offnominal
r = np.random.default_rng(0)
def episode(n): return r.normal(size=(n + 1, 8)).astype(np.float32), r.normal(size=(n, 2)).astype(np.float32)
monitor = offnominal.detectors.Knn().fit([episode(2000) for _ in range(10)], progress=False)
long = episode(2_000_000)
print("begins", flush=True)
monitor.score(long)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Unix: signals are sent as there")
def test_ctrl_c_ends_a_long_score():
    process = subprocess.Popen(
        [sys.executable, "-c", SCORE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout.readline() == "begins\n", process.communicate()[1]
    time.sleep(0.5)
    sent = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    try:
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in said and time.monotonic() - sent < 5


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float64, np.float32, np.bool_, np.array])
def test_numbers_of_numpy_are_numbers_wherever_they_are_asked_for(kind):
    if kind in (np.int64, np.int32, np.array):
        assert detectors.Knn(k=kind(3)).options == detectors.Knn(k=3).options
        found = offnominal.collect("cartpole", "random", episodes=kind(2), seed=int(kind(1)), anomaly="obs-offset",
                                   magnitude=0.5, onset=kind(2), channels=[kind(0)])  # fmt: skip
        same = offnominal.collect("cartpole", "random", episodes=2, seed=1, anomaly="obs-offset", magnitude=0.5, onset=2, channels=[0])
        assert np.array_equal(found[0].observations, same[0].observations)
    train, aside = [[plant(seed) for seed in own] for own in (range(5), range(5, 10))]
    options = {np.bool_: {"diagnosis": kind(0)}, np.float64: {"dt_secs": kind(0.5)}, np.float32: {"dt_secs": kind(0.5)}}
    watch = alarms.fit(train, aside, "knn", **QUICK | options.get(kind, {"raise_after": kind(2)}))
    assert json.dumps(watch.about)


def test_help_needs_no_other_library():
    said = subprocess.run([sys.executable, "-c", "import offnominal; help(offnominal)"], capture_output=True, text=True, check=False)
    assert said.returncode == 0 and "ModuleNotFoundError" not in said.stderr and "alarms" in said.stdout
