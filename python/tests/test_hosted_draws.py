"""What is drawn for an episode of a hosted environment is in force in it, or the command ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import offnominal

pytest.importorskip("fcntl", reason="hosted environments need Unix sockets")

#: Environments that show their parameter `load` in the observation and in the return, each with a way of its own to hold it.
LOADED = '''
"""Environments that show the parameter `load` in their observation."""
import gymnasium
import numpy as np
from gymnasium import spaces


class Loaded(gymnasium.Env):
    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)
    nominal = 5.0

    def __init__(self):
        self.load = self.nominal

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.noise = self.np_random.normal()
        return self.seen(), {"gap": self.load - 4.0}

    def seen(self):
        return np.array([self.load, self.noise], np.float32)

    def step(self, action):
        self.noise = self.np_random.normal()
        return self.seen(), float(self.load), self.load < 4.0, False, {"gap": self.load - 4.0}


class Whole(Loaded):
    """Wrote its nominal value without a decimal point."""
    nominal = 5


class MadeAnew(Loaded):
    """A reset forgets what was set."""

    def reset(self, seed=None, options=None):
        self.load = self.nominal
        return super().reset(seed=seed)


class InArray(Loaded):
    """Keeps it among others."""

    def __init__(self):
        self.loads = np.array([9.0, 5.0])

    load = property(lambda self: self.loads[1])


class Own(Loaded):
    """Has a setter of its own, without a way to read."""
    PARAMETERS = {"load": (5.0, 0.5, 20.0)}

    def set_parameter(self, name, value):
        setattr(self, name, value)


class Readable(Own):
    def get_parameter(self, name):
        return getattr(self, name)


class Paced(Loaded):
    """Says how many of its steps make a second."""
    metadata = {"render_fps": 50}


class Deaf(Readable):
    """Its setter does nothing."""

    def set_parameter(self, name, value):
        pass


class Clipped(Loaded):
    """Holds no load above six."""

    def __init__(self):
        self._load = 5.0

    @property
    def load(self):
        return self._load

    @load.setter
    def load(self, value):
        self._load = min(value, 6.0)


class Integers(Loaded):
    """An array of whole numbers cuts what is put into it."""

    def __init__(self):
        self.loads = np.array([9, 5])

    load = property(lambda self: self.loads[1])


class Holds(gymnasium.Wrapper):
    """Holds each command for five steps."""

    def step(self, action):
        for _ in range(5):
            found = self.env.step(action)
        return found


class Says(Holds):
    dt = 0.1


def wrapped(name):
    wrappers = {"Holds": Holds, "Says": Says, "Skips": lambda env: gymnasium.wrappers.MaxAndSkipObservation(env, skip=5)}
    return gymnasium.wrappers.TimeLimit(wrappers[name](gymnasium.wrappers.RecordEpisodeStatistics(Paced())), 9)


for one in (Loaded, Whole, MadeAnew, InArray, Own, Readable, Paced, Deaf, Clipped, Integers):
    gymnasium.register(f"{one.__name__}-v0", one, max_episode_steps=3)
'''

MANIFEST = '[parameters]\nload = { attribute = "unwrapped.%s", low = 0.5, high = 20.0 }\n'
UNIFORM = '[draw.load]\ndistribution = "uniform"\nlow = %s\nhigh = %s\n'

#: Where each has its parameter; nothing where it brings it itself.
PLACES = {
    "Loaded": "load", "Whole": "load", "MadeAnew": "load", "InArray": "loads[1]", "Own": None, "Readable": None,
    "Paced": "load", "Deaf": None, "Clipped": "load", "Integers": "loads[1]",
}  # fmt: skip


@pytest.fixture(autouse=True)
def module(elsewhere):
    Path("loaded.py").write_text(LOADED)
    for place in filter(None, set(PLACES.values())):
        Path(f"{place}.toml").write_text(MANIFEST % place)


def loaded(name, more=""):
    manifest = f"&manifest={PLACES[name]}.toml" if PLACES[name] else ""
    return f"gymnasium:loaded:{name}-v0?modules=.{manifest}{more}"


def command(*arguments):
    line = [sys.executable, "-m", "offnominal", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, env={**os.environ, "OFFNOMINAL_PYTHON": sys.executable})


def estimate(name, *more, episodes=40):
    play = ("--env", loaded(name), "--policy", "random", "--failure", "terminated", "--episodes", episodes, "--seed", 1)
    return command("risk", "estimate", *play, *more, "--out", f"r-{name}", "--json", "--quiet")


SOUND = [name for name in PLACES if name not in ("Deaf", "Clipped", "Integers")]


@pytest.mark.parametrize("name", SOUND)
def test_an_environment_shows_each_parameter_as_it_was_drawn(name):
    """The journal's initial condition is what the observation shows to the last step, and it decides who fails."""
    Path("d.toml").write_text(UNIFORM % (1.0, 7.0))
    found = estimate(name, "--distribution", "d.toml")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["run"]["scenario"]["draws"]
    blocks = [json.loads(line)["block"] for line in Path(f"r-{name}/journal.jsonl").read_text().splitlines()[1:]]
    failures = [failure for block in blocks for failure in block["failures"]]
    assert 8 < len(failures) < 35
    for failure in failures:
        assert failure["x"][0] < 4.0
        assert failure["last"][0] == pytest.approx(failure["x"][0], rel=1e-6)


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("how", ["distribution", "randomise", "table"])
def test_an_extreme_value_decides_every_episode(name, how):
    Path("d.toml").write_text(UNIFORM % (1.0, 3.0))
    Path("t.csv").write_text("load\n1.5\n2.5\n")
    options = {
        "distribution": ("--distribution", "d.toml"),
        "randomise": ("--randomise", "load=0.001", "--sigma", "0.1"),
        "table": ("--parameter-table", "t.csv"),
    }
    found = estimate(name, *options[how], episodes=12)
    assert found.returncode == 0, found.stderr
    risk = json.loads(found.stdout)["risk"]["risk"]["value"]
    assert risk == (0.0 if how == "randomise" else 1.0)


