"""Policies of Python in hosted environments: by the name of a module, and as objects."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import offnominal

pytest.importorskip("fcntl", reason="hosted environments need Unix sockets")

CARTPOLE = "gymnasium:CartPole-v1"

PID = '''"""Balances the pole; each kind of thing that can be a policy."""


class Pid:
    def __init__(self):
        self.sum = 0.0

    def reset(self):
        self.sum = 0.0

    def __call__(self, obs):
        self.sum += float(obs[2])
        return int(3 * obs[2] + obs[3] + 0.1 * obs[0] + 0.3 * obs[1] + 0.01 * self.sum > 0)


class Model:
    def predict(self, observation, deterministic=False):
        assert deterministic
        return Pid()(observation), None


def act(obs):
    return Pid()(obs)


def make():
    return Pid()


model = Model()


def wide(obs):
    return [0.0, 1.0]


def none(obs):
    return float("nan")


def raises(obs):
    raise ArithmeticError("of my own")


def dies(obs):
    import os

    os._exit(7)


def hangs(obs):
    import time

    time.sleep(60)


def seen(obs):
    assert obs.shape == (2, 3) and obs.dtype == "float32", (obs.shape, obs.dtype)
    return [0.0]


def keyed(obs):
    assert set(obs) == {"flows", "tank"}, obs
    return [0.0]


def obeys(obs):
    """Needs the sign and the count to the unit."""
    assert obs["count"].dtype == "int64", obs
    return int(obs["sign"]) + 3 * int(obs["count"][0])


class Recurrent:
    """As of sb3-contrib: its memory is the state that it gets back."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        steps = 0 if state is None or episode_start[0] else state[0]
        return [steps + 1.0], (steps + 1,)


class Forgetful:
    def predict(self, observation, deterministic=False):
        return [0.0], (1,)


number = 3
'''

SHAPED = '''"""Observations that are no row."""
import gymnasium
import numpy as np
from gymnasium import spaces


class Table(gymnasium.Env):
    observation_space = spaces.Box(-9, 9, (2, 3))
    action_space = spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.normal(size=(2, 3)).clip(-9, 9).astype(np.float32), {}

    def step(self, action):
        return np.zeros((2, 3), np.float32), 1.0, False, False, {}


class Keyed(gymnasium.Env):
    observation_space = spaces.Dict(flows=spaces.Box(-1, 1, (2,)), tank=spaces.Dict(level=spaces.Box(0, 1, ())))
    action_space = spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return {"flows": np.zeros(2, np.float32), "tank": {"level": np.float32(0)}}, 1.0, False, False, {}


class Sign(gymnasium.Env):
    """Pays for whoever does what a sign and a count say."""

    observation_space = spaces.Dict(sign=spaces.Discrete(3), count=spaces.Box(0, 2, (1,), np.int64))
    action_space = spaces.Discrete(9)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.drawn(), {}

    def drawn(self):
        self.sign, self.count = self.np_random.integers(3, size=2)
        return {"sign": self.sign, "count": np.array([self.count])}

    def step(self, action):
        reward = float(action == self.sign + 3 * self.count)
        return self.drawn(), reward, False, False, {}


class Wide(Table):
    """Pays what is commanded."""

    action_space = spaces.Box(-99, 99, (1,))

    def step(self, action):
        return np.zeros((2, 3), np.float32), float(action[0]), False, False, {}


