"""Environments of Gymnasium in place of an id: objects, what makes them, `module:name`, and manifests of what is in them."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import offnominal

pytest.importorskip("fcntl", reason="hosted environments need Unix sockets")

LAB = '''"""A cart of one's own."""
import gymnasium
import numpy as np
from gymnasium import spaces


class Cart(gymnasium.Env):
    observation_space = spaces.Box(-99, 99, (2,))
    action_space = spaces.Box(-1, 1, (1,))

    def __init__(self, drag=0.1):
        self.drag, self.masses, self.winds = drag, np.array([1.0, 3.0]), [0.0, 0.5]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = self.np_random.normal(size=2)
        return self.state.astype(np.float32), {}

    def step(self, action):
        x, v = self.state
        v += 0.1 * (float(action[0]) + self.winds[1] - self.drag * v) / self.masses.sum()
        self.state = np.array([x + 0.1 * v, v])
        return self.state.astype(np.float32), -abs(float(x)), False, False, {}


class Over(Cart):
    def step(self, action):
        obs, reward, _, _, info = super().step(action)
        return obs, reward, True, False, info


def make(drag=0.2, steps=7):
    env = Cart(drag)
    env.spec = gymnasium.envs.registration.EnvSpec("Cart-v0", max_episode_steps=steps)
    return env


class Team:
    """Two agents, of which the second leaves after three steps."""

    possible_agents = ["left", "right"]
    metadata = {}

    def __init__(self, kind="box"):
        self.kind = kind

    @property
    def unwrapped(self):
        return self

    def observation_space(self, agent):
        return spaces.Box(-9, 9, (2,))

    def action_space(self, agent):
        if self.kind == "mixed" and agent == "left":
            return spaces.Box(-1, 1, (1,))
        return spaces.Box(-1, 1, (1,)) if self.kind == "box" else spaces.Discrete(2, start=1)

    def reset(self, seed=None, options=None):
        self.agents, self.steps, self.state = list(self.possible_agents), 0, np.random.default_rng(seed).normal(size=2)
        return self._seen(), {agent: {} for agent in self.agents}

    def _seen(self):
        return {agent: (self.state + i).astype(np.float32) for i, agent in enumerate(self.agents)}

    def step(self, actions):
        assert set(actions) == set(self.agents), actions
        self.steps += 1
        assert self.kind == "box" or all(own in (1, 2) for own in actions.values())
        self.state = self.state + sum(float(np.sum(own)) for own in actions.values())
        rewards, ends = {agent: 1.0 for agent in self.agents}, {agent: False for agent in self.agents}
        ends["right"] = self.steps == 3
        cut = {agent: self.steps == 6 for agent in self.agents}
        seen, infos = self._seen(), {agent: {} for agent in self.agents}
        self.agents = [agent for agent in self.agents if not (ends[agent] or cut[agent])]
        return seen, rewards, ends, cut, infos

    def close(self):
        pass


def joint(obs):
    """One policy per agent."""
    return [{"left": lambda own: 0.5, "right": lambda own: -0.5 * float(own[0] > 0)}[agent](own) for agent, own in obs.items()]


def vector(n=1):
    return gymnasium.make_vec("CartPole-v1", num_envs=n)


class Drifts(gymnasium.Env):
    """Ends beyond two; `info` has how far it is."""

    observation_space = spaces.Box(-9, 9, (1,))
    action_space = spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-1, 1)
        return np.array([self.x], np.float32), {"far": False}

    def step(self, action):
        self.x += 0.5 * self.np_random.normal()
        return np.array([self.x], np.float32).clip(-9, 9), 1.0, abs(self.x) > 2, False, {"far": abs(self.x) > 2}


def drifting(mode="SAME_STEP", silent=False):
    env = gymnasium.vector.SyncVectorEnv([Drifts], autoreset_mode=gymnasium.vector.AutoresetMode[mode])
    if silent:
        step = env.step
        env.step = lambda actions: (*step(actions)[:4], {})
    return env


