"""Writes classic.json: what Gymnasium's CartPole-v1 and Pendulum-v1 do, with nominal and with changed parameters.

    python3 -m pip install gymnasium==1.1.1 numpy==2.4.6
    python3 make_classic.py

Commands are float64 that are exact in float32: a float32 command would make Gymnasium compute parts of a step in single
precision. The derived constants of CartPole are recomputed after a change, which Gymnasium itself does not do. A row is
the state, the command, the next state, the reward, and whether the episode ended. Rows of one rollout follow one
another. The cases "legacy" move the pendulum by its velocity before the limit, as Gym did before version 0.21.
"""

import json
import math
import pathlib

import gymnasium
import numpy as np

CARTPOLE = {"gravity": "gravity", "cart-mass": "masscart", "pole-mass": "masspole", "pole-length": "length", "force": "force_mag"}
PENDULUM = {"gravity": "g", "mass": "m", "length": "l", "max-speed": "max_speed", "max-torque": "max_torque"}
N_STARTS, N_STEPS = 6, 6


def cartpole(parameters):
    env = gymnasium.make("CartPole-v1").unwrapped
    for name, value in parameters.items():
        setattr(env, CARTPOLE[name], value)
    env.total_mass = env.masspole + env.masscart
    env.polemass_length = env.masspole * env.length
    return env


def pendulum(parameters):
    env = gymnasium.make("Pendulum-v1").unwrapped
    for name, value in parameters.items():
        setattr(env, PENDULUM[name], value)
    return env


def rows_of(env, state, commands, take):
    """One rollout; a cartpole's ends where its episode does."""
    env.reset(seed=0)
    env.state = np.array(state)
    rows = []
    for command in commands:
        before = [float(s) for s in env.state]
        _, reward, ended, _, _ = env.step(take(command))
        rows.append(before + [float(command)] + [float(s) for s in env.state] + [float(reward), float(ended)])
        if ended:
            break
    return rows


def legacy_rows(parameters, state, commands):
    """The older rule, from its equations."""
    p = {"gravity": 10.0, "mass": 1.0, "length": 1.0, "max-speed": 8.0, "max-torque": 2.0} | parameters
    g, m, l, top, bound = (p[k] for k in ("gravity", "mass", "length", "max-speed", "max-torque"))  # noqa: E741
    th, speed = state
    rows = []
    for command in commands:
        u = min(max(float(command), -bound), bound)
        error = ((th + math.pi) % (2 * math.pi)) - math.pi
        reward = -(error * error + 0.1 * (speed * speed) + 0.001 * (u * u))
        free = speed + (3 * g / (2 * l) * math.sin(th) + 3.0 / (m * l**2) * u) * 0.05
        after = (th + free * 0.05, min(max(free, -top), top))
        rows.append([th, speed, float(command), *after, reward, 0.0])
        th, speed = after
    return rows


def main():
    rng = np.random.default_rng(15)
    exact = lambda size: rng.uniform(-3, 3, size).astype(np.float32).astype(np.float64)
    cases = []

    def add(environment, parameters, options, rows):
        cases.append({"environment": environment, "parameters": parameters, "options": options, "rows": rows})

    changed = [{}, {"gravity": 0.98}, {"gravity": 98.0}, {"cart-mass": 0.1}, {"cart-mass": 10.0}, {"pole-mass": 0.01},
               {"pole-mass": 1.0}, {"pole-length": 0.05}, {"pole-length": 5.0}, {"force": 1.0}, {"force": 100.0},
               {"gravity": 9.8 / 3, "cart-mass": 1 / 7, "pole-mass": 0.3, "pole-length": 0.35, "force": 17.5}]
    for parameters in changed:
        rows = []
        for _ in range(N_STARTS):
            state = rng.uniform(-1, 1, 4) * [2.3, 2, 0.2, 2]
            rows += rows_of(cartpole(parameters), state, rng.integers(0, 2, N_STEPS), int)
        add("cartpole", parameters, {}, rows)

    changed = [{}, {"gravity": 0.5}, {"gravity": 200.0}, {"mass": 0.05}, {"mass": 20.0}, {"length": 0.05}, {"length": 20.0},
               {"max-speed": 0.4}, {"max-speed": 160.0}, {"max-torque": 0.1}, {"max-torque": 40.0},
               {"gravity": 3.7, "mass": 0.7, "length": 1.3, "max-speed": 5.0, "max-torque": 1.1}]
    starts = lambda: (rng.uniform(-3 * math.pi, 3 * math.pi), rng.uniform(-8, 8))
    for parameters in changed:
        rows, older = [], []
        for _ in range(N_STARTS):
            rows += rows_of(pendulum(parameters), starts(), exact(N_STEPS), lambda u: np.array([u]))
            older += legacy_rows(parameters, starts(), exact(N_STEPS))
        add("pendulum", parameters, {}, rows)
        add("pendulum", parameters, {"integrator": "legacy"}, older)

    golden = {"gymnasium": gymnasium.__version__, "numpy": np.__version__, "cases": cases}
    text = json.dumps(golden, separators=(",", ":")).replace('{"environment"', '\n{"environment"')
    pathlib.Path(__file__).with_name("classic.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
