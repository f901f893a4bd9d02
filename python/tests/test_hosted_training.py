"""Policies trained in environments of Gymnasium, and by what a policy of Python shows."""

from pathlib import Path

import numpy as np
import pytest

import offnominal

pytest.importorskip("fcntl", reason="hosted environments need Unix sockets")

CARTPOLE, PENDULUM = "gymnasium:CartPole-v1", "gymnasium:Pendulum-v1"
# Plays Pong with a model of its paddle.
PLAYER = f"interception:intercept?modules={Path(__file__).parents[2] / 'studies' / 'ood-rl'}"
# The last policy and not the best: a run that ends earlier is evaluated there too.
SHORT = ["learning_starts=100", "hidden=[16]", "batch=16", "keep=last"]
SHOWN = [*SHORT, "demonstrations=300", "imitation=1.0"]


def balance(obs):
    return int(3 * obs[2] + obs[3] + 0.1 * obs[0] + 0.3 * obs[1] > 0)


def trained(out, steps=600, env=CARTPOLE, **options):
    preset = "cartpole" if env == CARTPOLE else "pendulum"
    card = offnominal.train(env, out=out, preset=preset, steps=steps, seed=1, progress=False, **options)
    return card, (out / "policy.safetensors").read_bytes()


def test_a_policy_is_trained_and_a_run_that_goes_on_leaves_the_same(tmp_path):
    card, whole = trained(tmp_path / "whole", env=PENDULUM, set_=SHORT)
    assert (card["env"], card["steps"]) == (PENDULUM, 600)
    # The run is broken off within an episode.
    trained(tmp_path / "parts", steps=350, env=PENDULUM, set_=SHORT)
    offnominal.train(PENDULUM, out=tmp_path / "parts", steps=600, resume=True, progress=False)
    assert (tmp_path / "parts" / "policy.safetensors").read_bytes() == whole
    found = offnominal.evaluate(PENDULUM, str(tmp_path / "whole" / "policy.safetensors"), episodes=2)
    assert found["return"]["n"] == 2


def test_whoever_plays_in_python_demonstrates(tmp_path):
    _, shown = trained(tmp_path / "shown", set_=SHOWN, demonstrator=balance)
    _, random = trained(tmp_path / "random", set_=SHOWN, demonstrator="random")
    assert shown != random
    with pytest.raises(ValueError, match="has no scripted policy"):
        trained(tmp_path / "none", set_=SHOWN)
    with pytest.raises(ValueError, match="expected demonstrations above 0 in the recipe, found 0"):
        trained(tmp_path / "unused", set_=SHORT, demonstrator=balance)


def test_pong_of_the_arcade_learning_environment_looks_like_ours(monkeypatch):
    pytest.importorskip("ale_py", reason="ale-py is not installed")
    pytest.importorskip("cv2", reason="OpenCV is not installed")
    theirs = offnominal.collect("gymnasium:offnominal.atari:pong?horizon=40", PLAYER, episodes=2)
    ours = offnominal.collect("pong", "scripted", episodes=2)
    shapes = [episode.observations.shape for episode in (theirs[0], ours[0])]
    assert shapes[0] == (41, 4 * 84 * 84) and shapes[0][1] == shapes[1][1]
    images = [episode.observations[40].reshape(4, 84, 84)[-1] for episode in (theirs[0], ours[0])]
    # The field has the same place and nearly the same grey.
    fields = [image[20:70, 12:72] for image in images]
    assert abs(np.median(fields[0]) - np.median(fields[1])) < 6
    walls = [np.flatnonzero((image > 200).all(axis=1)) for image in images]
    assert walls[0].max() == walls[1].max() == 83 and abs(walls[0][0] - walls[1][0]) <= 1


def test_the_player_of_pong_wins():
    pytest.importorskip("ale_py", reason="ale-py is not installed")
    pytest.importorskip("cv2", reason="OpenCV is not installed")
    found = offnominal.evaluate("gymnasium:offnominal.atari:pong?horizon=500", PLAYER, episodes=2)
    # By then random choices have lost points and won none.
    assert found["return"]["value"] > 1, found["return"]
