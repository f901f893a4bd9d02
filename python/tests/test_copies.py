"""Environments that are given as objects: what is recorded, and whether copies of them are the same."""

import gymnasium
import numpy as np
import pytest

import offnominal


def rest(obs):
    return np.zeros(1, np.float32)


def learned():
    """Statistics of observations, as a training leaves them."""
    env = gymnasium.wrappers.NormalizeObservation(gymnasium.make("Pendulum-v1"))
    for seed in range(5):
        env.reset(seed=seed)
        env.action_space.seed(seed)
        for _ in range(100):
            env.step(env.action_space.sample())
    env.update_running_mean = False
    return env


def changed(name, value, id="Pendulum-v1"):
    env = gymnasium.make(id)
    setattr(env.unwrapped, name, value)
    return env


CHANGED = {
    "statistics": (learned, "observation"),
    "length": (lambda: changed("l", 3.0), "observation"),
    "torque": (lambda: changed("max_torque", 0.5), "observation|reward"),
    "end": (lambda: changed("theta_threshold_radians", 0.02, "CartPole-v1"), "terminated"),
}


@pytest.mark.parametrize("how", CHANGED)
def test_an_object_that_was_changed_is_not_replaced_by_a_copy(how, tmp_path):
    make, what = CHANGED[how]
    env = make()
    zero = (lambda obs: 0) if how == "end" else rest
    assert len(offnominal.collect(env, zero, episodes=1, seed=1)) == 1
    calls = [
        lambda: offnominal.collect(env, zero, episodes=2, anomaly="obs-noise", magnitude=0.1, onset=5),
        lambda: offnominal.evaluate(env, zero, episodes=2),
        lambda: offnominal.calibrate(env, policy=zero, out=tmp_path / "out"),
        lambda: offnominal.risk.estimate(env, zero, method="plain"),
        lambda: offnominal.bench(env=env, policy=zero, detectors=["knn"], out=tmp_path / "bench"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"what its specification makes.*found ({what})"):
            call()


def test_an_object_that_was_used_but_not_changed_is_copied():
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("Pendulum-v1"))
    env.reset(seed=3)
    env.step(env.action_space.sample())
    both = offnominal.collect(env, rest, episodes=1, seed=1, anomaly="obs-noise", magnitude=0.1, onset=5)
    twin = next(e for e in both if e.onset is None)
    obs, _ = env.reset(seed=int(twin.initial[0]))
    own = [obs, *(env.step(action)[0] for action in twin.actions)]
    assert np.allclose(own, twin.observations, atol=1e-5)


class Plant(gymnasium.Env):
    """Changes its state in place and returns it, as many do."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    copies = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.state = 0, self.np_random.normal(size=2).astype(np.float32)
        return self.seen(), {}

    def step(self, action):
        self.state += np.float32(0.05) * np.array([self.state[1], action[0]], np.float32)
        self.t += 1
        return self.seen(), 0.0, False, self.t >= 20, {}

    def seen(self):
        return self.state.copy() if self.copies else self.state


BUFFER = np.zeros(1, np.float32)


def reused(obs):
    """Writes into the same array in each step, and into the observation."""
    BUFFER[0] = np.clip(-obs[0] - obs[1], -1, 1)
    return BUFFER


def spoiling(obs):
    action = reused(obs).copy()
    obs[:] = 0
    return action


def test_what_is_written_anew_in_each_step_is_recorded_as_it_was():
    fresh = Plant()
    fresh.copies = True
    right = offnominal.collect(fresh, lambda obs: reused(obs).copy(), episodes=1, seed=1)[0]
    for env, policy in ((Plant(), reused), (fresh, spoiling)):
        found = offnominal.collect(env, policy, episodes=1, seed=1)[0]
        assert np.array_equal(found.observations, right.observations) and np.array_equal(found.actions, right.actions)
    assert len(np.unique(right.actions)) > 10


@pytest.mark.parametrize("choice", [2, -1, 0.5, [0, 1]])
@pytest.mark.parametrize("env", [lambda: gymnasium.make("CartPole-v1"), lambda: "gymnasium:CartPole-v1"], ids=["object", "id"])
def test_a_choice_that_there_is_not_is_refused(choice, env):
    with pytest.raises(ValueError, match="action"):
        offnominal.collect(env(), lambda obs: choice, episodes=1, seed=1)
