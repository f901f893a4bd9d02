"""Makes the files in this folder: small models of Stable-Baselines3, and the actions that it gives itself.

    python make.py        # needs stable-baselines3, sb3-contrib, and torch for the CPU

Written with the versions that stand in expected.json.
"""

import json
import sys
from pathlib import Path

import gymnasium
import numpy as np
import sb3_contrib
import stable_baselines3 as sb3
import torch
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

HERE = Path(__file__).parent
SMALL = {"net_arch": [16, 12]}
MODELS = {
    "sac": (sb3.SAC, "Pendulum-v1", {}),
    "sac-sde": (sb3.SAC, "Pendulum-v1", {"use_sde": True}),
    "tqc": (sb3_contrib.TQC, "Pendulum-v1", {}),
    "td3": (sb3.TD3, "Pendulum-v1", {}),
    "ddpg": (sb3.DDPG, "Pendulum-v1", {}),
    "dqn": (sb3.DQN, "CartPole-v1", {}),
}


def observations(env):
    """Whatever a random policy sees, and some far away."""
    rng, rows = np.random.default_rng(0), []
    env.action_space.seed(0)
    obs, _ = env.reset(seed=0)
    for _ in range(20):
        rows.append(obs)
        obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            obs, _ = env.reset()
    far = [row * scale for row, scale in zip(rows[:10], rng.uniform(2, 200, 10))]
    return np.array(rows + far, np.float32)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    expected = {"versions": {"stable_baselines3": sb3.__version__, "torch": torch.__version__, "python": sys.version.split()[0]}}
    for name, (algorithm, env_id, options) in MODELS.items():
        env = VecNormalize(DummyVecEnv([lambda: gymnasium.make(env_id)]), norm_reward=False)
        model = algorithm("MlpPolicy", env, policy_kwargs=dict(SMALL), learning_starts=20, batch_size=32, seed=1, device="cpu", **options)
        model.learn(60)
        model.save(HERE / f"{name}.zip")
        env.save(HERE / f"{name}.pkl")
        env.training = False
        rows = observations(gymnasium.make(env_id))
        plain = model.predict(rows, deterministic=True)[0]
        normalised = model.predict(env.normalize_obs(rows), deterministic=True)[0]
        expected[name] = {
            "observations": rows.tolist(),
            "plain": plain.reshape(len(rows), -1).tolist(),
            "normalised": normalised.reshape(len(rows), -1).tolist(),
        }
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")


main()
