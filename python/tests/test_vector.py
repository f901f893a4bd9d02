"""Many environments at once."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import offnominal

MODES = list(AutoresetMode)


def alone(environment, seed, actions, **given):
    """What a single environment brings, reset whenever it is over; the reset counts as a step."""
    env = offnominal.Environment(environment, **given)
    rows, over = [env.reset(seed=seed)[0]], False
    for action in actions:
        if over:
            obs, over = env.reset()[0], False
        else:
            obs, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
        rows.append(obs)
    return np.stack(rows)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("anomaly_spec", [{}, {"anomaly": "obs-noise", "magnitude": 1.0, "onset": 4}])
def test_each_environment_is_a_single_one_bit_for_bit(threads, anomaly_spec):
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (60, 5, 2)).astype(np.float32)
    env = gymnasium.make_vec("offnominal/SapGoal1-v0", 5, num_threads=threads, horizon=20, **anomaly_spec)
    rows = [env.reset(seed=7)[0]] + [env.step(action)[0] for action in actions]
    for i in range(5):
        assert np.array_equal(np.stack(rows)[:, i], alone("sap-goal1", 7 + i, actions[:, i], horizon=20, **anomaly_spec))


def ended(mode):
    """An environment whose first episode is about to be over, and the commands of a step."""
    env = offnominal.Environments(2, "pendulum", horizon=3, autoreset_mode=mode)
    env.reset(seed=[1, 2])
    actions = np.zeros((2, 1), np.float32)
    for _ in range(2):
        env.step(actions)
    return env, actions


def test_next_step():
    env, actions = ended(AutoresetMode.NEXT_STEP)
    last, _, _, truncated, infos = env.step(actions)
    assert truncated.all() and infos["end"].tolist() == ["timed_out"] * 2 and infos["_end"].all()
    first, rewards, _, truncated, infos = env.step(actions)
    assert not truncated.any() and not rewards.any() and "end" not in infos
    assert not np.array_equal(first, last)


def test_same_step():
    env, actions = ended(AutoresetMode.SAME_STEP)
    first, _, _, truncated, infos = env.step(actions)
    assert truncated.all() and infos["_final_obs"].all()
    assert not np.array_equal(np.stack(infos["final_obs"]), first)
    assert infos["final_info"]["end"].tolist() == ["timed_out"] * 2
    assert np.array_equal(first[0], alone("pendulum", 1, np.zeros((4, 1), np.float32), horizon=3)[-1])


def test_disabled():
    env, actions = ended(AutoresetMode.DISABLED)
    env.step(actions)
    with pytest.raises(ValueError, match="expected a reset of environment 0"):
        env.step(actions)
    before = env.reset(options={"reset_mask": np.array([True, False])})[0]
    with pytest.raises(ValueError, match="expected a reset of environment 1"):
        env.step(actions)
    after = env.reset(options={"reset_mask": np.array([False, True])}, seed=[None, 2])[0]
    assert np.array_equal(before[0], after[0]) and not np.array_equal(before[1], after[1])
    env.step(actions)


@pytest.mark.parametrize("mode", MODES)
def test_gymnasiums_own_wrappers_work(mode):
    env = offnominal.Environments(3, "cartpole", horizon=6, autoreset_mode=mode)
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    env.reset(seed=0)
    for _ in range(6):
        *_, infos = env.step(np.zeros(3, np.int64))
    assert (infos["episode"] if "episode" in infos else infos["final_info"]["episode"])["l"].tolist() == [6] * 3


def test_without_copies_the_array_is_the_same():
    env = offnominal.Environments(2, "pendulum", copy=False)
    first = env.reset(seed=0)[0]
    kept = first.copy()
    second = env.step(np.ones((2, 1), np.float32))[0]
    assert second is first and not np.array_equal(first, kept)


def test_images_are_bytes():
    env = offnominal.Environments(2, "pong", horizon=3)
    obs, _ = env.reset(seed=0)
    assert obs.dtype == np.uint8 and obs.shape == env.observation_space.shape
    assert env.observation_space.contains(obs)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda env: env.step(np.zeros((3, 2), np.float32)), r"expected an array of shape \[2, 2\], found \[3, 2\]"),
        (lambda env: env.step(np.full((2, 2), np.inf)), "expected finite numbers"),
        (lambda env: env.reset(seed=[1]), "expected 2 seeds, found 1"),
        (lambda env: env.reset(options={"reset_mask": np.array([0, 1])}), "reset_mask: expected 2 booleans"),
        (lambda env: env.reset(options={"reset_mask": np.zeros(2, bool)}), "reset_mask: expected 2 booleans"),
    ],
)
def test_bad_calls_are_explained(call, expected):
    env = offnominal.Environments(2, "sap-goal0")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=expected):
        call(env)
