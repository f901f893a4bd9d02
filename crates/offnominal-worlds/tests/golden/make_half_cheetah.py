"""Writes half_cheetah.json: what Gymnasium's HalfCheetah-v5 does from given states under given actions.

    python3 -m pip install "gymnasium[mujoco]==1.1.1" mujoco==3.17.0
    python3 make_half_cheetah.py

Every episode starts with fresh simulator data (no warm start). States are float64; actions are exact in float32,
because that is what a policy commands. The states are spread over the flight, the contact and the joint limits.
"""

import json
import pathlib

import gymnasium
import mujoco
import numpy as np


def play(env, qpos, qvel, actions):
    """The states and rewards that follow from a state."""
    mujoco.mj_resetData(env.model, env.data)
    env.set_state(np.array(qpos), np.array(qvel))
    n_contacts = int(env.data.ncon)
    steps = []
    for action in actions:
        reward = env.step(action.astype(np.float64))[1]  # with float32 the penalty is rounded to 4e-8
        steps.append({
            "action": [float(a) for a in action],
            "qpos": env.data.qpos.tolist(),
            "qvel": env.data.qvel.tolist(),
            "reward": float(reward),
        })
        n_contacts = max(n_contacts, int(env.data.ncon))
    return {"qpos": list(map(float, qpos)), "qvel": list(map(float, qvel)), "n_contacts": n_contacts, "steps": steps}


def state(rng, height, spread):
    """A random state: torso height, and how far the joints are from rest."""
    qpos = spread * rng.normal(size=9)
    qpos[1] = height + 0.05 * rng.normal()
    return qpos, 3 * spread * rng.normal(size=9)


def main():
    env = gymnasium.make("HalfCheetah-v5").unwrapped
    rng = np.random.default_rng(20)
    action = lambda: rng.uniform(-1, 1, size=6).astype(np.float32)
    single = [play(env, *state(rng, h, s), [action()])
              for h in (-0.25, -0.15, -0.1, 0.1) for s in (0.05, 0.2, 0.5) for _ in range(4)]
    rollouts = [play(env, *state(rng, 0.0, 0.1), [action() for _ in range(20)]) for _ in range(4)]
    golden = {
        "gymnasium": gymnasium.__version__,
        "mujoco": mujoco.__version__,
        "environment": "HalfCheetah-v5",
        "episodes": single + rollouts,
    }
    path = pathlib.Path(__file__).with_name("half_cheetah.json")
    path.write_text(json.dumps(golden, separators=(",", ":")).replace('{"qpos":', '\n{"qpos":') + "\n")


if __name__ == "__main__":
    main()
