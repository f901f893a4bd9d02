"""Writes humanoid_stand_postures.csv: postures of a linear regulator that balances the humanoid against noise.

    python3 -m pip install mujoco==3.17.0 scipy
    python3 make_humanoid_postures.py

The regulator is the agent that the postures are taken from: a body with slightly bent knees is put into static equilibrium,
the simulator is linearised there, and the gains that keep the centre of mass above the feet solve a Riccati equation. Each
episode begins in that equilibrium; normal noise on the commands moves the body about. The first seconds are skipped, and
episodes that end in a fall are dropped.
"""

import pathlib

import mujoco
import numpy as np
from scipy.linalg import solve_discrete_are
from scipy.optimize import minimize

MODEL = pathlib.Path(__file__).with_name("humanoid_stand.xml")
SUBSTEPS, STEPS, SKIPPED, EVERY = 5, 600, 200, 80  # 15 s, from 5 s on, every 2 s
KNEE_RAD, HIP_RAD, FALL_M = 0.15, 0.075, 1.0
NOISES = (0.02, 0.04, 0.06, 0.08)
POSTURES = 200


def residual(model, data, height, pitch):
    """The force and torque that nobody applies if the body stands still: flat feet, bent knees."""
    mujoco.mj_resetData(model, data)
    data.qpos[2] = height
    data.qpos[3:7] = [np.cos(pitch / 2), 0, np.sin(pitch / 2), 0]
    for side in ("right", "left"):
        data.joint(f"{side}_hip_y").qpos[0] = -HIP_RAD
        data.joint(f"{side}_knee").qpos[0] = -KNEE_RAD
        data.joint(f"{side}_ankle_y").qpos[0] = HIP_RAD - KNEE_RAD - pitch
    mujoco.mj_forward(model, data)
    data.qacc[:] = 0
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse


def equilibrium(model, data):
    """Positions at which nothing but the motors holds the body, and their commands."""

    def cost(at):
        force = residual(model, data, *at)
        return (force[0] / 10) ** 2 + (force[2] / 100) ** 2 + (force[4] / 10) ** 2

    starts = [(h, p) for h in np.linspace(1.26, 1.29, 7) for p in (-0.15, -0.1, -0.05, 0.0)]
    tight = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 400}
    best = min((minimize(cost, s, method="Nelder-Mead", options=tight) for s in starts), key=lambda r: r.fun)
    force = residual(model, data, *best.x).copy()
    moment = np.zeros((model.nu, model.nv))
    mujoco.mju_sparse2dense(moment, data.actuator_moment.ravel(), data.moment_rownnz, data.moment_rowadr,
                            data.moment_colind)
    return data.qpos.copy(), np.linalg.pinv(moment.T) @ force


def lean(model, data):
    """Derivative of the centre of mass, seen from the middle between the feet, by the positions."""
    centre, feet, foot = (np.zeros((3, model.nv)) for _ in range(3))
    mujoco.mj_forward(model, data)
    mujoco.mj_jacSubtreeCom(model, data, centre, model.body("torso").id)
    for name in ("left_foot", "right_foot"):
        mujoco.mj_jacBodyCom(model, data, foot, None, model.body(name).id)
        feet += foot / 2
    return centre - feet


def gains(model, data, qpos, ctrl):
    """The regulator's gains on deviations of positions and velocities, for a command that is held for five time steps."""
    nv = model.nv
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.ctrl[:] = qpos, ctrl
    a, b = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, model.nu))
    mujoco.mjd_transitionFD(model, data, 1e-5, True, a, b, None, None)
    held_a, held_b = np.eye(2 * nv), np.zeros_like(b)
    for _ in range(SUBSTEPS):
        held_a, held_b = a @ held_a, a @ held_b + b
    way = lean(model, data)
    angles = np.diag([0, 0, 0, 1, 1] + [0] + [1] * 21)
    cost = 1e-5 * np.eye(2 * nv)
    cost[:nv, :nv] += 1000 * way.T @ way + angles
    cost[nv:, nv:] += 0.01 * np.eye(nv)
    effort = 10 * np.eye(model.nu)
    p = solve_discrete_are(held_a, held_b, cost, effort)
    return np.linalg.solve(effort + held_b.T @ p @ held_b, held_b.T @ p @ held_a)


def episode(model, data, rest, noise, rng):
    """Postures of one episode; none if it ends in a fall."""
    qpos, ctrl, gain = rest
    mujoco.mj_resetData(model, data)
    data.qpos[:], found, off = qpos, [], np.zeros(model.nv)
    for t in range(STEPS):
        mujoco.mj_differentiatePos(model, off, 1, qpos, data.qpos)
        off[:2] = 0
        command = ctrl - gain @ np.concatenate([off, data.qvel]) + noise * rng.normal(size=model.nu)
        data.ctrl[:] = np.clip(command, -1, 1)
        mujoco.mj_step(model, data, SUBSTEPS)
        mujoco.mj_kinematics(model, data)
        if data.body("head").xpos[2] < FALL_M:
            return []
        if t >= SKIPPED and t % EVERY == 0:
            found.append(posture(data))
    return found


def posture(data):
    """Roll and pitch of the torso, and the joints."""
    up = data.body("torso").xmat[6:]
    return [np.arctan2(up[1], up[2]), -np.arcsin(np.clip(up[0], -1, 1)), *data.qpos[7:]]


def main():
    model, rng = mujoco.MjModel.from_xml_path(str(MODEL)), np.random.default_rng(1)
    data = mujoco.MjData(model)
    qpos, ctrl = equilibrium(model, data)
    rest, found, falls, played = (qpos, ctrl, gains(model, data, qpos, ctrl)), [], 0, 0
    while len(found) < POSTURES and played < 200:
        postures = episode(model, data, rest, NOISES[played % len(NOISES)], rng)
        falls, played = falls + (not postures), played + 1
        found += postures
    names = [model.joint(i).name for i in range(1, model.njnt)]
    lines = [",".join(["roll", "pitch", *names])] + [",".join(f"{v:.4f}" for v in row) for row in found[:POSTURES]]
    MODEL.with_name("humanoid_stand_postures.csv").write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 1} postures of {played} episodes, {falls} of which ended in a fall")


if __name__ == "__main__":
    main()
