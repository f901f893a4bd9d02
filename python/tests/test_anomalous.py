"""Anomalies around environments that are not ours."""

import copy
import pickle

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


class Still(gymnasium.Env):
    """Channels that do not move, so that what is seen after the onset is the anomaly alone; keeps the commands."""

    def __init__(self, at, dtype, action=None, steps=200):
        self.at, self.steps, self.got = np.asarray(at, dtype), steps, []
        info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
        low, high = (info.min, info.max) if info else (-1e9, 1e9)
        self.observation_space = gymnasium.spaces.Box(low, high, self.at.shape, dtype)
        self.action_space = action or gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.got = 0, []
        return self.at.copy(), {}

    def step(self, action):
        self.t += 1
        self.got.append(np.array(action))
        return self.at.copy(), 0.0, False, self.t >= self.steps, {}


def changes(env, *spec, command=None, **more):
    around = Anomalous(env, *spec, **more)
    around.reset(seed=1)
    command = np.zeros(1, np.float32) if command is None else command
    rows, is_over = [], False
    while not is_over:
        obs, _, _, is_over, info = around.step(command)
        assert obs.dtype == env.at.dtype
        if info["label"]:
            rows.append(obs.astype(np.float64) - env.at)
    return np.array(rows)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32, np.uint8, np.int8, np.float32])
@pytest.mark.parametrize("at", [[3, 100, 50], [100_000_017, 100_000_017, 3], [-50, 50, -7]])
def test_a_bias_is_on_the_named_channels_and_on_no_other(dtype, at):
    info = np.iinfo(dtype) if dtype not in (np.float64, np.float32) else None
    if info and not all(info.min <= a <= info.max for a in at) or (dtype is np.float32 and max(at) > 1000):
        return  # the type has no such numbers
    found = changes(Still(at, dtype), "obs-offset", 2.0, channels=[0], onset=10)
    assert np.array_equal(found, np.tile([2.0, 0, 0], (190, 1)))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16])
def test_whole_numbers_are_rounded_and_not_cut(dtype):
    mean = changes(Still([50, -50, 50], dtype, steps=4000), "obs-noise", 2.0, onset=0).mean(0)
    # The mean of 4,000 draws has a standard deviation of 0.03.
    assert np.abs(mean).max() < 0.15


def test_whole_numbers_stay_within_their_type():
    assert np.array_equal(changes(Still([5, 100, 250], np.uint8), "obs-offset", 10, onset=3)[0], [10, 10, 5])
    assert np.array_equal(changes(Still([5, 100, 250], np.uint8), "obs-offset", -10, onset=3)[0], [-5, -10, -10])


OF_OBSERVATIONS = sorted(id for id in offnominal.anomalies() if id.startswith("obs-"))


class Moving(Still):
    """Walks by steps that float32 has as they are."""

    def step(self, action):
        _, *rest = super().step(action)
        return self.at + np.asarray([0.25, -0.5, 0.125], self.at.dtype) * self.t, *rest


