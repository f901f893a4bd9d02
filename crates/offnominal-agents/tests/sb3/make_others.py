"""Makes small models of the other algorithms of Stable-Baselines3 and sb3-contrib, and the actions that they give
themselves.

    python make_others.py        # needs stable-baselines3, sb3-contrib, and torch for the CPU

Written with the versions that stand in others.json. Each entry holds episodes: lists of observations, as the environment
gives them, and the actions of `predict(deterministic=True)` behind the wrappers that the model was trained with.
"""

import json
import sys
import zipfile
from pathlib import Path

import gymnasium
import numpy as np
import sb3_contrib
import stable_baselines3 as sb3
import torch
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize, VecTransposeImage

HERE = Path(__file__).parent
SMALL = {"net_arch": [8]}
IMAGE = spaces.Box(0, 255, (36, 36, 1), np.uint8)
COLOUR = spaces.Box(0, 255, (36, 40, 3), np.uint8)
REAL = spaces.Box(np.array([-1.0, -20.0], np.float32), np.array([1.0, 4.0], np.float32))
SEEN = spaces.Box(-np.inf, np.inf, (3,), np.float32)


class Anything(gymnasium.Env):
    """Random observations of any space, for actions of any space."""

    def __init__(self, observation, action):
        self.observation_space, self.action_space = observation, action

    def _seen(self):
        space = self.observation_space
        if isinstance(space, spaces.Box) and space.dtype == np.float32:
            return self.np_random.normal(1.0, 3.0, space.shape).astype(np.float32)
        return space.sample()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(0 if seed is None else seed)
        self.steps = 0
        return self._seen(), {}

    def step(self, action):
        self.steps += 1
        return self._seen(), float(self.np_random.normal()), False, self.steps >= 10, {}


def discrete(n):
    return spaces.Discrete(n)


def relu(**more):
    return {**SMALL, **more}


on_policy = {"n_steps": 32}
ppo = {**on_policy, "batch_size": 32, "n_epochs": 1}
deep = {"net_arch": {"pi": [8, 6], "vf": [5]}}
nature = {"net_arch": [], "features_extractor_kwargs": {"features_dim": 8}}
off = {"learning_starts": 8, "batch_size": 8, "buffer_size": 64}

# Name: algorithm, policy, observation, action, settings, policy_kwargs, wrappers.
MODELS = {
    "ppo": (sb3.PPO, "MlpPolicy", SEEN, REAL, ppo, deep, ""),
    "ppo-none": (sb3.PPO, "MlpPolicy", SEEN, REAL, ppo, {"net_arch": []}, ""),
    "ppo-choice": (sb3.PPO, "MlpPolicy", SEEN, discrete(3), ppo, relu(activation_fn=torch.nn.ELU), "normalize"),
    "ppo-silu": (sb3.PPO, "MlpPolicy", SEEN, REAL, ppo, relu(activation_fn=torch.nn.SiLU), ""),
    "ppo-multi": (sb3.PPO, "MlpPolicy", SEEN, spaces.MultiDiscrete([2, 4, 3]), ppo, SMALL, ""),
    "ppo-binary": (sb3.PPO, "MlpPolicy", SEEN, spaces.MultiBinary(3), ppo, SMALL, ""),
    "ppo-sde": (sb3.PPO, "MlpPolicy", SEEN, REAL, {**ppo, "use_sde": True}, SMALL, ""),
    "ppo-squashed": (sb3.PPO, "MlpPolicy", SEEN, REAL, {**ppo, "use_sde": True}, relu(squash_output=True), "normalize"),
    "ppo-integer": (sb3.PPO, "MlpPolicy", discrete(5), REAL, ppo, SMALL, ""),
    "ppo-integers": (sb3.PPO, "MlpPolicy", spaces.MultiDiscrete([3, 2]), REAL, ppo, SMALL, ""),
    "ppo-flags": (sb3.PPO, "MlpPolicy", spaces.MultiBinary(4), REAL, ppo, SMALL, ""),
    "ppo-image": (sb3.PPO, "CnnPolicy", COLOUR, discrete(4), ppo, nature, ""),
    "ppo-separate": (sb3.PPO, "CnnPolicy", IMAGE, REAL, ppo, {**nature, "share_features_extractor": False}, "stack"),
    "ppo-stack": (sb3.PPO, "MlpPolicy", SEEN, REAL, ppo, SMALL, "normalize stack"),
    "ppo-stacked-norm": (sb3.PPO, "MlpPolicy", SEEN, REAL, ppo, SMALL, "stack normalize"),
    "a2c": (sb3.A2C, "MlpPolicy", SEEN, REAL, {"n_steps": 8}, SMALL, "normalize"),
    "a2c-choice": (sb3.A2C, "MlpPolicy", SEEN, discrete(3), {"n_steps": 8}, relu(activation_fn=torch.nn.ReLU), ""),
    "trpo": (sb3_contrib.TRPO, "MlpPolicy", SEEN, REAL, {**on_policy, "batch_size": 32}, SMALL, ""),
    "ars": (sb3_contrib.ARS, "MlpPolicy", SEEN, REAL, {"n_delta": 2}, SMALL, "normalize"),
    "ars-linear": (sb3_contrib.ARS, "LinearPolicy", SEEN, REAL, {"n_delta": 2}, {}, ""),
    "ars-choice": (sb3_contrib.ARS, "LinearPolicy", SEEN, discrete(3), {"n_delta": 2}, {}, ""),
    "qr-dqn": (sb3_contrib.QRDQN, "MlpPolicy", SEEN, discrete(3), off, relu(n_quantiles=7), "normalize"),
    "recurrent": (sb3_contrib.RecurrentPPO, "MlpLstmPolicy", SEEN, REAL, ppo, relu(lstm_hidden_size=6), "normalize"),
    "recurrent-deep": (
        sb3_contrib.RecurrentPPO, "MlpLstmPolicy", SEEN, discrete(3), ppo,
        relu(lstm_hidden_size=4, n_lstm_layers=2, shared_lstm=True, enable_critic_lstm=False), "",
    ),
    "maskable": (sb3_contrib.MaskablePPO, "MlpPolicy", SEEN, spaces.MultiDiscrete([3, 2]), ppo, SMALL, ""),
    "sac-tanh": (sb3.SAC, "MlpPolicy", SEEN, REAL, off, relu(activation_fn=torch.nn.Tanh), ""),
    "td3-stack": (sb3.TD3, "MlpPolicy", SEEN, REAL, off, SMALL, "stack"),
    "dqn-image": (sb3.DQN, "CnnPolicy", IMAGE, discrete(3), off, nature, ""),
    "dqn-integer": (sb3.DQN, "MlpPolicy", discrete(6), discrete(2), off, SMALL, ""),
}  # fmt: skip


