"""Logs and data frames as episodes, and what everything else does with them."""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offnominal

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as parquet  # noqa: E402

MAPPING = """
version = 1
label = "leak"
task = "task"
observation = [{ column = "level", unit = "m" }, { column = "flow", name = "inflow" }]
command = [{ column = "valve" }]
[clock]
column = "time"
rate_hz = 20.0
max_age_secs = 0.12
"""


def tanks(seed: int, leaks_from: int = 999, steps: int = 80) -> dict[str, list[Any]]:
    """A recording of two tanks; here and there a value is missing."""
    noise, (first, second) = random.Random(seed), (0.5, 0.3)
    columns: dict[str, list[Any]] = {name: [] for name in ("time", "level", "flow", "valve", "leak", "task")}
    for step in range(steps):
        valve = 0.5 + 0.4 * math.sin(step / 9)
        leaks = step >= leaks_from
        first += 0.1 * (valve - first)
        second += 0.1 * (first - second) - 0.15 * leaks * second + noise.gauss(0, 0.001)
        level = None if step % 7 in (3, 4) else second
        for name, value in zip(columns, (seed * 100 + step / 10, level, first, valve, int(leaks), "fill"), strict=True):
            columns[name].append(value)
    return columns


def written(columns: dict[str, list[Any]], path: Path) -> Path:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*(["" if x is None else x for x in own] for own in columns.values()), strict=True))
    return path


def files(folder: Path, n: int, **options: int) -> list[Path]:
    return [written(tanks(seed, **options), folder / f"run{seed:02}.csv") for seed in range(n)]


def bits(recordings: offnominal.logs.Recordings) -> list[Any]:
    """Everything but what the logs are called."""
    kept = ("start_nanos", "success", "task", "is_nominal", "names", "units")
    arrays = ("secs", "observations", "actions", "is_missing", "ages_secs", "labels")
    return [
        (*(getattr(own, name) for name in kept), *(np.asarray(getattr(own, name)).tobytes() for name in arrays))
        for own in recordings
    ]


def test_a_recording_has_observations_commands_and_what_is_known_of_them(tmp_path: Path) -> None:
    (own,) = offnominal.logs.read(written(tanks(1, leaks_from=40), tmp_path / "run.csv"), MAPPING)
    assert own.observations.shape == (len(own) + 1, 2) and own.actions.shape == (len(own), 1)
    assert own.names == (["level", "inflow"], ["valve"]) and own.units == (["m", ""], [""])
    assert own.start_nanos == 100_000_000_000 and np.allclose(np.diff(own.secs), 0.05)
    # The step that ends at 4 s, where the label begins.
    assert own.onset == 79 and not own.is_nominal and own.task == "fill" and own.success is None
    # The level of 0.3 and 0.4 s was not recorded, and that of 0.2 s counts for 0.12 s.
    assert own.is_missing[:11, 0].nonzero()[0].tolist() == [7, 8, 9] and not own.is_missing[:, 1].any()
    assert own.ages_secs[8, 0] == pytest.approx(0.2) and own.observations[8, 0] == own.observations[4, 0]
    assert own.share_missing == own.is_missing.mean() > 0
    assert "not nominal" in repr(own) and str(tmp_path / "run.csv") in own._repr_html_()


@pytest.mark.parametrize("kind", ["pandas", "pandas objects", "pandas index", "polars", "arrow", "parquet", "dict"])
def test_frames_and_files_give_the_same_bits(kind: str, tmp_path: Path) -> None:
    columns = [tanks(seed, leaks_from=30 * seed) for seed in (1, 2, 3)]
    expected = offnominal.logs.read([written(own, tmp_path / f"{i}.csv") for i, own in enumerate(columns)], MAPPING)
    made: dict[str, Any] = {
        "pandas": pd.DataFrame,
        "pandas objects": lambda own: pd.DataFrame(own, dtype=object),
        "pandas index": lambda own: pd.DataFrame(own).set_index("time"),
        "polars": pl.DataFrame,
        "arrow": pa.table,
        "parquet": lambda own: stored(own, tmp_path),
        "dict": pd.DataFrame,
    }
    frames = [made[kind](own) for own in columns]
    logs = dict(zip("abc", frames, strict=True)) if kind == "dict" else frames
    found = offnominal.logs.read(logs, MAPPING)
    assert bits(found) == bits(expected) and len(found) == 3
    if kind != "parquet":
        assert [own.name for own in found] == (["a", "b", "c"] if kind == "dict" else ["frame 0", "frame 1", "frame 2"])


