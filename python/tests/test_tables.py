"""Results, episodes and calibrations as tables, and what public things look like in a terminal and in a notebook."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from test_bench import SMALL

import offnominal
from offnominal import alarms, detectors

LIBRARIES = {"to_pandas": "pandas", "to_polars": "polars", "to_arrow": "pyarrow"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return offnominal.bench(policy="tqc", detectors=["knn"], out=tmp_path_factory.mktemp("bench"), **SMALL)


@pytest.fixture(scope="module")
def episodes():
    return offnominal.collect("sap-goal1", "tqc", episodes=4, seed=1, anomaly="obs-offset", magnitude=1.0, onset=3)


@pytest.fixture(scope="module")
def file(episodes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    nominal = offnominal.collect("sap-goal1", "tqc", episodes=8, seed=1)
    alarms.fit(nominal[:4], nominal[4:], "knn", rule="max", diagnosis=False, out=folder / "knn.monitor")
    episodes.save(folder / "episodes.arrow")
    return folder


def tabular(results, episodes, file):
    """Everything that is a table, with its number of rows."""
    rows = sum(len(episode) + 1 for episode in episodes)
    yield results, len(results.columns()["value"])
    yield offnominal.evaluate("cartpole", "random", episodes=3), 1
    yield offnominal.score(file / "knn.monitor", logs=file / "episodes.arrow"), len(episodes)
    yield episodes, rows
    yield episodes[0], len(episodes[0]) + 1


@pytest.mark.parametrize("method", LIBRARIES)
def test_everything_is_a_table_of_every_library(method, results, episodes, file):
    pytest.importorskip(LIBRARIES[method])
    for thing, rows in tabular(results, episodes, file):
        table = getattr(thing, method)()
        assert type(table).__module__.split(".")[0] == LIBRARIES[method] and len(table) == rows, repr(thing)


@pytest.mark.parametrize("method", LIBRARIES)
def test_without_its_library_a_table_names_the_extra(method, results, episodes, file, monkeypatch):
    extra = method.removeprefix("to_")
    for name in (LIBRARIES[method], f"{LIBRARIES[method]}.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    for thing, _ in tabular(results, episodes, file):
        with pytest.raises(ImportError, match=rf'pip install "offnominal\[{extra}\]"'):
            getattr(thing, method)()
    if method == "to_pandas":
        with pytest.raises(ImportError, match=r'pip install "offnominal\[pandas\]"'):
            results.table  # noqa: B018


def test_numbers_of_a_table_are_those_of_the_thing(results, episodes):
    pandas = pytest.importorskip("pandas")
    found = offnominal.evaluate("cartpole", "random", episodes=3)
    assert found.to_pandas()["return.value"][0] == found["return"]["value"] and found["env"] == "cartpole"
    table = episodes.to_pandas()
    own = table[table["episode"] == 0]
    assert np.array_equal(own[f"observation.{episodes.names[0][0]}"], episodes[0].observations[:, 0])
    assert np.array_equal(own["label"][:-1], episodes[0].labels) and pandas.isna(own["reward"].iloc[-1])
    again = offnominal.Results.open(results.folder)
    assert again.to_pandas().equals(results.table)
    with pytest.raises(FileNotFoundError, match=r"expected a folder with results.csv"):
        offnominal.Results.open(results.folder / "cells")


def test_what_is_shown_is_short(results, episodes, file):
    watch = alarms.Watch.load(file / "knn.monitor")
    shown = {
        "<Dataset: 8 episodes of tqc in sap-goal1, anomalous and nominal (obs-offset)": episodes,
        f"<Episode: {len(episodes[0])} steps of 22 observation and 2 action channels, ": episodes[0],
        "<Watch knn of tqc in sap-goal1: alarm above ": watch,
        "<Monitor knn: 22 observation and 2 action channels>": detectors.Knn().fit(episodes),
        "<Policy tqc in sap-goal1>": offnominal.Policy("sap-goal1"),
        "<Results in ": results,
        "Knn(k=3)": detectors.Knn(k=3),
    }
    for text, thing in shown.items():
        assert repr(thing).startswith(text), repr(thing)
        html = thing._repr_html_()
        assert len(repr(thing)) < 200 and "0x" not in repr(thing) and html.startswith(("<table", "<iframe"))


def test_what_needs_another_library_is_imported_when_it_is_used(monkeypatch):
    assert ("sb3" in dir(offnominal)) == (find_spec("stable_baselines3") is not None)
    with pytest.raises(AttributeError, match="sb4"):
        offnominal.sb4  # noqa: B018
    monkeypatch.delitem(sys.modules, "offnominal.sb3", raising=False)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    with pytest.raises(ImportError, match=r'expected Stable-Baselines3, which `pip install "offnominal\[sb3\]"` brings'):
        offnominal.sb3  # noqa: B018
