"""The JSON Schemas in schemas/ accept what is shipped and what the program writes, and refuse what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import offnominal

jsonschema = pytest.importorskip("jsonschema")
tomllib = pytest.importorskip("tomllib", reason="Python before 3.11 reads no TOML")
ROOT = Path(__file__).resolve().parents[2]


def schema(name):
    content = json.loads((ROOT / "schemas" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


def refusals(name, instance):
    return [error.message for error in schema(name).iter_errors(instance)]


@pytest.mark.parametrize("path", sorted((ROOT / "crates/offnominal-bench/campaigns").glob("*.toml")), ids=lambda path: path.stem)
def test_every_campaign_is_one(path):
    assert refusals("campaign", tomllib.loads(path.read_text())) == []


@pytest.mark.parametrize("path", sorted((ROOT / "label-maps").glob("*.toml")), ids=lambda path: path.stem)
def test_every_label_map_is_one(path):
    assert refusals("label-map", tomllib.loads(path.read_text())) == []


@pytest.mark.parametrize("path", sorted((ROOT / "studies/risk/multifidelity").glob("*.json")), ids=lambda path: path.stem)
def test_every_result_of_two_simulators_is_one(path):
    found = json.loads(path.read_text())
    assert refusals("multifidelity", found) == []
    assert refusals("multifidelity", {**found, "risk": None}) != []


@pytest.mark.parametrize("path", sorted((ROOT / "studies/risk").glob("*/stress*.json")), ids=lambda path: path.stem)
def test_every_stress_test_is_one(path):
    found = json.loads(path.read_text())
    assert refusals("stress", found) == []
    assert refusals("stress", {**found, "failures": None}) != []


@pytest.mark.parametrize("path", sorted((ROOT / "studies").glob("[vi]*/*.json")), ids=lambda path: path.stem)
def test_every_environment_of_a_suite_is_one(path):
    assert refusals("suite-environment", json.loads(path.read_text())) == []


def campaign(**changes):
    minimal = {
        "name": "c",
        "seed": 1,
        "envs": ["sap-goal1"],
        "detectors": ["clock", {"id": "knn", "k": 3}],
        "episodes": {"train": 1, "validation": 1, "test": 1},
    }
    return minimal | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"sed": 2},
        {"seed": "one"},
        {"strengths": ["weak"]},
        {"detectors": [{"id": "knn", "kk": 3}]},
        {"detectors": [{"k": 3}]},
        {"anomalies": []},
        {"anomalies": [{"id": "act-delay", "magnitude": "large"}]},
        {"onset": -1},
        {"extent": {"window": 0}},
        {"episodes": {"train": 1}},
    ],
    ids=str,
)
def test_what_a_campaign_may_not_be_is_refused_by_schema_and_program(changes, tmp_path):
    assert refusals("campaign", campaign()) == []
    wrong = campaign(**changes)
    assert refusals("campaign", wrong) != []
    file = tmp_path / "wrong.toml"
    file.write_text(toml(wrong))
    with pytest.raises(ValueError):
        offnominal.commands.bench(campaign=file, out=tmp_path / "out", progress=False)


def toml(value):
    """The campaign as TOML; enough of it for these."""

    def one(item):
        if isinstance(item, dict):
            return "{ " + ", ".join(f"{key} = {one(v)}" for key, v in item.items()) + " }"
        if isinstance(item, list):
            return "[" + ", ".join(map(one, item)) + "]"
        return json.dumps(item)

    return "".join(f"{key} = {one(item)}\n" for key, item in value.items())


def test_a_proposed_mapping_is_what_the_schema_says(tmp_path):
    log = tmp_path / "run.csv"
    log.write_text("time,x [m],cmd,label\n" + "".join(f"{i / 10},{i % 3},{i % 2},0\n" for i in range(20)))
    proposed = tomllib.loads(offnominal.logs.propose(log))
    assert refusals("mapping", proposed) == [] and proposed["observation"] == [{"column": "x", "unit": "m"}]
    wrong = proposed | {"observations": []}
    assert refusals("mapping", wrong) != []
    with pytest.raises(ValueError, match="unknown field `observations`"):
        offnominal.logs.read(log, wrong)


def test_lines_of_a_monitor_are_what_the_schemas_say(tmp_path):
    file = tmp_path / "goal.monitor"
    offnominal.fit(file, env="sap-goal0", policy="tqc", detector="knn", train=20, calibration=20, seed=1, progress=False)
    lines = stream(offnominal.collect("sap-goal0", "tqc", episodes=1, seed=5)[0], fails_at=10)
    assert all(refusals("monitor-line", line) == [] for line in lines)
    assert refusals("monitor-line", {"obs": [1.0], "act": [0.0]}) != []
    verdicts = watched(file, lines)
    assert len(verdicts) == len(lines) - 1 and any("diagnosis" in verdict for verdict in verdicts)
    assert [refusals("monitor-verdict", verdict) for verdict in verdicts] == [[]] * len(verdicts)


def stream(episode, fails_at):
    """An episode as a robot would send it, whose sensors jump."""
    observations = [[float(x) + (5.0 if t >= fails_at else 0.0) for x in row] for t, row in enumerate(episode.observations)]
    actions = [[float(x) for x in row] for row in episode.actions]
    lines = [{"obs": obs, "action": action} for obs, action in zip(observations, actions, strict=False)]
    return [lines[0] | {"reset": True}, *lines[1:], {"obs": observations[-1]}]


def watched(file, lines):
    """What `offnominal monitor` answers."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    command = [sys.executable, "-m", "offnominal", "monitor", str(file)]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
