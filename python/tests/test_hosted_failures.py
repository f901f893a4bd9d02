"""What is stated, checked and found of hosted environments: failures, seeds, strengths, faults, memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import offnominal

pytest.importorskip("fcntl", reason="hosted environments need Unix sockets")

#: Environments each of which does one thing that is asked about.
ASKED = '''
"""Environments that are asked about."""
import gymnasium
import numpy as np
from gymnasium import spaces


class Base(gymnasium.Env):
    observation_space = spaces.Box(-9, 9, (2,))
    action_space = spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.observed(), {}

    def observed(self):
        return self.np_random.normal(size=2).astype(np.float32).clip(-9, 9)

    def step(self, action):
        self.t += 1
        return self.observed(), float(action[0]), False, False, {}


class Ends(Base):
    """Crashes in every other episode, after five steps; the others are cut after eight."""

    def step(self, action):
        crashed = self.np_random.random() < 0.1
        obs, reward, *_ = super().step(action)
        return obs, reward, crashed, self.t >= 8, {"crashed": crashed}


class Global(Base):
    """Draws from a generator that no seed reaches."""

    def observed(self):
        return np.random.normal(size=2).astype(np.float32).clip(-9, 9)


class Stream(Base):
    """Draws a goal from a generator that is seeded when it is made."""

    def __init__(self, seed=0):
        self.goals = np.random.default_rng(seed)

    def reset(self, *, seed=None, options=None):
        obs, info = super().reset(seed=seed)
        self.goal = self.goals.normal()
        return np.array([self.goal, obs[1]], np.float32).clip(-9, 9), info


class Copies(Base):
    """One episode, whatever the seed is; the last one draws in the fortieth step what nobody sees before."""

    def reset(self, *, seed=None, options=None):
        self.own = np.random.default_rng(seed)
        return super().reset(seed=7)

    def step(self, action):
        obs, reward, *_ = super().step(action)
        return obs, reward, bool(obs[0] > 5), False, {"odd": False}


class Late(Copies):
    def step(self, action):
        obs, reward, *_, info = super().step(action)
        return obs, reward + (self.own.normal() if self.t >= 40 else 0.0), False, False, info


class Unseeded(Base):
    """Draws from the thirtieth step on what no seed reaches."""

    def observed(self):
        return super().observed() if self.t < 30 else np.random.normal(size=2).astype(np.float32).clip(-9, 9)


class Leaks(Base):
    kept = []

    def reset(self, *, seed=None, options=None):
        Leaks.kept.append(bytearray(100_000_000))
        return super().reset(seed=seed)


class Words(Base):
    observation_space = spaces.Dict(level=spaces.Box(0, 1, ()), task=spaces.Text(20))


def still(obs):
    return [0.0]


for one in (Base, Ends, Global, Stream, Copies, Leaks, Words):
    gymnasium.register(f"{one.__name__}-v0", one, max_episode_steps=20)
for one in (Late, Unseeded):
    gymnasium.register(f"{one.__name__}-v0", one, max_episode_steps=50)
gymnasium.register("Endless-v0", Base)
'''


def command(*arguments):
    line = [sys.executable, "-m", "offnominal", *map(str, arguments)]
    environment = {**os.environ, "OFFNOMINAL_PYTHON": sys.executable}
    return subprocess.run(line, capture_output=True, text=True, env=environment)


def fails(*arguments):
    found = command(*arguments)
    assert found.returncode == 2, found.stdout + found.stderr
    return found.stderr


def asked(name, options=""):
    return f"gymnasium:asked:{name}-v0?modules=.{options}"


@pytest.fixture(autouse=True)
def module(elsewhere):
    Path("asked.py").write_text(ASKED)


@pytest.mark.parametrize("rule", ["terminated", "info.crashed", "timeout", "return<0"])
def test_a_failure_is_the_same_in_every_command(rule):
    """Risk and success are shares of the same kind of episodes, and of the same ends in records."""
    play = ("--env", asked("Ends"), "--policy", "random", "--failure", rule, "--json")
    found = command("evaluate", *play, "--episodes", 200)
    assert found.returncode == 0, found.stderr
    success = json.loads(found.stdout)["success"]
    found = command("risk", "estimate", *play, "--episodes", 200)
    risk = json.loads(found.stdout)["risk"]["risk"]
    assert success["low"] < 1 - risk["value"] < success["high"], (success, risk)
    episodes = offnominal.collect(asked("Ends", f"&failure={rule}"), "random", episodes=60)
    failed = [episode.end == "failed" for episode in episodes]
    assert failed == [not episode.success for episode in episodes] and 0 < sum(failed) < 60
    ends = {"terminated": lambda e: len(e) < 8, "timeout": lambda e: len(e) >= 8, "return<0": lambda e: e.rewards.sum() < 0}
    if rule in ends:
        is_sure = [len(episode) != 8 or rule == "return<0" for episode in episodes]
        for episode, has_failed, sure in zip(episodes, failed, is_sure):
            assert not sure or has_failed == ends[rule](episode)
    assert offnominal.evaluate(asked("Ends"), "random", episodes=4, failure=rule)["env"].endswith(f"failure={rule}")


def test_wrong_rules_are_explained():
    play = ("--policy", "random", "--episodes", 4, "--failure")
    assert "expected terminated, timeout, info.KEY, info.KEY=false or return<R" in fails("evaluate", "--env", asked("Ends"), *play, "late")
    assert "expected an environment of Gymnasium" in fails("evaluate", "--env", "cartpole", *play, "terminated")
    assert "expected info['crash'] in the last step, found crashed" in fails(
        "evaluate", "--env", asked("Ends"), *play, "info.crash"
    )


def test_an_environment_that_no_seed_repeats_is_found():
    for line in (("evaluate",), ("risk", "estimate"), ("collect",)):
        said = fails(*line, "--env", asked("Global"), "--policy", "random", "--episodes", 4)
        assert "reset(seed) does not repeat an episode (o0 after the reset: " in said and "check=false" in said
    assert command("evaluate", "--env", asked("Global", "&check=false"), "--policy", "random").returncode == 0


def test_copies_of_one_episode_are_no_experiments():
    """They are refused where each counts, unless something else makes episodes differ; results say it everywhere."""
    still, rule = ("--policy", "asked:still?modules=."), ("--failure", "terminated", "--episodes", 60)
    play, sentence = ("--env", asked("Copies"), *still), "found 10 of different seeds that are all the same"
    for line in (("risk", "estimate", *play, *rule), ("audit", *play, "--failure", "terminated")):
        assert sentence in fails(*line)
    assert sentence in fails("compare", still[1], still[1], "--env", asked("Copies"), "--require", "better", *rule[:2])
    assert "calibration: " in fails("fit", *play, "--detector", "knn", "--train", 5, "--calibration", 20, "--out", "m.monitor")
    gated = command("evaluate", *play, *rule, "--min-success", 0.9)
    assert gated.returncode == 1 and sentence in gated.stdout, gated.stderr
    found = json.loads(command("evaluate", *play, *rule, "--json").stdout)
    assert sentence in found["copies"] and "episodes that are all the same count as one" in found["versions"]["failure"]
    for name, options, policy in (("Copies", "&check=false", still), ("Copies", "", ("--policy", "random")), ("Late", "", still)):
        found = command("risk", "estimate", "--env", asked(name, options), *policy, *rule, "--out", name + options)
        assert found.returncode == 0, found.stderr
    noisy = ("--anomaly", "obs-noise", "--magnitude", 0.1)
    assert command("risk", "estimate", *play, *rule, *noisy, "--out", "noisy").returncode == 0


def test_a_twin_that_is_none_is_refused():
    """Nothing is drawn without a seed in the steps that are checked when the environment is opened."""
    fault = ("--policy", "asked:still?modules=.", "--episodes", 2, "--anomaly", "obs-offset", "--magnitude", 1, "--onset")
    said = fails("collect", "--env", asked("Unseeded"), *fault, 40)
    assert "to be the same until the onset in step 40, found o0 " in said and "in step 30" in said, said
    for options, onset in (("", 30), ("&check=false", 40)):
        found = command("collect", "--env", asked("Unseeded", options), *fault, onset, "--out", f"at-{onset}")
        assert found.returncode == 0, found.stderr


def test_a_fresh_environment_for_each_episode_where_that_repeats_it():
    found = command("evaluate", "--env", asked("Stream"), "--policy", "random", "--episodes", 4)
    assert found.returncode == 0 and found.stderr.count("So each episode gets one") == 1, found.stderr
    one, again = (offnominal.collect(asked("Stream"), "random", episodes=6, jobs=jobs) for jobs in (1, 3))
    assert all((a.observations == b.observations).all() for a, b in zip(one, again))
    assert len({float(episode.observations[0, 0]) for episode in one}) == 1
    seeded = offnominal.collect(asked("Stream", "&fresh=seed"), "random", episodes=6)
    assert len({float(episode.observations[0, 0]) for episode in seeded}) == 6


def test_strengths_are_found_where_calibrate_wrote_them():
    environment, policy = "gymnasium:CartPole-v1", "controller:act?modules=."
    Path("controller.py").write_text("def act(obs):\n    return int(3 * obs[2] + obs[3] > 0)\n")
    play = ("--env", environment, "--policy", policy)
    fault = ("--anomaly", "obs-noise", "--strength", "extreme")
    said = fails("collect", *play, "--episodes", 2, *fault)
    assert "runs/calibrate/gymnasium_CartPole-v1.csv, which is not there" in said
    calibrate = ("calibrate", *play, "--anomaly", "obs-noise", "--episodes", 40, "--budget", 2000, "--tolerance", 0.9)
    assert command(*calibrate).returncode == 0
    assert command("collect", *play, "--episodes", 2, *fault).returncode == 0
    Path("runs/calibrate").rename("mine")
    assert command("collect", *play, "--episodes", 2, *fault, "--strengths", "mine", "--out", "there").returncode == 0
    found = command(
        "risk", "estimate", *play, "--episodes", 40, *fault, "--strengths", "mine", "--failure", "return<400", "--json"
    )
    assert found.returncode == 0, found.stderr


def test_risk_with_a_fault_is_that_of_disturbed_episodes():
    def policy(obs):
        return int(3 * obs[2] + obs[3] > 0)

    shared = {"episodes": 40, "failure": "return<400", "seed": 1}
    nominal = offnominal.risk.estimate("gymnasium:CartPole-v1", policy, **shared)
    fault = {"anomaly": "obs-noise", "magnitude": 3.0, "onset": 0}
    disturbed = offnominal.risk.estimate("gymnasium:CartPole-v1", policy, out="r", **fault, **shared)
    assert nominal["risk"]["risk"]["high"] < disturbed["risk"]["risk"]["low"]
    assert disturbed["run"]["anomaly_spec"]["anomaly"] == "obs-noise"
    assert offnominal.render(run="r", number=0)["steps"] == disturbed["failures"][0]["steps"]


def test_a_process_that_grows_is_replaced():
    found = command("evaluate", "--env", asked("Leaks", "&memory=0.5"), "--policy", "random", "--episodes", 20)
    assert found.returncode == 0 and "it may leak" in found.stderr, found.stderr


def test_observations_with_words_and_endless_episodes():
    said = fails("evaluate", "--env", asked("Words"), "--policy", "random")
    assert "observation task: expected numbers, choices or an image, found Text" in said
    assert len(offnominal.collect(asked("Endless"), "random", episodes=1)[0]) == 1000