def stored(columns: dict[str, list[Any]], folder: Path) -> Path:
    path = folder / f"{columns['time'][0]}.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


def test_times_of_a_frame_are_not_rounded() -> None:
    times = np.array([1_600_000_000_000_000_001, 1_600_000_000_000_000_002, 1_600_000_000_000_000_004])
    mapping = {"version": 1, "clock": {"column": "time", "unit": "ns"}, "observation": [{"column": "x"}]}
    x = [0.5, 1.5, 2.5]
    for frame in (
        pd.DataFrame({"x": x}, index=pd.DatetimeIndex(times, tz="UTC", name="time")),
        pd.DataFrame({"time": pd.to_datetime(times), "x": pd.array([0.5, 1.5, 2.5], "Float64")}),
        pd.DataFrame({"x": x}, index=pd.DatetimeIndex(times)),
        pd.DataFrame({"time": times, "x": x}),
        pl.DataFrame({"time": times, "x": x}).with_columns(pl.col("time").cast(pl.Datetime("ns"))),
    ):
        (own,) = offnominal.logs.read(frame, mapping)
        assert own.start_nanos == times[0] and own.secs.tolist() == [0.0, 1e-9, 3e-9]
        assert own.observations[:, 0].tolist() == x


def test_a_frame_may_lack_what_a_file_may_lack() -> None:
    times = pd.to_datetime(["2026-01-01 00:00:00", None, "2026-01-01 00:00:02"])
    frame = pd.DataFrame({"time": times, "n": pd.array([1, 2, None], "Int64"), "on": [True, False, True]})
    mapping = {
        "version": 1,
        "clock": {"column": "time", "unit": "ns"},
        "observation": [{"column": "n"}, {"column": "on"}],
    }
    (own,) = offnominal.logs.read(frame, mapping)
    # A row without a time cannot be placed; the last n is the one before it.
    assert own.observations.tolist() == [[1.0, 1.0], [1.0, 1.0]] and own.secs.tolist() == [0.0, 2.0]


def test_a_mapping_is_a_path_a_text_a_dict_or_the_proposal(tmp_path: Path) -> None:
    runs = files(tmp_path, 2)
    (tmp_path / "map.toml").write_text(MAPPING)
    table: dict[str, Any] = {
        "version": 1,
        "label": "leak",
        "task": "task",
        "observation": [{"column": "level", "unit": "m"}, {"column": "flow", "name": "inflow"}],
        "command": [{"column": "valve"}],
        "clock": {"column": "time", "rate_hz": 20.0, "max_age_secs": 0.12},
    }
    given = [
        offnominal.logs.read(runs, mapping)
        for mapping in (tmp_path / "map.toml", str(tmp_path / "map.toml"), MAPPING, table)
    ]
    assert all(bits(own) == bits(given[0]) and own.mapping == given[0].mapping for own in given)
    proposed = offnominal.logs.read(runs)
    assert proposed.mapping == offnominal.logs.propose(runs) == offnominal.logs.propose(pd.DataFrame(tanks(0)))
    assert "guess" in proposed.mapping and bits(offnominal.logs.read(runs, proposed.mapping)) == bits(proposed)
    assert proposed.dt_secs == pytest.approx(0.1) and given[0].dt_secs == 0.05