gymnasium.register("Sign-v0", Sign, max_episode_steps=20)
gymnasium.register("Wide-v0", Wide, max_episode_steps=4)
gymnasium.register("Table-v0", Table, max_episode_steps=4)
gymnasium.register("Keyed-v1", Keyed, max_episode_steps=4)
'''


def command(*arguments):
    line = [sys.executable, "-m", "offnominal", *map(str, arguments)]
    environment = {**os.environ, "OFFNOMINAL_PYTHON": sys.executable}
    return subprocess.run(line, capture_output=True, text=True, env=environment)


def fails(*arguments):
    found = command(*arguments)
    assert found.returncode == 2, found.stdout + found.stderr
    return found.stderr


@pytest.fixture
def modules(elsewhere):
    Path("pid.py").write_text(PID)
    Path("shaped.py").write_text(SHAPED)


def evaluated(policy, environment=CARTPOLE):
    return command("evaluate", "--env", environment, "--policy", policy, "--episodes", 4, "--json")


@pytest.mark.parametrize("name", ["Pid", "model", "act", "make"])
def test_whatever_acts_is_a_policy(modules, name):
    found = evaluated(f"pid:{name}?modules=.")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["return"]["value"] == 500


def test_objects_and_names_give_the_same_episodes(modules, monkeypatch):
    monkeypatch.syspath_prepend(".")
    import pid

    for environment in (CARTPOLE, "cartpole"):
        named = offnominal.collect(environment, "pid:Pid?modules=.", episodes=3, seed=2)
        given = offnominal.collect(environment, pid.Pid(), episodes=3, seed=2)
        for one, other in zip(named, given):
            assert (one.observations == other.observations).all() and (one.actions == other.actions).all()
    assert given.recipe["policy"]["id"].startswith("pid-")


def test_callables_play_with_twins_on_many_threads():
    def policy(obs):
        return int(obs[2] + obs[3] > 0)

    anomaly = {"anomaly": "obs-noise", "magnitude": 0.3, "onset": 7}
    one, many = (
        offnominal.collect(CARTPOLE, policy, episodes=6, seed=1, jobs=jobs, **anomaly) for jobs in (1, 4)
    )
    assert len(one) == 12 and one.twins[::2] == [1, 3, 5, 7, 9, 11]
    for own, other in zip(one, many):
        assert (own.observations == other.observations).all()
    assert (one[0].observations[:8] == one[1].observations[:8]).all()


def test_every_function_takes_a_callable(elsewhere):
    def policy(obs):
        return int(obs[2] + obs[3] > 0)

    assert offnominal.evaluate(CARTPOLE, policy, episodes=4)["return"]["value"] > 100
    assert offnominal.risk.estimate(CARTPOLE, policy, episodes=10)["experiments"] == 10
    offnominal.fit("m.monitor", env=CARTPOLE, policy=policy, detector="knn", train=5, calibration=20)
    rows = offnominal.calibrate(
        CARTPOLE, policy=policy, out="calibrated", anomalies=["obs-noise"], episodes=24, budget=200, progress=False
    )
    assert {row["anomaly"] for row in rows["rows"]} == {"obs-noise"}
    shared = {"detectors": ["clock", "knn"], "anomalies": [{"id": "obs-noise", "magnitude": 0.5}], "episodes": (4, 20, 4)}
    assert offnominal.bench(env=CARTPOLE, policy=policy, out="bench", **shared).report.is_file()


def test_every_command_takes_a_name(modules):
    play = ("--env", CARTPOLE, "--policy", "pid:Pid?modules=.")
    for line in (
        ("collect", *play, "--episodes", 2, "--anomaly", "obs-noise", "--magnitude", 0.1),
        ("risk", "estimate", *play, "--episodes", 10),
        ("fit", *play, "--detector", "knn", "--train", 5, "--calibration", 20, "--out", "m.monitor"),
        ("calibrate", *play, "--anomaly", "obs-noise", "--episodes", 24, "--budget", 200),
    ):
        found = command(*line)
        assert found.returncode == 0, found.stderr


def test_observations_have_the_shape_of_their_space(modules, monkeypatch):
    monkeypatch.syspath_prepend(".")
    import pid

    table = "gymnasium:shaped:Table-v0?modules=."
    assert len(offnominal.collect(table, "pid:seen?modules=.", episodes=1)[0]) == 4
    assert len(offnominal.collect(table, pid.seen, episodes=1)[0]) == 4
    assert len(offnominal.collect("gymnasium:shaped:Keyed-v1?modules=.", "pid:keyed?modules=.", episodes=1)[0]) == 4


def test_choices_and_whole_numbers_are_read_as_the_nearest_ones(modules):
    """Among others in a dictionary too, where a little noise made each choice the first one."""
    noise = {"anomaly": "obs-noise", "magnitude": 1e-3, "onset": 0}
    played = offnominal.collect("gymnasium:shaped:Sign-v0?modules=.", "pid:obeys?modules=.", episodes=3, **noise)
    assert [episode.rewards.sum() for episode in played] == [20.0] * 6


def test_a_policy_gets_back_the_state_that_it_returns(modules, monkeypatch):
    monkeypatch.syspath_prepend(".")
    import pid

    wide = "gymnasium:shaped:Wide-v0?modules=."
    for policy in ("pid:Recurrent?modules=.", pid.Recurrent()):
        for episode in offnominal.collect(wide, policy, episodes=3, jobs=2):
            assert list(episode.rewards) == [1.0, 2.0, 3.0, 4.0]
    for policy in ("pid:Forgetful?modules=.", pid.Forgetful()):
        with pytest.raises(ValueError, match="expected predict to take the state that it returns"):
            offnominal.evaluate(wide, policy, episodes=2)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("pid:wide", "policy pid:wide?modules=.: ValueError: expected an action of 1 numbers, found 2"),
        ("pid:none", "action of step 0: channel a0 is NaN"),
        ("pid:raises", "policy pid:raises?modules=.: ArithmeticError: of my own ("),
        ("pid:dies", "policy pid:dies?modules=.: its process ended (exit status: 7)"),
        ("pid:number", "expected a function, a class, or an object with predict, found int"),
        ("pid:missing", "module pid: expected missing, found no missing"),
        ("nowhere:act", "No module named 'nowhere': expected an installed module, or its folder as ?modules=FOLDER"),
    ],
)
def test_what_is_wrong_with_a_policy_is_said(modules, policy, expected):
    # With one thread, for a policy that takes its process along takes the environments in it along.
    play = ("--env", CARTPOLE, "--policy", f"{policy}?modules=.", "--episodes", 4, "--jobs", 1)
    said = fails("evaluate", *play)
    assert expected in said
    said = fails("risk", "estimate", *play)
    assert expected in said.replace("step 1", "step 0")


def test_a_policy_that_hangs_is_abandoned(modules):
    began = time.monotonic()
    said = fails("evaluate", "--env", f"{CARTPOLE}?timeout=2", "--policy", "pid:hangs?modules=.", "--episodes", 4, "--jobs", 1)
    assert "policy pid:hangs?modules=.: expected an answer within 2 s, found none" in said
    assert time.monotonic() - began < 40


def test_a_module_that_changed_is_read_again(modules):
    def returned():
        return offnominal.evaluate(CARTPOLE, "pid:act?modules=.", episodes=3)["return"]["value"]

    assert returned() == 500
    Path("pid.py").write_text(PID.replace("return Pid()(obs)", "return 0"))
    os.utime("pid.py", (0, 0))
    assert returned() < 20


def test_hosts_stay_alive_between_calls():
    offnominal.collect(CARTPOLE, "random", episodes=1)
    began = time.monotonic()
    for seed in range(20):
        offnominal.collect(CARTPOLE, "random", episodes=1, seed=seed)
    # A new process takes about half a second.
    assert (time.monotonic() - began) / 20 < 0.3


def test_the_processes_end_with_python():
    program = (
        "import offnominal, subprocess, os\n"
        f"offnominal.collect({CARTPOLE!r}, 'random', episodes=1)\n"
        "print(*[d for d in os.listdir('/dev/shm') if d.startswith('offnominal-host-')])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip()
    time.sleep(0.5)
    left = {folder for folder in found.stdout.split() if Path("/dev/shm", folder).exists()}
    assert len(left) < len(found.stdout.split())


def test_the_policy_gets_what_gymnasium_gives():
    """Played by hand, the recorded seed gives the same actions."""

    def policy(obs):
        return np.clip(obs[:1], -2, 2)

    episode = offnominal.collect("gymnasium:Pendulum-v1", policy, episodes=1, seed=5)[0]
    env = gymnasium.make("Pendulum-v1")
    obs, _ = env.reset(seed=int(episode.initial[0]))
    for t in range(20):
        assert (policy(obs) == episode.actions[t]).all()
        obs = env.step(policy(obs))[0]
