"""Environments of Gymnasium, hosted for the engine by processes of Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import offnominal

#: Models of Stable-Baselines3.
SB3 = Path(__file__).parents[2] / "crates/offnominal-agents/tests/sb3"

#: Environments that misbehave, as a module of somebody's project.
ODD = '''
"""Environments that misbehave."""
import os
import time
import gymnasium
import numpy as np
from gymnasium import spaces


class Odd(gymnasium.Env):
    """Counts; does something odd in the third step of every second episode of its process."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(3, start=-1)
    started = 0

    def __init__(self, odd="nothing", every=2):
        self.odd, self.every = odd, every

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        Odd.started += 1
        self.t, self.sum, self.is_odd = 0, 0.0, Odd.started % self.every == 0
        return np.array([0, 0], np.float32), {}

    def step(self, action):
        self.t, self.sum = self.t + 1, self.sum + action
        if self.is_odd and self.t == 3:
            getattr(self, self.odd)()
        return np.array([self.t, self.sum], np.float32), 1.0, self.t >= 9, self.odd == "cuts" and self.t == 3, {
            "is_success": self.sum > 0
        }

    def cuts(self):
        pass

    def nothing(self):
        pass

    def hangs(self):
        time.sleep(60)

    def raises(self):
        raise ArithmeticError("of my own")

    def dies(self):
        print("something terrible", flush=True)
        os._exit(7)


