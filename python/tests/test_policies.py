"""Policies by name, and those of Stable-Baselines3."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import offnominal

SB3 = Path(__file__).parents[2] / "crates/offnominal-agents/tests/sb3"
MODELS = {"sac": "pendulum", "sac-sde": "pendulum", "tqc": "pendulum", "td3": "pendulum", "ddpg": "pendulum", "dqn": "cartpole"}


@pytest.fixture(scope="module")
def expected():
    return json.loads((SB3 / "expected.json").read_text())


@pytest.mark.parametrize("name", MODELS)
def test_actions_are_those_of_stable_baselines3(name, expected):
    policy = offnominal.Policy.from_sb3(SB3 / f"{name}.zip", SB3 / f"{name}.pkl", env=MODELS[name])
    rows = np.array(expected[name]["observations"], np.float32)
    found = np.array([policy(row) for row in rows]).reshape(len(rows), -1)
    assert found == pytest.approx(np.array(expected[name]["normalised"]), abs=1e-5)
    assert policy.predict(rows)[0].reshape(len(rows), -1) == pytest.approx(found)


def test_a_model_itself(expected, tmp_path):
    sb3 = pytest.importorskip("stable_baselines3")
    model = sb3.SAC("MlpPolicy", "Pendulum-v1", policy_kwargs={"net_arch": [8]}, seed=0, device="cpu")
    policy = offnominal.Policy.from_sb3(model)
    rows = np.array(expected["sac"]["observations"], np.float32)
    assert policy.predict(rows)[0] == pytest.approx(model.predict(rows, deterministic=True)[0], abs=1e-5)


def test_an_imported_policy_is_found_by_its_path(tmp_path):
    policy = offnominal.Policy.from_sb3(SB3 / "sac.zip", SB3 / "sac.pkl", env="pendulum")
    policy.save(tmp_path / "sac.safetensors")
    found = offnominal.collect("pendulum", str(tmp_path / "sac.safetensors"), episodes=1)[0]
    env = offnominal.Environment("pendulum")
    own = offnominal.episodes.record(env, policy, found.seed)
    assert np.array_equal(own.actions, found.actions)


@pytest.mark.parametrize(
    ("model", "given", "expected"),
    [
        (b"not a zip", {}, "model: expected a zip archive"),
        (SB3 / "sac.zip", {"env": "cartpole"}, "actions of cartpole: expected one of 2 choices, found real numbers"),
        (SB3 / "dqn.zip", {"normalize": SB3 / "sac.pkl"}, "statistics for the 4 observation channels of imported: expected 4, found 3"),
        (SB3 / "sac.zip", {"normalize": b"cposix\nsystem\n(X\x02\0\0\0lstR."}, "posix.system; nothing was executed"),
        (SB3 / "sac.zip", {"normalize": SB3 / "sac.zip"}, "expected"),
        (3, {}, "model: expected a path, bytes, or an object of Stable-Baselines3, found int"),
    ],
)
def test_bad_files_are_explained(model, given, expected):
    with pytest.raises(ValueError, match=expected):
        offnominal.Policy.from_sb3(model, **given)


def test_a_policy_of_a_wrong_name():
    with pytest.raises(ValueError, match='did you mean "tqc"'):
        offnominal.Policy("sap-goal0", "tqcc")
    with pytest.raises(ValueError, match=r"observation: expected an array of shape"):
        offnominal.Policy("sap-goal0")(np.zeros(3, np.float32))


def test_callables_and_models_play_in_anybodys_environment():
    import gymnasium

    class Model:
        def predict(self, obs, deterministic):
            assert deterministic
            return np.zeros(1, np.float32), None

    env = gymnasium.make("offnominal/Pendulum-v0", horizon=5)
    played = [offnominal.collect(env, policy, episodes=2)[1] for policy in (Model(), lambda obs: np.zeros(1))]
    assert np.array_equal(played[0].observations, played[1].observations) and len(played[0]) == 5
    assert played[0].actions.shape == (5, 1) and played[0].end == "timed_out"
    with pytest.raises(ValueError, match="expected a callable or a model for this environment"):
        offnominal.collect(env, "tqc", episodes=1)
    with pytest.raises(ValueError, match="expected a name, a callable or a model with predict, found int"):
        offnominal.collect(env, 3, episodes=1)


def test_a_network_of_another_library_acts():
    folder = Path(__file__).parents[2] / "crates/offnominal-agents/tests/onnx"
    expected = json.loads((folder / "expected.json").read_text())["mlp"]
    policy = offnominal.Policy("pendulum", str(folder / "mlp.onnx"))
    found = [policy(np.array(row, np.float32)) for row in expected["inputs"]]
    assert np.array(found) == pytest.approx(np.array(expected["outputs"]), abs=1e-5)
    with pytest.raises(ValueError, match="input: expected 4 numbers, found 3"):
        offnominal.Policy("cartpole", str(folder / "mlp.onnx"))


OTHERS = json.loads((SB3 / "others.json").read_text())["models"]


# The others stack frames, and their environment has single ones.
@pytest.mark.parametrize("name", [name for name, answers in OTHERS.items() if answers["stack"] == 1])
def test_models_of_every_algorithm_act_as_they_do_there(name):
    answers = OTHERS[name]
    statistics = SB3 / f"others/{name}.pkl"
    policy = offnominal.Policy.from_sb3(SB3 / f"others/{name}.zip", statistics if statistics.exists() else None)
    for episode in answers["episodes"]:
        policy.reset()
        for obs, expected in zip(episode["observations"], episode["actions"]):
            assert np.ravel(policy(np.array(obs, np.float32))) == pytest.approx(expected, abs=1e-5)


def test_a_policy_that_others_trained_balances():
    found = offnominal.evaluate("cartpole", str(SB3 / "imitation/model.zip"), episodes=10, seed=3)
    assert found["return"]["value"] == 500


def test_a_cache_of_a_hub_is_a_policy(tmp_path):
    model = tmp_path / "models--others--cartpole"
    (model / "snapshots/0abc").mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs/main").write_text("0abc")
    (model / "snapshots/0abc/ppo.zip").symlink_to(SB3 / "imitation/model.zip")
    policy = offnominal.Policy("cartpole", str(model))
    policy.save(tmp_path / "own.safetensors")
    obs = np.array([0.1, 0.2, -0.1, 0.3], np.float32)
    assert policy(obs) == offnominal.Policy("cartpole", str(tmp_path / "own.safetensors"))(obs)


BALANCES = """
import json, sys

for line in sys.stdin:
    angle, speed = json.loads(line)["observation"][2:]
    print(json.dumps({"action": int(angle + 0.5 * speed > 0)}), flush=True)
"""


def test_a_command_acts(tmp_path):
    program = tmp_path / "balance.py"
    program.write_text(BALANCES)
    name = f"command:{sys.executable} {program}"
    found = offnominal.evaluate("cartpole", name, episodes=4, jobs=2)
    assert found["return"]["value"] > 100
    program.write_text("raise ValueError('no policy')")
    with pytest.raises(ValueError, match=r"the command ended \(exit status: 1\); it said last: ValueError: no policy"):
        offnominal.evaluate("cartpole", name, episodes=2)
