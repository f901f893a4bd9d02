"""Learning in our environments with Stable-Baselines3."""

import numpy as np
import pytest

sb3 = pytest.importorskip("stable_baselines3")

from offnominal.sb3 import Sb3Environments  # noqa: E402


def test_the_episode_that_ended_is_told():
    env = Sb3Environments(2, "pendulum", horizon=3)
    env.seed(1)
    first = env.reset()
    for _ in range(3):
        obs, rewards, dones, infos = env.step(np.zeros((2, 1), np.float32))
    assert dones.all() and rewards.dtype == np.float32
    assert infos[0]["TimeLimit.truncated"] and infos[0]["end"] == "timed_out"
    assert not np.array_equal(infos[0]["terminal_observation"], obs[0])
    env.seed(1)
    assert np.array_equal(env.reset(), first)


def test_a_learner_learns_and_its_policy_is_taken_over(tmp_path):
    from offnominal import Policy

    env = sb3.common.vec_env.VecNormalize(Sb3Environments(2, "sap-goal0", horizon=20), norm_reward=False)
    model = sb3.TD3("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, learning_starts=10, device="cpu")
    model.learn(40)
    obs = env.get_original_obs()
    env.training = False
    policy = Policy.from_sb3(model, env="sap-goal0")
    assert policy.predict(obs)[0] == pytest.approx(model.predict(env.normalize_obs(obs), deterministic=True)[0], abs=1e-5)