@pytest.mark.parametrize("name", ["Deaf", "Clipped", "Integers"])
def test_a_setter_that_cannot_set_ends_the_command(name):
    Path("d.toml").write_text(UNIFORM % (6.5, 7.0))
    found = estimate(name, "--distribution", "d.toml", episodes=4)
    assert found.returncode == 2, found.stdout
    assert "parameter load: set to 6." in found.stderr and "the environment then has" in found.stderr


def test_draws_reach_every_command():
    Path("d.toml").write_text(UNIFORM % (1.0, 3.0))
    play = ("--env", loaded("Whole"), "--distribution", "d.toml", "--failure", "terminated", "--json", "--quiet")
    found = command("evaluate", *play, "--policy", "random", "--episodes", 8)
    assert json.loads(found.stdout)["success"]["value"] == 0.0, found.stderr
    assert 1.0 < json.loads(found.stdout)["return"]["value"] < 3.0
    found = command("compare", "random", "random", *play, "--episodes", 100, "--metric", "return", "--out", "c")
    assert found.returncode == 0, found.stderr
    compared = next(one for one in json.loads(found.stdout)["comparisons"] if one["quantity"] == "return")
    # Three steps at most, of which the first ends it.
    assert 1.0 < compared["old"]["value"] < 3.0
    found = command(
        "risk", "search", *play, "--policy", "random", "--strategy", "random", "--searches", 5, "--out", "s"
    )
    assert found.returncode == 0, found.stderr


def test_whoever_plays_gets_the_stated_number_as_an_anomaly_too():
    episodes = offnominal.collect(loaded("Whole"), "random", episodes=1, anomaly="dyn-load", magnitude=5.9, onset=0)
    assert episodes[0].observations[1][0] == pytest.approx(5.9)