def wrapped(env, wrappers):
    for wrapper in wrappers.split():
        env = VecNormalize(env, norm_reward=False, clip_obs=2.5) if wrapper == "normalize" else VecFrameStack(env, 3)
    return env


def lean(path):
    """Without the optimiser, which no policy needs."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist() if "optimizer" not in name}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def thin_out(policy):
    """NatureCNN is large: of its weights every fiftieth is kept, so that the file is small."""
    with torch.no_grad():
        for name, weight in policy.named_parameters():
            if "features_extractor" in name and weight.ndim > 1:
                weight.mul_(20.0 * (torch.rand_like(weight) < 0.02))


def numbers(obs):
    """As the environment's process sends them: planes first."""
    obs = np.asarray(obs)
    return (np.moveaxis(obs, -1, 0) if obs.ndim == 3 else obs).ravel().tolist()


def episodes(model, env, raw):
    """What `predict` says along two episodes, with the state of a memory where there is one."""
    for seed in (1, 2):
        env.seed(seed)
        obs, state, start = env.reset(), None, np.array([True])
        rows, actions = [], []
        for _ in range(3 if len(numbers(raw.seen)) > 100 else 8):
            rows.append(numbers(raw.seen))
            action, state = model.predict(obs, state=state, episode_start=start, deterministic=True)
            actions.append(np.ravel(action).astype(float).tolist())
            obs, _, _, _ = env.step(action)
            start = np.array([False])
        yield {"observations": rows, "actions": actions}


class Recorded(gymnasium.Wrapper):
    """Remembers the last observation."""

    def reset(self, **given):
        self.seen, info = self.env.reset(**given)
        return self.seen, info

    def step(self, action):
        self.seen, *rest = self.env.step(action)
        return (self.seen, *rest)


def made(name):
    algorithm, policy, observation, action, settings, policy_kwargs, wrappers = MODELS[name]
    raw = Recorded(Anything(observation, action))
    env = wrapped(DummyVecEnv([lambda: raw]), wrappers)
    if isinstance(observation, spaces.Box) and observation.dtype == np.uint8:
        env = VecTransposeImage(env)
    model = algorithm(policy, env, policy_kwargs=dict(policy_kwargs), seed=1, device="cpu", **settings)
    unmasked = {"use_masking": False} if algorithm is sb3_contrib.MaskablePPO else {}
    model.learn(64, **unmasked)
    thin_out(model.policy)
    path = HERE / "others" / f"{name}.zip"
    model.save(path)
    lean(path)
    if "normalize" in wrappers:
        inner = env
        while not isinstance(inner, VecNormalize):
            inner = inner.venv
        inner.training = False
        inner.save(path.with_suffix(".pkl"))
    return {"stack": 3 if "stack" in wrappers else 1, "episodes": list(episodes(model, env, raw))}


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    (HERE / "others").mkdir(exist_ok=True)
    versions = {"stable_baselines3": sb3.__version__, "torch": torch.__version__, "python": sys.version.split()[0]}
    expected = {"versions": versions, "models": {name: made(name) for name in MODELS}}
    (HERE / "others.json").write_text(json.dumps(expected) + "\n")


main()
