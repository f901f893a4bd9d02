"""Anomalies around environments that are not ours."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import offnominal
from offnominal import Anomalous


def played(env, seed, steps=40):
    env.action_space.seed(0)
    rows = [(env.reset(seed=seed)[0], 0.0, False)]
    for _ in range(steps):
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        rows.append((obs, reward, info.get("label", False)))
        if terminated or truncated:
            break
    return rows


@pytest.mark.parametrize("anomaly", ["obs-noise", "obs-drift", "act-noise", "act-delay", "obs-stuck"])
def test_until_the_onset_nothing_is_touched(anomaly):
    own = played(gymnasium.make("Pendulum-v1"), 3)
    found = played(Anomalous(gymnasium.make("Pendulum-v1"), anomaly, 1.0, onset=10), 3)
    labels = [label for *_, label in found]
    assert labels == [t > 10 for t in range(len(found))]
    assert all(np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(own[:11], found[:11]))
    assert not all(np.array_equal(a[0], b[0]) for a, b in zip(own[11:], found[11:]))


@pytest.mark.parametrize("anomaly", ["obs-noise", "act-offset", "act-delay"])
def test_around_an_environment_of_ours_it_is_the_engines_anomaly(anomaly):
    """The wrapper around a plain environment does what the environment does by itself."""
    magnitude = 2.0 if anomaly == "act-delay" else 0.3
    inside = offnominal.Environment("sap-goal1", anomaly=anomaly, magnitude=magnitude, onset=3)
    around = Anomalous(offnominal.Environment("sap-goal1"), anomaly, magnitude, onset=3)
    for a, b in zip(played(inside, 5), played(around, 5), strict=True):
        assert np.array_equal(a[0], b[0]) and a[1:] == b[1:]


def test_choices_and_other_numbers():
    env = Anomalous(gymnasium.make("CartPole-v1"), "act-delay", 3, onset=2)
    assert any(label for *_, label in played(env, 1, 10))
    env = Anomalous(gymnasium.make("MountainCar-v0"), "obs-offset", 0.5, channels=[1], onset=0)
    (first, *_), (second, *_) = played(env, 1, 1)
    assert second.dtype == np.float32 and abs(second[1] - 0.5) < 0.1 and abs(second[0] - first[0]) < 0.1


class Camera(gymnasium.Env):
    """An image that never changes."""

    observation_space = gymnasium.spaces.Box(0, 255, (24, 32, 3), np.uint8)
    action_space = gymnasium.spaces.Discrete(2, start=1)
    image = np.random.default_rng(0).integers(0, 256, (24, 32, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.image, {}

    def step(self, action):
        assert action in (1, 2)
        return self.image, 0.0, False, False, {}


def test_images():
    rows = played(Anomalous(Camera(), "img-brightness", 3, onset=1), 0, 3)
    assert np.array_equal(rows[1][0], Camera.image)
    assert rows[2][0].shape == (24, 32, 3) and rows[2][0].dtype == np.uint8
    assert rows[2][0].mean() > Camera.image.mean() + 10


def set_gravity(env, name, value):
    assert name == "gravity"
    env.g = value


GRAVITY = {"gravity": (10.0, 0.0, 50.0)}


def test_a_parameter_through_a_setter_is_set_back():
    env = Anomalous(
        gymnasium.make("Pendulum-v1"), "dyn-gravity", 30.0, onset=2, window=3, setter=set_gravity, parameters=GRAVITY
    )
    assert "dyn-gravity" in env.anomalies()
    env.reset(seed=0)
    gravities = []
    for _ in range(8):
        env.step(np.zeros(1, np.float32))
        gravities.append(env.unwrapped.g)
    assert gravities == [10.0] * 2 + [30.0] * 3 + [10.0] * 3
    env.unwrapped.g = 7.0
    env.reset(seed=0)
    assert env.unwrapped.g == 10.0


def test_the_wrapper_is_a_part_of_the_spec():
    env = Anomalous(
        gymnasium.make("Pendulum-v1"),
        "dyn-gravity",
        30.0,
        onset=2,
        setter=f"{__name__}:set_gravity",
        parameters=GRAVITY,
    )
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.anomaly_spec == env.anomaly_spec
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(played(env, 1), played(again, 1), strict=True))


def test_gymnasium_finds_nothing_wrong():
    check_env(Anomalous(gymnasium.make("Pendulum-v1"), "obs-noise", 0.1, onset=0), skip_render_check=True)


def test_a_random_onset_follows_the_seed():
    env = Anomalous(gymnasium.make("Pendulum-v1"), "obs-noise", 0.1)
    onsets = [env.reset(seed=seed)[1]["onset"] for seed in (1, 2, 3, 1)]
    assert onsets[0] == onsets[3] and len(set(onsets)) > 1 and all(2 <= onset < 200 for onset in onsets)


@pytest.mark.parametrize("parameter", ["mass", "friction", "damping", "force"])
def test_gymnasiums_mujoco_environments(parameter):
    pytest.importorskip("mujoco")
    own = played(gymnasium.make("HalfCheetah-v5"), 0, 20)
    magnitude = 20.0 if parameter == "force" else 3.0
    env = Anomalous(gymnasium.make("HalfCheetah-v5"), f"dyn-{parameter}", magnitude, onset=8)
    found = played(env, 0, 20)
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(own[:9], found[:9]))
    assert not np.array_equal(own[-1][0], found[-1][0])
    again = played(env, 0, 20)
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(found, again)), "a reset sets everything back"


def test_an_exception_of_the_environment_arrives_as_it_is():
    class Broken(Camera):
        def step(self, action):
            raise ZeroDivisionError("of my own")

    env = Anomalous(Broken(), "img-brightness", 3, onset=0)
    env.reset(seed=0)
    with pytest.raises(ZeroDivisionError, match="of my own"):
        env.step(1)


@pytest.mark.parametrize(
    ("anomaly", "given", "expected"),
    [
        ("obs-nose", {}, 'did you mean "obs-noise"'),
        ("dyn-mass", {}, "no anomaly of this environment is called"),
        ("img-fog", {}, 'no anomaly of this environment is called "img-fog"'),
        ("obs-noise", {"channels": [9]}, "no observation channel 9"),
        ("obs-noise", {"onset": 999}, "onset: expected"),
        ("obs-noise", {"setter": print}, "expected setter and parameters together"),
        ("obs-noise", {"setter": print, "parameters": {"g": (1, 2, 3)}}, "expected low <= nominal <= high"),
    ],
)
def test_bad_arguments_are_explained(anomaly, given, expected):
    with pytest.raises(ValueError, match=expected):
        Anomalous(gymnasium.make("Pendulum-v1"), anomaly, 1.0, **given)