@pytest.mark.parametrize("anomaly", OF_OBSERVATIONS)
def test_of_float64_it_is_the_same_anomaly_as_of_float32(anomaly):
    """So each anomaly that is sent as a distance may be."""
    magnitude = {"obs-stuck": 5, "obs-delay": 3, "obs-scaling": 1.5}.get(anomaly, 0.5)
    short, long = (
        played(Anomalous(Moving([0.5, 3.0, -2.0], kind, steps=60), anomaly, magnitude, onset=5), 3, 60)
        for kind in (np.float32, np.float64)
    )
    assert len(short) == 61
    for a, b in zip(short, long, strict=True):
        assert a[1:] == b[1:] and a[0] == pytest.approx(b[0], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("anomaly", ["obs-stuck", "obs-dropout"])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_a_reading_that_is_repeated_keeps_its_digits(anomaly, dtype):
    class Walk(Still):
        def step(self, action):
            _, *rest = super().step(action)
            return self.rows[self.t], *rest

    env = Walk([0, 0, 0], dtype, steps=60)
    env.rows = (1e9 + np.random.default_rng(0).normal(size=(61, 3)).cumsum(0) * 1e6).astype(dtype)
    rows = played(Anomalous(env, anomaly, 5 if anomaly == "obs-stuck" else 0.5, onset=20), 1, 60)
    assert all(np.isin(row[0], env.rows).all() for row in rows[21:])


def test_commands_reach_the_environment_in_its_own_numbers():
    spaces = gymnasium.spaces
    env = Still([0, 0, 0], np.float32, spaces.Box(0, 100, (2,), np.int32))
    changes(env, "act-offset", 0.7, channels=[0], onset=3, command=np.array([7, 9], np.int32))
    assert {tuple(own) for own in env.got[3:]} == {(8, 9)} and env.got[5].dtype == np.int32
    changes(env, "act-offset", 200, onset=3, command=np.array([7, 9], np.int32))
    assert tuple(env.got[5]) == (100, 100)
    env = Still([0, 0, 0], np.float32, spaces.Box(-1, 1, (2,), np.float64))
    changes(env, "act-offset", 0.5, channels=[1], onset=3, command=np.array([0.1, 0.2]))
    assert env.got[5][0] == 0.1 and env.got[5][1] == pytest.approx(0.7)


@pytest.mark.parametrize("anomaly, magnitude", [("act-delay", 1), ("act-stuck", 3), ("act-dropout", 0.5)])
def test_choices_are_those_of_the_space(anomaly, magnitude):
    space = gymnasium.spaces.MultiDiscrete([3, 3], start=[1, 10])
    env = Still([0, 0, 0], np.float32, space, steps=30)
    around = Anomalous(env, anomaly, magnitude, onset=3)
    around.reset(seed=1)
    given = [np.array([1 + t % 3, 10 + (t + 1) % 3]) for t in range(30)]
    for command in given:
        around.step(command)
    assert all(space.contains(own) for own in env.got)
    if anomaly == "act-delay":
        assert np.array_equal(env.got[10], given[9])


@pytest.mark.parametrize("channels, expected", [([0, 0], "found o0 twice"), ([], "found none"), (["o1", 1], "found o1 twice")])
def test_channels_are_named_once(channels, expected):
    with pytest.raises(ValueError, match=f"channels: expected one or more observation channels, each once, {expected}"):
        Anomalous(Still([0, 0, 0], np.float32), "obs-offset", 1.0, channels=channels, onset=3)


def test_a_random_onset_lies_in_the_episode():
    limited = Anomalous(gymnasium.wrappers.TimeLimit(Still([0, 0, 0], np.float32, steps=10**6), 60), "obs-offset", 1.0)
    onsets = [limited.reset(seed=seed)[1]["onset"] for seed in range(200)]
    assert 2 <= min(onsets) < 10 and 50 < max(onsets) < 60
    shorter = gymnasium.wrappers.TimeLimit(gymnasium.make("Pendulum-v1"), 30)
    assert max(Anomalous(shorter, "obs-offset", 1.0).reset(seed=s)[1]["onset"] for s in range(200)) < 30
    with pytest.warns(UserWarning, match="horizon: expected the steps of an episode"):
        Anomalous(Still([0, 0, 0], np.float32), "obs-offset", 1.0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda own: pickle.loads(pickle.dumps(own))])
def test_a_copy_plays_the_same_episodes(copied):
    own = Anomalous(gymnasium.make("Pendulum-v1"), "obs-noise", 0.5, onset=10)
    own.reset(seed=5)
    own.step(own.action_space.sample())
    other = copied(own)
    with pytest.raises(ValueError, match="expected reset"):
        other.step(own.action_space.sample())
    for seed in (3, None):
        for a, b in zip(played(own, seed), played(other, seed), strict=True):
            assert np.array_equal(a[0], b[0]) and a[1:] == b[1:]