class Wide(Odd):
    """An image in colour: its planes are red = t, green = 10, blue = 20."""

    observation_space = spaces.Box(0, 255, (40, 50, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        return self.image(super().reset(seed=seed)[0]), {}

    def step(self, action):
        obs, *rest = super().step(action)
        return self.image(obs), *rest

    def image(self, obs):
        return np.broadcast_to(np.array([obs[0], 10, 20], np.uint8), (40, 50, 3))


gymnasium.register("Odd-v0", Odd, max_episode_steps=20)
gymnasium.register("Wide-v0", Wide, max_episode_steps=20)
'''

CAMPAIGN = """
name = "foreign"
seed = 1
envs = ["gymnasium:odd:Odd-v0{options}"]
policies = ["random"]
detectors = ["clock", "knn"]
anomalies = [{{ id = "obs-offset", magnitude = 3.0 }}, {{ id = "obs-noise", magnitude = 3.0 }}]
replicates = 20
false_alarms = 0.2
video = false
episodes = {{ train = 6, validation = 5, test = 5 }}
"""


def command(*arguments):
    line = [sys.executable, "-m", "offnominal", *map(str, arguments)]
    environment = {**os.environ, "OFFNOMINAL_PYTHON": sys.executable}
    return subprocess.run(line, capture_output=True, text=True, env=environment)


def fails(*arguments):
    found = command(*arguments)
    assert found.returncode == 2, found.stdout + found.stderr
    return found.stderr


@pytest.fixture
def odd(elsewhere):
    """The module, where a process of this folder finds it."""
    Path("odd.py").write_text(ODD)


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1"])
def test_episodes_are_those_of_gymnasium(name):
    """The recorded seed and commands give the same episode in Python."""
    recording = offnominal.collect(f"gymnasium:{name}", "random", episodes=3, seed=4, jobs=2)
    for episode in recording:
        env = gymnasium.make(name)
        obs, _ = env.reset(seed=int(episode.initial[0]))
        is_choice = isinstance(env.action_space, gymnasium.spaces.Discrete)
        for t, action in enumerate(episode.actions):
            assert (obs == episode.observations[t]).all()
            obs, reward, terminated, truncated, _ = env.step(int(action[0]) if is_choice else action)
            assert reward == episode.rewards[t]
        assert terminated == (episode.end == "failed") and truncated == (episode.end == "timed_out")


def test_the_commands_play_them():
    found = command("evaluate", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--episodes", 20, "--json")
    assert found.returncode == 0, found.stderr
    assert 10 < json.loads(found.stdout)["return"]["value"] < 40
    anomaly = ("--anomaly", "obs-noise", "--magnitude", 0.1)
    found = command("collect", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--episodes", 3, *anomaly)
    assert found.returncode == 0, found.stderr
    assert Path("runs/collect/gymnasium_CartPole-v1-random-obs-noise-0.1-seed0.arrow").is_file()
    assert "act-scaling" in command("list", "anomalies", "--env", "gymnasium:Pendulum-v1").stdout


@pytest.mark.parametrize(("model", "name"), [("tqc", "Pendulum-v1"), ("dqn", "CartPole-v1")])
def test_an_imported_agent_acts_in_them(model, name):
    environment, out = f"gymnasium:{name}", Path("mine")
    files = (SB3 / f"{model}.zip", "--normalize", SB3 / f"{model}.pkl")
    found = command("import", "sb3", *files, "--env", environment, "--out", out)
    assert found.returncode == 0, found.stderr
    policy = next(out.glob("*.safetensors"))
    recording = offnominal.collect(environment, str(policy), episodes=1)
    own = offnominal.Policy.from_sb3(files[0], files[2], env=environment)
    acted = np.array([own(obs) for obs in recording[0].observations[:-1]]).reshape(-1, 1)
    assert (acted == recording[0].actions).all()


def test_many_threads_give_the_same_bits(odd):
    def recorded(jobs):
        return offnominal.collect("gymnasium:odd:Odd-v0", "random", episodes=12, seed=2, jobs=jobs)

    for one, other in zip(recorded(1), recorded(4)):
        assert (one.observations == other.observations).all() and (one.actions == other.actions).all()
        assert one.success == (one.observations[-1][1] > 0) and one.end == ("succeeded" if one.success else "failed")


def test_images_come_through_shared_memory(odd):
    episode = offnominal.collect("gymnasium:odd:Wide-v0", "random", episodes=1)[0]
    planes = episode.observations.reshape(-1, 3, 40, 50)
    assert (planes[:, 1] == 10).all() and (planes[:, 2] == 20).all()
    assert (planes[:, 0, 3, 4] == np.arange(len(planes))).all()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("?odd=raises", "ArithmeticError: of my own"),
        ("?odd=dies", "its process ended (exit status: 7); it said: something terrible"),
        ("?odd=hangs&timeout=0.5", "expected an answer within 0.5 s, found none"),
        ("?odd=cuts", "it cut its episode by itself"),
    ],
)
def test_trouble_ends_an_evaluation(odd, options, expected):
    environment = f"gymnasium:odd:Odd-v0{options}"
    said = fails("evaluate", "--env", environment, "--policy", "random", "--episodes", 4)
    assert f"environment {environment}: {expected}" in said


def test_trouble_is_that_of_one_cell(odd):
    """The 21st episode takes its process along; what does not need it is kept, and the same command does the rest."""
    Path("campaign.toml").write_text(CAMPAIGN.format(options="?odd=dies&every=21"))
    said = fails("bench", "campaign.toml", "--jobs", 1)
    assert "its process ended (exit status: 7)" in said
    kept = len(list(Path("runs/bench/cells").iterdir()))
    assert kept == 5, "the control episodes failed, and the judgements that need them"
    found = command("bench", "campaign.toml", "--jobs", 1)
    assert found.returncode == 0 and "cells are finished already" in found.stderr
    Path("plain.toml").write_text(CAMPAIGN.format(options="?odd=dies&every=1000000"))
    assert command("bench", "plain.toml", "--out", "plain").returncode == 0
    interrupted = Path("runs/bench/results.csv").read_text()
    assert interrupted.replace("every=21", "every=1000000") == Path("plain/results.csv").read_text()


def test_names_and_interpreters_are_explained(odd, monkeypatch):
    def said(environment):
        return fails("evaluate", "--env", environment, "--policy", "random")

    assert "environment gymnasium:CartPol-v1:" in said("gymnasium:CartPol-v1")
    assert "expected an id of Gymnasium, such as CartPole-v1, found none" in said("gymnasium:")
    assert "timeout: expected seconds from 0.001 to 86400, found \"x\"" in said("gymnasium:CartPole-v1?timeout=x")
    assert "expected no robot, found one" in fails(
        "evaluate", "--env", "gymnasium:CartPole-v1", "--policy", "random", "--robot", "10.0.0.1"
    )


def test_parameters_of_an_environment_are_anomalies():
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    listed = command("list", "anomalies", "--env", "gymnasium:HalfCheetah-v5").stdout
    assert "dyn-mass" in listed and "dyn-friction" in listed


def test_pong_is_played():
    pytest.importorskip("ale_py", reason="ale-py is not installed")
    recording = offnominal.collect("gymnasium:ALE/Pong-v5?horizon=30", "random", episodes=2)
    assert recording[0].observations.shape == (31, 3 * 210 * 160) and recording[0].observations.max() > 200
