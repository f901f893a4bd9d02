"""Environments as Gymnasium environments."""

import json
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import offnominal
from offnominal import _engine
from offnominal.envs import gymnasium_id

#: Environments that need the MuJoCo library or a robot, and the others.
IN_MUJOCO = ("mjc-", "urm-", "urr-", "hopper", "walker", "ant", "half-cheetah-m", "humanoid-")
NATIVE = [w for w in offnominal.environments() if not w.startswith(IN_MUJOCO)]

#: Advice on how an environment could have been designed, which is not ours to change.
ADVICE = ["normalized", "symmetric", "minimum value is -infinity", "maximum value is infinity", "image"]


def strange(caught):
    """Warnings that are not mere advice."""
    return [str(w.message) for w in caught if not any(word in str(w.message) for word in ADVICE)]


@pytest.mark.parametrize("environment", NATIVE)
def test_gymnasium_finds_nothing_wrong(environment):
    env = gymnasium.make(gymnasium_id(environment))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env.unwrapped, skip_render_check=True)
    assert strange(caught) == []


@pytest.mark.parametrize("environment", NATIVE)
def test_stable_baselines3_finds_nothing_wrong(environment):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checker.check_env(offnominal.Environment(environment))
    assert strange(caught) == []


def test_a_disturbed_environment_is_sound_too():
    env = offnominal.Environment("sap-goal1", anomaly="obs-noise", magnitude=3.0, onset=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True)
    assert strange(caught) == []


@pytest.mark.parametrize("environment", ["sap-goal1", "car-lanekeep", "cartpole", "pendulum"])
@pytest.mark.parametrize("anomaly_spec", [{}, {"anomaly": "act-delay", "magnitude": 2, "onset": 5}])
def test_an_episode_is_the_engines_bit_for_bit(environment, anomaly_spec):
    """The engine plays an episode by its own loop; stepping by hand from its seed gives the same bits."""
    played = offnominal.collect(environment, "random", episodes=2, seed=3, **anomaly_spec)
    env = offnominal.Environment(environment, **anomaly_spec)
    for episode in [played[0], played[-1]] if not anomaly_spec else [played[0], played[2]]:
        obs, _ = env.reset(seed=episode.seed)
        observations, rewards, labels = [obs], [], []
        for action in episode.actions:
            choice = int(action[0]) if isinstance(env.action_space, gymnasium.spaces.Discrete) else action
            obs, reward, terminated, truncated, info = env.step(choice)
            observations.append(obs)
            rewards.append(reward)
            labels.append(info["label"])
        assert terminated or truncated
        assert np.array_equal(np.stack(observations), episode.observations)
        assert rewards == episode.rewards.tolist() and labels == episode.labels.tolist()
        assert info["end"] == episode.end


def test_a_seed_names_the_episodes_that_follow_it():
    env = offnominal.Environment("sap-goal0")
    first, second = env.reset(seed=4)[0], env.reset()[0]
    assert np.array_equal(env.reset(seed=4)[0], first) and np.array_equal(env.reset()[0], second)
    assert not np.array_equal(first, second)


def test_unseeded_environments_differ():
    firsts = [offnominal.Environment("sap-goal0").reset()[0] for _ in range(2)]
    assert not np.array_equal(*firsts)


def test_an_initial_condition_can_be_chosen():
    env = offnominal.Environment("pendulum")
    obs, _ = env.reset(seed=0, options={"initial": [0.0, 1.0]})
    assert obs == pytest.approx([1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="expected 2 numbers, found 1"):
        env.reset(options={"initial": [0.0]})


def test_the_spec_survives_json():
    made = gymnasium.make("offnominal/SapGoal1-v0", anomaly="obs-drift", strength="strong", onset=2)
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(made.spec.to_json()))
    assert again.unwrapped.anomaly_spec == made.unwrapped.anomaly_spec
    assert made.unwrapped.anomaly_spec["schedule"]["onset"] == {"at": 2}
    actions = [made.action_space.sample() for _ in range(6)]
    for env in made, again:
        env.reset(seed=1)
    rows = [[env.step(action)[0] for action in actions] for env in (made, again)]
    assert np.array_equal(*rows)


def test_an_environment_can_be_pickled():
    env = pickle.loads(pickle.dumps(offnominal.Environment("sap-goal1", anomaly="act-noise", magnitude=0.5)))
    assert env.anomaly_spec["anomaly"] == "act-noise"


def test_the_onset_is_told_and_kept():
    env = offnominal.Environment("sap-goal1", anomaly="act-noise", magnitude=0.5, onset="random")
    _, info = env.reset(seed=8)
    labels = []
    for _ in range(env.horizon):
        *_, terminated, truncated, step = env.step(np.zeros(2, np.float32))
        labels.append(step["label"])
        if terminated or truncated:
            break
    assert 2 <= info["onset"] < env.horizon
    assert labels == [t >= info["onset"] for t in range(len(labels))]


def test_the_horizon_truncates():
    env = offnominal.Environment("sap-goal1", horizon=3)
    env.reset(seed=0)
    ends = [env.step(np.zeros(2, np.float32))[2:] for _ in range(3)]
    assert [truncated for _, truncated, _ in ends] == [False, False, True]
    assert ends[-1][2]["end"] == "timed_out"
    with pytest.raises(ValueError, match="no episode is running"):
        env.step(np.zeros(2, np.float32))


