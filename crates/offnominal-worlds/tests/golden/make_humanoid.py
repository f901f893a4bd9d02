"""Writes humanoid.json: what the DeepMind Control Suite's humanoid sees, from given states under given actions.

    python3 -m pip install dm_control==1.0.50 mujoco==3.17.0
    python3 make_humanoid.py

The suite's model alone is used. Every episode starts with fresh simulator data; actions are exact in float32. A step is five
of the simulator's; the poses are then brought up to date, while the sensor of the centre of mass is read as the last
step left it.
"""

import importlib.util
import json
import pathlib

import mujoco
import numpy as np

STEPS, SUBSTEPS = 12, 5
EXTREMITIES = ("left_hand", "left_foot", "right_hand", "right_foot")


def suite_model():
    suite = pathlib.Path(importlib.util.find_spec("dm_control").submodule_search_locations[0]) / "suite"
    return mujoco.MjModel.from_xml_path(str(suite / "humanoid.xml"))


def observation(data):
    """The suite's observation, in its order."""
    turn = data.body("torso").xmat.reshape(3, 3)
    places = [(data.body(b).xpos - data.body("torso").xpos) @ turn for b in EXTREMITIES]
    parts = [data.qpos[7:], [data.body("head").xpos[2]], *places, turn[2]]
    return np.concatenate([*parts, data.sensor("torso_subtreelinvel").data, data.qvel])


def play(model, rng):
    data = mujoco.MjData(model)
    data.qpos[2] = 1.28 + 0.02 * rng.normal()
    data.qpos[7:] += 0.1 * rng.normal(size=21)
    data.qvel[:] = 0.2 * rng.normal(size=27)
    start = {"qpos": data.qpos.tolist(), "qvel": data.qvel.tolist()}
    mujoco.mj_forward(model, data)
    steps = []
    for _ in range(STEPS):
        action = rng.uniform(-1, 1, size=21).astype(np.float32)
        data.ctrl[:] = action
        mujoco.mj_step(model, data, SUBSTEPS)
        n_contacts = int(data.ncon)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        seen = [round(float(v), 9) for v in observation(data)]
        steps.append({"action": [float(a) for a in action], "n_contacts": n_contacts, "observation": seen})
    return {**start, "steps": steps}


def main():
    model, rng = suite_model(), np.random.default_rng(20)
    golden = {"mujoco": mujoco.__version__, "episodes": [play(model, rng) for _ in range(4)]}
    path = pathlib.Path(__file__).with_name("humanoid.json")
    path.write_text(json.dumps(golden, separators=(",", ":")).replace('{"qpos":', '\n{"qpos":') + "\n")


if __name__ == "__main__":
    main()
