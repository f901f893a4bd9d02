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


def make(drag=0.2, steps=7):
    env = Cart(drag)
    env.spec = gymnasium.envs.registration.EnvSpec("Cart-v0", max_episode_steps=steps)
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
        offnominal.evaluate(Own(), "random", episodes=1)
    with pytest.raises(ValueError, match=r"env: expected an id, a gymnasium.Env or a function that makes one, found int"):
        offnominal.evaluate(3, "random", episodes=1)
    with pytest.raises(ValueError, match=r"found one that makes int"):
        offnominal.evaluate(lambda: 3, "random", episodes=1)
    with pytest.raises(ValueError, match=r"has as an object, found none named \"nothing\""):
        offnominal.evaluate("gymnasium:given:nothing", "random", episodes=1)


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
            offnominal.evaluate("gymnasium:lab:make?modules=.&manifest=wrong.toml", "random", episodes=1)
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
        pytest.raises(OSError, offnominal.evaluate, "gymnasium:lab:make?modules=.&manifest=none.toml", "random", episodes=1).value
    )