number = 3
'''

MANIFEST = """
observation = { names = ["x", "v"], units = ["m", "m/s"] }
action.units = ["N"]

[parameters]
drag = { attribute = "unwrapped.drag", low = 0.0, high = 50.0, unit = "1/s" }
wind = { attribute = "unwrapped.winds[1]", low = -9.0, high = 9.0, meaning = "wind along x" }
mass = { attribute = "unwrapped.masses", relative = true, low = 0.1, high = 10.0 }
"""


@pytest.fixture
def lab(elsewhere):
    Path("lab.py").write_text(LAB)
    Path("lab.toml").write_text(MANIFEST)


def same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.observations, b.observations)
        np.testing.assert_array_equal(a.rewards, b.rewards)


def balance(obs):
    return int(obs[2] + 0.3 * obs[3] > 0)


def test_a_function_that_makes_an_environment_is_as_good_as_its_id():
    by_id = offnominal.collect("gymnasium:CartPole-v1", "random", episodes=3, seed=5)
    made = offnominal.collect(lambda: gymnasium.make("CartPole-v1"), "random", episodes=3, seed=5)
    same(by_id, made)
    found = offnominal.evaluate(lambda: gymnasium.make("CartPole-v1"), balance, episodes=3)
    assert found["return"]["value"] == 500


def test_an_object_goes_with_its_arguments_and_wrappers():
    env = gymnasium.wrappers.RescaleAction(gymnasium.make("Pendulum-v1", g=5.0, max_episode_steps=9), -1.0, 1.0)
    (faulty, twin) = offnominal.collect(env, lambda _: [0.5], episodes=1, anomaly="act-offset", magnitude=0.5, onset=4)
    assert len(twin.rewards) == 9 and len(faulty.rewards) == 9
    np.testing.assert_array_equal(faulty.observations[:5], twin.observations[:5])
    assert not np.array_equal(faulty.observations, twin.observations)
    # Gravity 5 and half of the torque of 2: the angle's acceleration is 3 g / 2 sin θ + 3 u.
    (cos, sin, speed), later = twin.observations[0], twin.observations[1]
    assert later[2] == pytest.approx(speed + (7.5 * sin + 3.0) * 0.05, abs=1e-5) and cos == pytest.approx(np.cos(np.arctan2(sin, cos)))


def test_what_cannot_be_copied_is_refused():
    class Own(gymnasium.Env):
        pass

    with pytest.raises(ValueError, match=r"a function that makes one, found Own without a specification"):
        offnominal.evaluate(Own(), "random", episodes=2)
    with pytest.raises(ValueError, match=r"env: expected an id, a gymnasium.Env or a function that makes one, found int"):
        offnominal.evaluate(3, "random", episodes=2)
    with pytest.raises(ValueError, match=r"found one that makes int"):
        offnominal.evaluate(lambda: 3, "random", episodes=2)
    with pytest.raises(ValueError, match=r"has as an object, found none named \"nothing\""):
        offnominal.evaluate("gymnasium:given:nothing", "random", episodes=2)


def command(*arguments):
    line = [sys.executable, "-m", "offnominal", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, env={**os.environ, "OFFNOMINAL_PYTHON": sys.executable})


def test_a_module_may_have_what_makes_an_environment(lab):
    for thing in ("Cart?horizon=7&drag=0.2&", "make?"):
        found = command("evaluate", "--env", f"gymnasium:lab:{thing}modules=.", "--policy", "random", "--episodes", 2, "--json")
        assert found.returncode == 0, found.stderr
    found = command("evaluate", "--env", "gymnasium:lab:number?modules=.", "--policy", "random", "--episodes", 2)
    assert "lab:number: expected a class or a function that makes an environment, found int" in found.stderr
    found = command("evaluate", "--env", "gymnasium:lab:nothing?modules=.", "--policy", "random", "--episodes", 2)
    assert "module lab: expected nothing, found no nothing" in found.stderr


def test_agents_of_a_parallel_environment_act_as_one(lab):
    played = offnominal.collect("gymnasium:lab:Team?modules=.", "lab:joint?modules=.", episodes=3, seed=2)
    for episode in played:
        # Two agents are paid for three steps and one for three more, after which the environment cuts the episode.
        assert episode.end == "timed_out" and list(episode.rewards) == [2.0] * 3 + [1.0] * 3
        assert episode.observations.shape == (7, 4) and episode.actions.shape == (6, 2)
        np.testing.assert_allclose(episode.observations[0, 2:], episode.observations[0, :2] + 1, atol=1e-6)
        assert not episode.observations[4:, 2:].any()
    chosen = offnominal.collect("gymnasium:lab:Team?modules=.&kind=choice", "random", episodes=1)
    assert set(np.unique(chosen[0].actions)) <= {0.0, 1.0}
    with pytest.raises(ValueError, match=r"all have Discrete or all have Box, found left: Box, right: Discrete"):
        offnominal.evaluate("gymnasium:lab:Team?modules=.&kind=mixed", "random", episodes=2)


def test_a_vector_of_one_environment_is_an_environment(lab):
    by_id = offnominal.collect("gymnasium:CartPole-v1", "random", episodes=3, seed=5)
    same(by_id, offnominal.collect("gymnasium:lab:vector?modules=.", "random", episodes=3, seed=5))
    with pytest.raises(ValueError, match=r"expected a vector with one environment \(num_envs=1\), found 2"):
        offnominal.evaluate("gymnasium:lab:vector?modules=.&n=2", "random", episodes=2)


def test_a_vector_that_begins_the_next_episode_at_once_shows_the_end_of_the_last(lab):
    def played(name, more=""):
        return offnominal.collect(f"gymnasium:lab:{name}?modules=.&failure=info.far{more}", "random", episodes=5, seed=3)

    alone = played("Drifts")
    assert all(episode.end == "failed" and abs(episode.observations[-1, 0]) > 2 for episode in alone)
    same(alone, played("drifting"))
    same(alone, played("drifting", "&mode=NEXT_STEP"))
    with pytest.raises(ValueError, match=r"SAME_STEP: expected info\['final_obs'\]"):
        played("drifting", "&silent=true")


def test_an_environment_that_ends_at_once_is_told(lab):
    found = command("evaluate", "--env", "gymnasium:lab:Over?modules=.", "--policy", "random", "--episodes", 3)
    assert found.returncode == 0, found.stderr
    assert "each of 3 episodes ends in its first step, of 1000 that it may have" in found.stderr


def test_a_manifest_names_channels_and_parameters(lab):
    env = "gymnasium:lab:make?modules=.&manifest=lab.toml"
    plain = offnominal.collect(env, "random", episodes=2, seed=1)
    for anomaly, magnitude in (("dyn-drag", 30.0), ("dyn-wind", 5.0), ("dyn-mass", 5.0)):
        faulty = offnominal.collect(env, "random", episodes=1, seed=1, anomaly=anomaly, magnitude=magnitude, onset=3)
        np.testing.assert_array_equal(faulty[0].observations[:4], faulty[1].observations[:4])
        assert not np.array_equal(faulty[0].observations[4:], faulty[1].observations[4:]), anomaly
    # What was changed is nominal again in the next episode.
    same(plain, offnominal.collect(env, "random", episodes=2, seed=1))


def test_a_wrong_manifest_is_refused(lab):
    def refused(text):
        Path("wrong.toml").write_text(text)
        with pytest.raises((ValueError, OSError)) as error:
            offnominal.evaluate("gymnasium:lab:make?modules=.&manifest=wrong.toml", "random", episodes=2)
        return str(error.value)

    quantity = "low = 0, high = 1 }"
    assert "expected unwrapped.mess in the environment, found no 'mess'" in refused(
        "parameters.m = { attribute = 'unwrapped.mess', " + quantity
    )
    assert "parameter m: expected a number (an array needs an index, or `relative = true`)" in refused(
        "parameters.m = { attribute = 'unwrapped.masses', " + quantity
    )
    assert "expected unwrapped.masses[1] from 0" in refused("parameters.m = { attribute = 'unwrapped.masses[1]', " + quantity)
    assert "found no 7" in refused("parameters.m = { attribute = 'unwrapped.masses[7]', " + quantity)
    assert "observation: names: expected 2 names, found 1" in refused("observation.names = ['x']")
    assert "unknown field `channels`" in refused("channels = []")
    assert "none.toml" in str(
        pytest.raises(OSError, offnominal.evaluate, "gymnasium:lab:make?modules=.&manifest=none.toml", "random", episodes=2).value
    )
