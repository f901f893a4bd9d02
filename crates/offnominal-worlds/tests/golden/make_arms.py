"""Writes arms.json: what the official Python package of MuJoCo makes of the models of the three arms.

    python3 -m pip install mujoco==3.17.0
    python3 make_arms.py

The tasks (controller, gripper, goals, rewards) are written here a second time, from the cards in docs/reference/environments. Commands
are exact in float32, because that is what a policy commands; everything else is float64.
"""

import json
import pathlib

import mujoco
import numpy as np

MODELS = pathlib.Path(__file__).parents[2] / "models"
ARM = pathlib.Path(__file__).parents[3] / "offnominal-rtde/models/ur3e.xml"


class Reacher:
    """Seven torques; the marker is the only mocap body."""

    environment, width = "mjc-reacher3d", 7

    def __init__(self, x):
        self.model = mujoco.MjModel.from_xml_path(str(MODELS / "mjc_reacher3d.xml"))
        self.data = mujoco.MjData(self.model)
        self.data.mocap_pos[0] = x
        mujoco.mj_forward(self.model, self.data)

    def step(self, action):
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data, nstep=2)
        # The pose of the hand at the new positions, without touching the simulation itself.
        seen = mujoco.MjData(self.model)
        seen.qpos[:] = self.data.qpos
        mujoco.mj_kinematics(self.model, seen)
        miss = seen.site("end").xpos - self.data.mocap_pos[0]
        return -miss @ miss - 0.01 * action @ action

    def observation(self):
        return np.concatenate([self.data.qpos, self.data.mocap_pos[0], self.data.qvel])


class Reach:
    """Three displacements of the commanded point; four goals of 50 steps."""

    environment, width = "urm-reach", 3
    low, high = np.array([-0.3, 0.2, 0.05]), np.array([0.2, 0.4, 0.25])

    def __init__(self, x):
        self.model = mujoco.MjModel.from_xml_string(self.mjcf())
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:6] = np.array([1, -1, 1, -1, -1, 0]) * np.pi / 2
        self.steps = 0
        self.place(x)
        mujoco.mj_forward(self.model, self.data)

    def mjcf(self):
        return ARM.read_text()

    def place(self, x):
        self.goals = np.reshape(x, (4, 3))
        self.goal = self.goals[0]

    def move(self, action):
        command = self.data.mocap_pos[self.model.body("command").mocapid[0]]
        command[:] = np.clip(command + np.clip(0.01 * action, -0.01, 0.01), self.low, self.high)
        mujoco.mj_step(self.model, self.data, nstep=20)

    def step(self, action):
        self.move(action)
        distance = np.linalg.norm(self.data.sensor("tcp").data - self.goal)
        self.steps += 1
        self.goal = self.goals[self.steps // 50 % 4]
        return -(0.0 if distance < 0.02 else 1 + distance) - 0.1 * np.linalg.norm(action)

    def observation(self):
        return np.concatenate([self.data.sensor("tcp").data, self.data.sensor("tcp_velocity").data, self.goal])


class PickAndPlace(Reach):
    """Three displacements and the gripper; a block."""

    environment, width = "urm-pnp", 4

    def mjcf(self):
        block = (MODELS / "urm_pnp.xml").read_text()
        inner = block[block.index('<mujoco model="urm-pnp">') + 24:block.index("</mujoco>")]
        return super().mjcf().replace("</mujoco>", inner + "</mujoco>")

    def place(self, x):
        self.goal = np.array(x[3:])
        self.data.joint("block").qpos = [x[0], x[1], 0.055, np.cos(x[2] / 2), 0, 0, np.sin(x[2] / 2)]

    def step(self, action):
        if abs(action[3]) > 0.2:
            self.data.ctrl[0] = 0.0425 if action[3] > 0 else 0.0
        self.move(action[:3])
        block, touch = self.data.joint("block").qpos[:3], [self.data.sensor(n).data[0] for n in ("pad_left", "pad_right")]
        reward = -np.linalg.norm(block - self.data.sensor("tcp").data) - np.linalg.norm(block - self.goal)
        return reward + 0.1 * (min(touch) > 10) - 1.0 * (self.data.sensor("block_top").data[0] > 0.5)

    def observation(self):
        opening = 1 - (self.data.joint("finger_left").qpos[0] + self.data.joint("finger_right").qpos[0]) / 0.0425
        pose = self.data.joint("block").qpos.copy()
        pose[3:] *= 1 if pose[3] >= 0 else -1
        return np.concatenate([super().observation(), [opening], pose])


def play(task, x, actions):
    arm = task(x)
    steps = []
    for action in actions:
        reward = arm.step(action.astype(np.float64))
        steps.append({"reward": float(reward), "observation": [float(np.float32(o)) for o in arm.observation()]})
    kept = [i for i in range(len(steps)) if i % 6 == 5]
    return {
        "environment": task.environment,
        "initial": [float(v) for v in x],
        "actions": [[float(a) for a in action] for action in actions],
        "steps": [{"after": i + 1, **steps[i]} for i in kept],
    }


def grasp(block, steps):
    """Commands that lead the tool over the block, down and up again, with noise."""
    rng = np.random.default_rng(3)
    way = [((block[0] + 0.131) / 0.01, (block[1] - 0.299) / 0.01, -4.0)]
    actions = [np.array([*np.divide(way[0], 20), -1.0]) for _ in range(20)] + [np.array([0, 0, -0.6, -1.0])] * 10
    actions += [np.array([0, 0, 0, 1.0])] * 10 + [np.array([-0.5, 0, 0.8, 0.0])] * (steps - 40)
    return [(a + 0.02 * rng.normal(size=4)).astype(np.float32) for a in actions]


def main():
    rng = np.random.default_rng(7)
    noise = lambda task, n: [rng.uniform(-1, 1, task.width).astype(np.float32) for _ in range(n)]
    goals = np.concatenate([rng.uniform([-0.25, 0.25, 0.1], [0.15, 0.35, 0.2]) for _ in range(4)])
    block = [0.02, 0.31, 0.15]
    golden = [
        play(Reacher, [0.1, 0.2, -0.05], noise(Reacher, 60)),
        play(Reach, goals, noise(Reach, 60)),
        play(PickAndPlace, block + [-0.1, 0.3, 0.18], grasp(block, 60)),
    ]
    text = json.dumps({"mujoco": mujoco.__version__, "episodes": golden}, separators=(",", ":"))
    pathlib.Path(__file__).with_name("arms.json").write_text(text.replace('{"environment"', '\n{"environment"') + "\n")


if __name__ == "__main__":
    main()