def test_images():
    env = gymnasium.make("offnominal/SapGoal1-v0", render_mode="rgb_array", size=64)
    env.reset(seed=0)
    before = env.render()
    for _ in range(20):
        env.step(np.ones(2, np.float32))
    assert before.shape == (64, 64, 3) and before.dtype == np.uint8
    assert not np.array_equal(before, env.render())


def test_record_video(tmp_path):
    pytest.importorskip("moviepy")
    env = gymnasium.make("offnominal/SapGoal0-v0", render_mode="rgb_array", size=64, horizon=10)
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path), disable_logger=True)
    env.reset(seed=0)
    while not env.step(env.action_space.sample())[3]:
        pass
    env.close()
    assert list(tmp_path.glob("*.mp4"))


def test_parameters_change_the_episode_only():
    env = offnominal.Environment("pendulum")
    rows = []
    for mass in (1.0, 3.0, 1.0):
        env.reset(seed=0)
        if mass != 1.0:
            env.set_parameter("mass", mass)
        rows.append([env.step(np.ones(1, np.float32))[0] for _ in range(5)])
    assert np.array_equal(rows[0], rows[2]) and not np.array_equal(rows[0], rows[1])


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (np.zeros(3, np.float32), r"expected an array of shape \[2\], found \[3\]"),
        (np.array([np.nan, 0]), "expected finite numbers, found NaN at position 0"),
        (np.array(["a", "b"]), "expected an array of numbers, found one of dtype <U1"),
        (np.array([object(), None]), "expected an array of numbers, found one of dtype object"),
        ([[1], [2, 3]], "expected an array of numbers"),
        (None, "expected an array of numbers"),
    ],
)
def test_bad_commands_are_explained(action, expected):
    env = offnominal.Environment("sap-goal0")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=expected):
        env.step(action)


def test_commands_of_other_numbers_are_converted():
    rows = []
    for action in ([0.5, -1.0], np.array([0.5, -1.0]), np.array([0.5, 9, -1.0], np.float32)[::2]):
        env = offnominal.Environment("sap-goal0")
        env.reset(seed=0)
        rows.append(env.step(action)[0])
    assert all(np.array_equal(row, rows[0]) for row in rows)


@pytest.mark.parametrize("action", [2, -1, 0.5, "left", np.array([0, 1])])
def test_bad_choices_are_explained(action):
    env = offnominal.Environment("cartpole")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="expected a whole number from 0 to 1, found"):
        env.step(action)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"environment": "sap-goal7"}, 'did you mean "sap-goal0"'),
        ({"environment": "sap-goal1", "anomaly": "obs-nose", "magnitude": 1}, 'did you mean "obs-noise"'),
        ({"environment": "sap-goal1", "anomaly": "obs-noise"}, "expected magnitude or strength"),
        ({"environment": "sap-goal1", "anomaly": "obs-noise", "magnitude": 1, "strength": "tiny"}, "found both"),
        ({"environment": "sap-goal1", "anomaly": "obs-noise", "strength": "huge"}, 'no strength is called "huge"'),
        ({"environment": "sap-goal1", "anomaly": "obs-noise", "magnitude": float("inf")}, "magnitude"),
        ({"environment": "sap-goal1", "anomaly": "obs-noise", "magnitude": 1, "onset": 10**6}, "onset: expected"),
        ({"environment": "sap-goal1", "anomaly": "obs-noise", "magnitude": 1, "onset": -1}, "onset: expected"),
        ({"environment": "sap-goal1", "anomaly": "obs-noise", "magnitude": 1, "channels": ["x"]}, 'channel "x"'),
        ({"environment": "sap-goal1", "magnitude": 1}, "magnitude: expected an anomaly with it"),
        ({"environment": "sap-goal1", "render_mode": "human"}, "render_mode: expected"),
        ({"environment": "sap-goal1", "camera": "back"}, "camera: expected one of"),
        ({"environment": "sap-goal1", "horizon": 0}, "expected at least 1, found 0"),
    ],
)
def test_bad_arguments_are_explained(given, expected):
    with pytest.raises(ValueError, match=expected):
        offnominal.Environment(**given)


def test_every_environment_has_a_name_of_its_own():
    names = [gymnasium_id(environment) for environment in offnominal.environments()]
    assert len(set(names)) == len(names) and all(name in gymnasium.registry for name in names)
    assert gymnasium_id("mjc-cartpole-swingup") == "offnominal/CartpoleSwingup-v0"
    assert gymnasium_id("car-lanekeep") == "offnominal/CarLaneKeep-v0"


def test_an_environment_of_mujoco_if_the_library_is_there():
    try:
        env = offnominal.Environment("mjc-half-cheetah")
    except (ValueError, OSError) as error:
        pytest.skip(f"no MuJoCo: {error}")
    check_env(env, skip_render_check=True)
    assert json.loads(_engine.Environment("mjc-half-cheetah").spec())["id"] == "mjc-half-cheetah"


def test_nominal_noise_is_a_part_of_the_id():
    exact, noisy = (offnominal.Environment(f"sap-goal0{level}") for level in ("", "?noise=datasheet"))
    first, _ = exact.reset(seed=5)
    seen, _ = noisy.reset(seed=5)
    assert np.abs(seen - first).max() > 0
    assert np.abs(seen - first).max() < 0.2
    again, _ = noisy.reset(seed=5)
    np.testing.assert_array_equal(seen, again)
    with pytest.raises(ValueError, match="did you mean"):
        offnominal.Environment("sap-goal0?noise=datashet")