def test_an_anomaly_that_ends_leaves_what_was_drawn():
    Path("t.csv").write_text("load\n7\n")
    asked = {"anomaly": "dyn-load", "magnitude": 9.0, "onset": 1, "window": 1}
    found = offnominal.risk.estimate(
        loaded("Loaded"), "random", parameter_table="t.csv", failure="return<22.9", episodes=4, **asked
    )
    # 7, 9 and 7 again: nominal again would be 21.
    assert found["risk"]["risk"]["value"] == 0.0


def test_every_method_of_risk_works_on_drawn_parameters():
    """They are initial conditions that can be learned from, varied and searched; a margin comes from `info`."""
    Path("d.toml").write_text('[draw.load]\ndistribution = "normal"\nmean = 7.0\nsd = 1.5\n')
    play = (
        "--env",
        loaded("Loaded"),
        "--distribution",
        "d.toml",
        "--failure-margin",
        "info.gap",
        "--json",
        "--quiet",
        "--seed",
        2,
    )
    plain = command("risk", "estimate", *play, "--policy", "random", "--episodes", 800, "--out", "plain")
    assert plain.returncode == 0, plain.stderr
    risk = json.loads(plain.stdout)["risk"]["risk"]
    # Φ(−2) = .0228.
    assert risk["low"] < 0.0228 < risk["high"]
    adaptive = command(
        "risk", "estimate", *play, "--policy", "random", "--method", "adaptive", "--episodes", 300, "--out", "adaptive"
    )
    assert adaptive.returncode == 0, adaptive.stderr
    found = json.loads(adaptive.stdout)["risk"]["risk"]
    assert found["low"] < 0.0228 < found["high"]
    split = command(
        "risk", "split", *play, "--policy", "random", "--swarms", 4, "--particles", 100, "--out", "split"
    )
    assert split.returncode == 0, split.stderr
    assert 0.001 < json.loads(split.stdout)["risk"]["value"] < 0.2
    search = command(
        "risk",
        "search",
        *play,
        "--policy",
        "random",
        "--strategy",
        "cross-entropy",
        "--strategy",
        "elites",
        "--searches",
        3,
        "--out",
        "search",
    )
    assert search.returncode == 0, search.stderr


def test_an_initial_condition_that_is_a_seed_alone_teaches_nothing():
    """Then adaptive draws would only count, with wider intervals."""
    said = command(
        "risk", "estimate", "--env", loaded("Loaded"), "--failure", "return<15", "--policy", "random", "--method", "adaptive",
        "--episodes", 20,
    )  # fmt: skip
    assert said.returncode == 2
    assert "numbers to learn from, found 0" in said.stderr and "--method plain" in said.stderr


@pytest.mark.parametrize(
    "task",
    [
        ("estimate", "--episodes", 20),
        ("estimate", "--episodes", 20, "--randomise", "load", "--method", "adaptive", "--rate", 1),
        ("search", "--strategy", "random", "--searches", 2),
        ("split", "--swarms", 4, "--particles", 20),
        ("learn", "--episodes", 5, "--history-only"),
    ],
)
def test_a_margin_that_contradicts_the_rule_ends_every_command_of_risk(task):
    """The return is 15 in an episode of three steps, whose gap stays at one."""
    name, *rest = task
    policy = "agents:policy_20_steps?modules=." if name == "learn" else "random"
    Path("agents.py").write_text("def policy_20_steps(observation):\n    return [0.0]\n")
    play = ("--env", loaded("Loaded"), "--policy", policy, "--failure", "return<15.5")
    found = command("risk", name, *play, *rest, "--failure-margin", "info.gap", "--out", "margin")
    assert found.returncode == 2 and "failed, and its smallest margin was " in found.stderr, (
        found.stdout + found.stderr
    )
    assert "gap" in found.stderr and "return" in found.stderr, "the error names the margin and the rule"
    if name == "learn":
        assert command("risk", name, *play, *rest, "--out", "rule").returncode == 0, "a name of a module says its steps"