@pytest.mark.parametrize(
    ("logs", "mapping", "message"),
    [
        ([], None, "expected at least one log, found none"),
        (3, None, "logs: expected paths or data frames, found int"),
        ([pd.Series([1.0])], None, "frame 0: expected a path or a data frame, found Series"),
        ([pl.Series([1.0])], None, "frame 0: expected a path or a data frame, found Series"),
        ([3], None, "frame 0: expected a path or a data frame, found int"),
        ({"rig": pd.DataFrame({"x": [1.0, 2.0]})}, MAPPING, 'log rig: expected the column "level" of the mapping, found none'),
        ({"rig": pd.DataFrame({"x": [1.0, {}]})}, None, r'data frame rig, column "x", row 1: expected a number, .* found a dict'),
        (pd.DataFrame({"x": [1.0]}), {"version": 2, "clock": {}, "observation": []}, "version: expected 1, found 2"),
        (pd.DataFrame({"x": [1.0]}), {"version": 1, "clock": {}, "observations": []}, "unknown field `observations`"),
        (pd.DataFrame({"x": ["a", "b"]}), None, "no mapping can be proposed .*observation: expected at least one channel"),
        (pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, "a"]}), {"version": 1, "clock": {}, "observation": [{"column": "y"}]},
         'log frame 0: column "y": expected numbers, as it is a channel'),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else None,
)  # fmt: skip
def test_what_is_wrong_is_named(logs: Any, mapping: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        offnominal.logs.read(logs, mapping)


def test_a_log_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing.csv"):
        offnominal.logs.read(tmp_path / "nothing.csv", MAPPING)
    with pytest.raises(OSError, match="map.toml"):
        offnominal.logs.read(written(tanks(1), tmp_path / "run.csv"), tmp_path / "map.toml")


def test_recordings_are_episodes_of_detectors_and_tables(tmp_path: Path) -> None:
    runs = offnominal.logs.read([*files(tmp_path, 6), written(tanks(9, leaks_from=40), tmp_path / "leak.csv")], MAPPING)
    assert len(runs) == 7 and len(runs.nominal) == 6 and isinstance(runs[:3], offnominal.logs.Recordings)
    monitor = offnominal.detectors.Knn().fit(runs.nominal)
    scores = monitor.score(runs[6])
    assert scores.shape == (len(runs[6]),) and scores[90:].min() > monitor.score(runs[0]).max()
    table = runs.to_pandas()
    assert list(table) == [
        "episode",
        "step",
        "secs",
        "observation.level",
        "observation.inflow",
        "action.valve",
        "label",
    ]
    assert len(table) == sum(len(own) + 1 for own in runs) and table["label"].sum() == runs[6].labels.sum()
    again = offnominal.episodes.pairs(table.drop(columns="label"))
    assert all(np.array_equal(a[0], own.observations) for a, own in zip(again, runs, strict=True))
    assert "6 of them nominal" in repr(runs)


def test_recordings_may_be_without_commands(tmp_path: Path) -> None:
    without = MAPPING.replace('command = [{ column = "valve" }]', "")
    runs = offnominal.logs.read(
        [*files(tmp_path, 24), written(tanks(90, leaks_from=40), tmp_path / "leak.csv")], without
    )
    leak = runs[-1]
    assert leak.actions.shape == (len(leak), 0) and leak.name.endswith("leak.csv") and "none" in leak._repr_html_()
    monitor = offnominal.detectors.Knn().fit(runs.nominal)
    assert monitor.step(leak.observations[0], leak.actions[0], leak.observations[1]) == pytest.approx(
        monitor.score(leak)[0]
    )
    watch = offnominal.alarms.fit(
        runs.nominal[:12], runs.nominal[12:], "knn", alpha=0.1, diagnosis=False, progress=False
    )
    alarms = [
        t
        for t in range(len(leak))
        if watch.transition(*(leak.observations[t], leak.actions[t], leak.observations[t + 1])).is_alarm
    ]
    assert alarms and alarms[0] >= leak.onset


def test_the_commands_lead_from_logs_to_an_alarm(tmp_path: Path) -> None:
    runs, leak = files(tmp_path, 14, steps=40), written(tanks(90, leaks_from=20, steps=40), tmp_path / "leak.csv")
    found = offnominal.commands.inspect(
        runs[0], map_=tmp_path / "proposed.toml", report=tmp_path / "logs.html", progress=False
    )
    assert found["logs"][0]["format"] == "csv" and found["mapping"] == (tmp_path / "proposed.toml").read_text()
    assert (tmp_path / "logs.html").is_file()
    (tmp_path / "map.toml").write_text(MAPPING)
    options: dict[str, Any] = {
        "map_": tmp_path / "map.toml",
        "alpha": 0.1,
        "detector": "knn",
        "progress": False,
    }
    fitted = offnominal.fit(tmp_path / "tanks.monitor", logs=runs, **options)
    assert (
        fitted["recordings"] == 14
        and fitted["monitor"]["threshold"]["episodes"] == 9
        and fitted["monitor"]["threshold"]["rule"] == "conformal"
    )
    pages = {"report": tmp_path / "leak.html", "alarms": tmp_path / "alarms.csv"}
    scored = offnominal.score(tmp_path / "tanks.monitor", logs=leak, **pages, progress=False)
    assert scored["recordings"][0]["alarms"][0]["channels"][0]["name"] == "level"
    assert all(path.is_file() for path in pages.values())
    with pytest.raises(TypeError, match="alphaa"):
        offnominal.fit(tmp_path / "other.monitor", logs=runs, alphaa=0.1)


def test_a_monitor_of_recordings_is_the_file_that_fit_writes(tmp_path: Path) -> None:
    paths = files(tmp_path, 24)
    (tmp_path / "map.toml").write_text(MAPPING)
    options: dict[str, Any] = {
        "detector": "isolation-forest",
        "alpha": 0.1,
        "seed": 3,
        "diagnosis": False,
        "progress": False,
    }
    offnominal.fit(tmp_path / "fit.monitor", logs=paths, map_=tmp_path / "map.toml", **options)
    runs = offnominal.logs.read(paths, MAPPING)
    watch = offnominal.alarms.fit(runs[:12], runs[12:], out=tmp_path / "own.monitor", **options)
    assert (tmp_path / "own.monitor").read_bytes() == (tmp_path / "fit.monitor").read_bytes()
    assert watch.about["observation"][0] == {"name": "level", "unit": "m"} and watch.about["dt_secs"] == 0.05
    named = offnominal.alarms.fit(runs[:12], runs[12:], system="rig", **options)
    assert named.about["environment"]["id"] == "rig" and "mapping" not in named.about
    assert named.about["observation"] == watch.about["observation"]
    other = offnominal.logs.read(paths, MAPPING.replace('name = "inflow"', 'name = "outflow"'))
    with pytest.raises(
        ValueError, match="calibration: expected the channels level, inflow, valve, found level, outflow, valve"
    ):
        offnominal.alarms.fit(runs[:12], other[12:], **options)


def test_a_last_window_that_the_log_does_not_fill_is_scored_and_not_learned_from(tmp_path: Path) -> None:
    paths = files(tmp_path, 1)
    secs = len(offnominal.logs.read(paths, MAPPING)[0]) * 0.05
    cut = MAPPING + f'[episodes]\nby = "window"\nsecs = {round(secs / 3.5, 2)}\n'
    runs = offnominal.logs.read(paths, cut)
    assert len(runs) == 4 and [own.left_out for own in runs[:3]] == [None] * 3
    assert runs[3].is_nominal and runs[3].left_out == "the log ends before this window does"
    with pytest.warns(UserWarning, match=r"1 of 4 episodes .*\(the log ends before this window does\)"):
        offnominal.detectors.KnnTransition().fit(runs)


def test_a_constant_of_float64_changes_no_alarm_and_no_score() -> None:
    def runs(n: int, seed: int, constant: float, jump: float = 0.0) -> list[tuple[Any, Any]]:
        found = []
        for i in range(n):
            rng = np.random.default_rng([seed, i])
            x = np.zeros((81, 3))
            for t in range(1, 81):
                x[t] = 0.9 * x[t - 1] + 0.4359 * rng.normal(size=3)
            x[41:, 1] += jump
            # Multiples of so much lose nothing when the constant is added.
            x[:, 1] = constant + np.round(x[:, 1] * 1000) / 2**20
            found.append((x[:, :2], x[:80, 2:]))
        return found

    def raised(watch: Any, run: tuple[Any, Any]) -> list[int]:
        watch.reset()
        verdicts = [watch.step(obs, action) for obs, action in zip(*run)]
        return [own.step for own in verdicts if own is not None and own.is_alarm]

    alarms, scores = [], []
    for constant in (0.0, 1e9):
        train, faulty = runs(24, 1, constant), runs(4, 2, constant, 30.0)
        watch = offnominal.alarms.fit(train[:12], train[12:], "mewma", alpha=0.1, diagnosis=False, progress=False)
        assert watch.about["observation"][1].get("reference", 0.0) == constant
        alarms.append([raised(watch, run) for run in faulty])
        monitor = offnominal.detectors.Knn().fit(train, progress=False)
        whole = monitor.score(faulty[0])
        monitor.reset()
        rows, actions = faulty[0]
        steps = [monitor.step(rows[t], actions[t], rows[t + 1]) for t in range(80)]
        assert np.allclose(whole, steps, rtol=1e-4)
        scores.append(whole)
    assert alarms[0] == alarms[1] and all(alarms[0])
    assert np.allclose(*scores, rtol=1e-3)