def test_several_requirements_and_the_table_of_experiments_of_a_hosted_environment():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    Path("d.toml").write_text(UNIFORM % (3.0, 7.0))
    play = ("--env", loaded("Loaded"), "--policy", "random", "--distribution", "d.toml", "--failure", "terminated")
    several = ("--stl", "always (o0 < 6.5)", "--stl", "always (o1 < 1.5)")
    command("risk", "estimate", *play, *several, "--episodes", 200, "--table", "one.parquet", "--jobs", 1)
    found = command("risk", "estimate", *play, *several, "--episodes", 200, "--table", "two.parquet", "--json", "--jobs", 2)
    assert found.returncode == 0, found.stderr
    assert Path("one.parquet").read_bytes() == Path("two.parquet").read_bytes()
    document, table = json.loads(found.stdout), pandas.read_parquet("two.parquet")
    requirements = document["requirements"]["each"]
    assert (table.outcome == "failed").mean() == pytest.approx(document["risk"]["risk"]["value"])
    for number, requirement in enumerate(requirements, 1):
        assert table[f"broken.{number}"].sum() == requirement["broken"] > 0
        assert requirement["risk"]["value"] == pytest.approx(table[f"broken.{number}"].mean())
        assert requirement["together"]["low"] < requirement["risk"]["low"]
    load = table["initial.load"]
    assert ((load >= 6.5) == table["broken.1"]).all() and ((load < 4.0) == table["broken.3"]).all()
    assert table.seed.is_unique and (table.weight == 1.0).all()
    said = command("evaluate", "--env", "cartpole", "--policy", "random", *several)
    assert said.returncode == 2 and "stl: expected one formula" in said.stderr and "`and`" in said.stderr


FLAGS = {
    "failure": ("--failure", "info.gap=false"),
    "max-risk": ("--failure", "timeout", "--max-risk", "1"),
    "early-stop": ("--failure", "terminated", "--max-risk", "0.5", "--early-stop"),
    "margin": ("--failure-margin", "info.gap"),
    "distribution": ("--distribution", "d.toml", "--failure", "terminated"),
    "randomise": ("--randomise", "load", "--sigma", "0.3", "--failure", "terminated"),
    "table": ("--parameter-table", "t.csv", "--failure", "terminated"),
    "below": ("--below", "15.5"),
    "stl": ("--stl", "always (o1 < 1.5)"),
    "several": ("--stl", "always (o1 < 1.5)", "--failure", "terminated", "--stl", "always (o0 < 9)"),
    "adaptive": ("--failure", "return<15", "--randomise", "load", "--method", "adaptive", "--rate", "0.3"),
    "width": ("--failure", "terminated", "--width", "0.4", "--level", "0.9"),
    "anomaly": ("--failure", "terminated", "--anomaly", "dyn-load", "--magnitude", "3.5"),
}


@pytest.mark.parametrize("flag", FLAGS)
def test_a_bundle_made_with_each_flag_verifies(flag):
    Path("d.toml").write_text(UNIFORM % (3.0, 6.0))
    Path("t.csv").write_text("load\n3\n6\n")
    play = ("--env", loaded("Loaded"), "--policy", "random", "--episodes", 40, "--seed", 3, "--out", "run")
    found = command("risk", "estimate", *play, *FLAGS[flag], "--quiet")
    assert found.returncode in (0, 1), found.stderr
    recorded = json.loads(Path("run/risk.json").read_text())["made"]["command"]
    for option in (word for word in FLAGS[flag] if word.startswith("--")):
        assert option in recorded, recorded
    assert command("evidence", "run", "--out", "b.zip").returncode == 0
    found = command("verify", "b.zip", "--allow-programs", "--sample", 5, "--sample-seed", 1)
    assert found.returncode == 0 and "came out with the same bits" in found.stdout, found.stdout + found.stderr


def test_a_comparison_with_a_stated_failure_verifies():
    play = (
        "--env",
        "gymnasium:MountainCar-v0?horizon=30",
        "--failure",
        "terminated",
        "--metric",
        "failure",
        "--require",
        "better",
    )
    assert command("compare", "random", "random", *play, "--episodes", 20, "--block", 10, "--out", "c").returncode == 1
    assert command("evidence", "c", "--out", "b.zip").returncode == 0
    found = command("verify", "b.zip", "--allow-programs")
    assert found.returncode == 0 and "came out with the same bits" in found.stdout, found.stdout + found.stderr


def test_what_a_result_is_made_of_is_looked_at_before_it_is_gone_on_with():
    """Modules, modules that they import, and the manifest; each edit is named."""
    Path("limits.py").write_text("LIMIT = 4.0\n")
    Path("loaded.py").write_text(
        LOADED.replace("import gymnasium\n", "import gymnasium\nfrom limits import LIMIT\n", 1)
    )
    play = ("--env", loaded("Loaded"), "--policy", "random", "--failure", "terminated")
    tasks = {
        "estimate": ("risk", "estimate", *play, "--episodes", 20),
        "split": ("collect", *play, "--episodes", 4),
        "search": ("risk", "search", *play[:4], *play[4:], "--strategy", "random", "--searches", 2, "--budget", 5),
        "compare": ("compare", "random", "random", "--env", loaded("Loaded"), "--episodes", 20, "--metric", "return"),
    }
    for out, task in tasks.items():
        assert command(*task, "--out", out).returncode == 0
        assert command(*task, "--out", out).returncode == 0, "nothing has changed"
    edits = {
        "limits.py": "LIMIT = 4.5\n",
        "loaded.py": Path("loaded.py").read_text() + "\n# An edit.\n",
        "load.toml": Path("load.toml").read_text() + "# Another one.\n",
    }
    for name, text in edits.items():
        before = Path(name).read_text()
        Path(name).write_text(text)
        for out, task in tasks.items():
            found = command(*task, "--out", out)
            assert found.returncode == 2 and name.replace("load.toml", "manifest") in found.stderr, (
                name,
                out,
                found.stderr,
            )
        Path(name).write_text(before)


def test_a_failure_that_nobody_has_stated_is_asked_for():
    """And is known of environments whose documentation tells it."""
    for line in (
        ("risk", "estimate", "--policy", "random"),
        ("audit", "--policy", "random"),
        ("risk", "split", "--policy", "random"),
    ):
        found = command(*line, "--env", loaded("Loaded"), "--out", "asked")
        assert found.returncode == 2 and "nobody has said" in found.stderr and "offers gap" in found.stderr, (
            found.stderr
        )
    found = command("compare", "random", "random", "--env", loaded("Loaded"), "--require", "better", "--out", "c")
    assert found.returncode == 2 and "nobody has said" in found.stderr
    episode = offnominal.collect(loaded("Loaded"), "random", episodes=1, anomaly="dyn-load", magnitude=3.0, onset=1)[0]
    assert (episode.end, episode.success) == ("ended", None)
    pendulum = command("risk", "estimate", "--env", "gymnasium:Pendulum-v1", "--policy", "random", "--out", "p")
    assert pendulum.returncode == 2 and "nobody has said" in pendulum.stderr
    car = "gymnasium:MountainCar-v0?horizon=40"
    found = command("risk", "estimate", "--env", car, "--policy", "random", "--episodes", 10, "--out", "car", "--json")
    document = json.loads(found.stdout)
    assert document["risk"]["risk"]["value"] == 1.0
    assert "this program's rule for MountainCar-v0" in document["made"]["rules"][car]
    assert "rule for MountainCar-v0" in Path("car/report.html").read_text()


@pytest.mark.parametrize("option", ["--failure", "--failure-margin"])
def test_a_key_that_info_never_has_ends_the_command_at_the_horizon_too(option):
    """Every episode here ends by the horizon."""
    said = command(
        "risk", "estimate", "--env", loaded("Loaded"), "--policy", "random", option, "info.gapp", "--episodes", 5
    )
    assert said.returncode == 2 and "expected info['gapp']" in said.stderr and "found gap" in said.stderr, said.stderr


@pytest.mark.parametrize("value", ['"false"', '"yes"', "float('nan')", "[1, 2]"])
def test_what_is_neither_true_nor_false_is_no_outcome(value):
    Path("loaded.py").write_text(LOADED.replace('{"gap": self.load - 4.0}', f'{{"is_success": {value}}}'))
    found = command("evaluate", "--env", loaded("Loaded"), "--policy", "random", "--episodes", 2)
    assert found.returncode == 2 and "info['is_success']: expected true or false" in found.stderr, found.stderr


def test_seconds_are_those_that_somebody_has_stated():
    formula = ("--stl", "always[0, 0.04] (o0 > 4)", "--json", "--quiet")
    play = ("--policy", "random", "--episodes", 4)
    said = command("evaluate", "--env", loaded("Loaded"), *play, *formula)
    assert said.returncode == 2 and "how many seconds a step takes" in said.stderr
    for option, place in (("&dt=0.02", "stated"), ("", "manifest")):
        if not option:
            Path("load.toml").write_text("dt = 0.02\n" + MANIFEST % "load")
        found = command("evaluate", "--env", loaded("Loaded", option), *play, *formula)
        assert found.returncode == 0 and f"step of 0.02 s ({place})" in json.loads(found.stdout)["versions"]["Python"]
    behind = command("evaluate", "--env", loaded("Loaded", "&dt=0.02"), *play, "--stl", "always[1, 2] (o0 > 9)")
    assert behind.returncode == 2 and "expected windows within an episode, which lasts 0.06 s" in behind.stderr
    found = command("evaluate", "--env", loaded("Paced"), *play, "--stl", "always[0, 0.04] (o0 > 4)", "--json")
    assert "step of 0.02 s (manifest)" in json.loads(found.stdout)["versions"]["Python"], "the user knows better"
    Path("load.toml").write_text(MANIFEST % "load")
    found = command("evaluate", "--env", loaded("Paced"), *play, "--stl", "always[0, 0.04] (o0 > 4)", "--json")
    assert "step of 0.02 s (render_fps)" in json.loads(found.stdout)["versions"]["Python"]
    fit = ("--policy", "random", "--detector", "knn", "--rule", "run-length", "--run-length")
    said = command("fit", "--env", loaded("Loaded"), *fit, "10m", "--out", "m.monitor")
    assert said.returncode == 2 and "how many seconds a step takes" in said.stderr, said.stderr
    found = command(
        "evaluate", "--env", "gymnasium:CartPole-v1", *play, "--stl", "always[0, 0.5] (abs(o2) < 0.3)", "--json"
    )
    assert "step of 0.02 s (tau)" in json.loads(found.stdout)["versions"]["Python"]


@pytest.mark.parametrize(
    ("name", "place"), [("Holds", None), ("Says", "step of 0.1 s (dt)"), ("Skips", "step of 0.1 s (5 x render_fps)")]
)
def test_seconds_are_those_of_a_step_of_the_outermost_wrapper(name, place):
    """A wrapper of the user's own that takes steps and says nothing leaves nobody who knows."""
    line = ("--env", f"gymnasium:loaded:wrapped?modules=.&name={name}", "--policy", "random", "--episodes", 4)
    found = command("evaluate", *line, "--stl", "always[0, 0.2] (o0 > 4)", "--json")
    if place is None:
        assert found.returncode == 2 and "how many seconds a step takes" in found.stderr, found.stderr
    else:
        assert place in json.loads(found.stdout)["versions"]["Python"], found.stderr


def test_a_policy_is_another_one_when_a_module_that_it_imports_is():
    Path("gains.py").write_text("GAIN = 1.0\n")
    Path("driver.py").write_text("def act(obs):\n    from gains import GAIN\n    return [GAIN * 0.0]\n")
    play = ("--env", loaded("Loaded"), "--policy", "driver:act?modules=.", "--failure", "terminated", "--episodes", 5)
    assert command("risk", "estimate", *play, "--out", "p").returncode == 0
    Path("gains.py").write_text("GAIN = 2.0\n")
    found = command("risk", "estimate", *play, "--out", "p")
    assert found.returncode == 2 and "policy, digest" in found.stderr, found.stderr
