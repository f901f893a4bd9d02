"""A fault in each of many environments: what one environment alone has, in every one of them."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import NormalizeObservation

import offnominal
from offnominal import Anomalous, AnomalousVector
from offnominal.faults import Faults
from offnominal.proof import prove

N, STEPS = 3, 60


class Walk(gymnasium.Env):
    """A walk of two numbers, of any type, that ends after some steps; ``push`` is a parameter."""

    PARAMETERS = {"push": (0.0, -5.0, 5.0)}
    action_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)

    def __init__(self, dtype=np.float32, length=12):
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), dtype)
        self.length, self.push = length, 0.0

    def set_parameter(self, name, value):
        assert name == "push"
        self.push = value

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.t = self.np_random.normal(100, 1, 2), 0
        return self.at.astype(self.observation_space.dtype), {}

    def step(self, action):
        self.at = self.at + action + self.push + self.np_random.normal(0, 0.1, 2)
        self.t += 1
        return self.at.astype(self.observation_space.dtype), float(self.at[0]), self.t >= self.length, False, {}


class Heavy(Walk):
    """Another parameter."""

    PARAMETERS = {"mass": (1.0, 0.5, 2.0)}


def commands(env, n=STEPS):
    env.action_space.seed(1)
    return [env.action_space.sample() for _ in range(n)]


def alone(make, fault, i, actions):
    """What the environment ``i`` is seen to do, by itself: observations with whether the fault was active."""
    env = Anomalous(make(), **fault)
    rows = [(env.reset(seed=7 + i)[0], False)]
    over = False
    for action in actions:
        if over:
            rows.append((env.reset()[0], False))
            over = False
            continue
        obs, _, terminated, truncated, info = env.step(action[i])
        rows.append((obs, info["label"]))
        over = terminated or truncated
    return rows


FAULTS = {
    "noise": {"anomaly": "obs-noise", "magnitude": 0.3, "onset": 3},
    "random onset": {"anomaly": "obs-drift", "magnitude": 0.3, "horizon": 12},
    "command": {"anomaly": "act-offset", "magnitude": 0.4, "onset": 2, "window": 4},
    "delay": {"anomaly": "obs-delay", "magnitude": 2, "onset": 4},
    "one channel": {"anomaly": "obs-stuck", "magnitude": 1, "channels": "one", "onset": 2, "intermittent": (2, 3)},
    "parameter": {"anomaly": "dyn-push", "magnitude": 1.5, "onset": 5},
    "two at once": {"anomaly": "obs-offset=0.5+act-noise=0.2", "onset": 3},
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_each_environment_has_the_bits_of_the_fault_alone(fault, dtype):
    def make():
        return Walk(dtype)

    envs = AnomalousVector(SyncVectorEnv([make] * N), **fault)
    actions = commands(envs)
    rows = [(envs.reset(seed=7)[0], np.zeros(N, np.bool_))]
    for action in actions:
        obs, _, _, _, info = envs.step(action)
        rows.append((obs, info["label"]))
    for i in range(N):
        want = alone(make, fault, i, actions)
        assert len(want) == len(rows)
        for (obs, labels), (own, label) in zip(rows, want):
            assert np.array_equal(obs[i], own) and labels[i] == label
    assert any(labels.any() for _, labels in rows)


def test_the_last_observation_of_an_episode_that_the_same_step_follows_is_disturbed():
    def play(mode):
        envs = SyncVectorEnv([Walk] * N, autoreset_mode=mode)
        envs = AnomalousVector(envs, "obs-offset", 50.0, onset=4)
        envs.reset(seed=7)
        for action in commands(envs, 12):
            obs, *_, info = envs.step(action)
        return obs, info

    obs, info = play(AutoresetMode.SAME_STEP)
    last, _ = play(AutoresetMode.NEXT_STEP)
    assert np.array_equal(np.stack(list(info["final_obs"])), last) and info["label"].all()
    assert (last > 130).all() and (obs < 130).all()


def test_environments_that_are_reset_by_hand():
    envs = SyncVectorEnv([lambda: Walk(length=3), Walk], autoreset_mode=AutoresetMode.DISABLED)
    envs = AnomalousVector(envs, "obs-offset", 50.0, onset=[1, 2])
    obs, info = envs.reset(seed=0)
    assert info["onset"].tolist() == [1, 2]
    seen = []
    for _ in range(3):
        obs, _, terminated, _, info = envs.step(np.zeros((2, 2), np.float32))
        seen.append(info["label"].tolist())
    assert seen == [[False, False], [True, False], [True, True]] and terminated.tolist() == [True, False]
    obs, _ = envs.reset(options={"reset_mask": terminated})
    assert (obs[0] < 130).all()
    obs, *_, info = envs.step(np.zeros((2, 2), np.float32))
    assert info["label"].tolist() == [False, True] and (obs[1] > 130).all()


def test_a_parameter_is_set_back_before_the_next_episode():
    envs = SyncVectorEnv([Walk] * N)
    envs = AnomalousVector(envs, "dyn-push", 2.0, onset=[3, 11, 5])
    envs.reset(seed=0)
    pushed = []
    for action in commands(envs, 14):
        envs.step(action)
        pushed.append([env.push for env in envs.unwrapped.envs])
    assert [sum(row[i] == 2.0 for row in pushed) for i in range(N)] == [8, 0, 6]


def test_what_is_wrong_is_named():
    envs = SyncVectorEnv([Walk] * N)
    with pytest.raises(ValueError, match="onset: expected 3 steps before 100, found"):
        AnomalousVector(envs, "obs-noise", 1.0, onset=[1, 2], horizon=100)
    with pytest.raises(ValueError, match="expected setter and parameters together"):
        AnomalousVector(envs, "dyn-push", 1.0, setter=lambda *_: None)
    with pytest.raises(ValueError, match=r"found \[1.5, 2.0, 3.0\] \(whole numbers are needed\)"):
        AnomalousVector(envs, "obs-noise", 1.0, onset=[1.5, 2, 3], horizon=100)
    mixed = SyncVectorEnv([Walk, Heavy])
    with pytest.raises(ValueError, match="those of environment 0 in each, push, found mass in environment 1"):
        AnomalousVector(mixed, "dyn-push", 1.0, onset=1)
    envs.metadata = {}
    with pytest.warns(UserWarning, match="NEXT_STEP is assumed"):
        AnomalousVector(envs, "obs-noise", 1.0, onset=0)
    with pytest.raises(ValueError, match="dyn-pull"):
        AnomalousVector(envs, "dyn-pull", 1.0, horizon=100)
    envs = SyncVectorEnv([Walk] * N)
    with pytest.raises(ValueError, match=r"expected reset\(\) before step\(\)"):
        AnomalousVector(envs, "obs-noise", 1.0, onset=0).step(envs.action_space.sample())


def test_a_number_that_is_not_finite_ends_the_disturbance_and_is_said():
    class Breaking(Walk):
        def step(self, action):
            obs, *rest = super().step(action)
            return (np.full(2, np.nan, np.float32) if self.t == 4 else obs), *rest

    envs = AnomalousVector(SyncVectorEnv([Walk, Breaking]), "obs-offset", 50.0, onset=0)
    envs.reset(seed=0)
    for action in commands(envs, 6):
        obs, *_, info = envs.step(action)
    assert info["diverged"][0] is None and "NaN" in info["diverged"][1] and info["_diverged"].tolist() == [False, True]
    assert info["label"].tolist() == [True, False]


def test_a_copy_begins_with_reset():
    faults = Faults(2, Walk().observation_space, Walk.action_space, "obs-noise", 0.1, horizon=10)
    for again in (copy.deepcopy(faults), pickle.loads(pickle.dumps(faults))):
        with pytest.raises(ValueError, match=r"expected begin\(\) before act\(\) in simulator 0"):
            again.act(np.zeros((2, 2), np.float32))
        assert again.anomaly_spec == faults.anomaly_spec


def test_arrays_of_other_libraries():
    xp = pytest.importorskip("array_api_strict")
    space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    faults = Faults(4, space, space, "obs-offset=1+act-scaling=2", horizon=10, onset=[0, 0, 5, 5])
    numbers = xp.asarray(np.arange(8, dtype=np.float32).reshape(4, 2))
    faults.begin(numbers)
    actions, obs = faults.act(numbers), faults.see(numbers, xp.zeros(4, dtype=xp.float64))
    assert type(actions) is type(obs) is type(numbers) and obs.dtype == xp.float32
    plain = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert np.array_equal(np.asarray(obs), plain + np.array([[1], [1], [0], [0]]))
    assert np.array_equal(np.asarray(actions), plain * np.array([[2], [2], [1], [1]]))
    with pytest.raises(ValueError, match="expected an array of NumPy, PyTorch or the array API standard, found list"):
        faults.act(plain.tolist())


# The proof that a fault reaches the policy.


def test_what_reaches_the_policy_is_proved():
    faults = {name: {**fault, "horizon": 12} for name, fault in FAULTS.items()}
    found = prove(lambda: SyncVectorEnv([Walk] * 8), faults, steps=12)
    assert [reach.fault for reach in found if not reach.is_proved] == []
    assert all(reach.begun == 8 for reach in found)
    # A parameter and a command are seen in the observation after the step.
    assert {reach.fault: reach.delay for reach in found}["parameter"] == 0
    assert str(found[0]) == "noise: reaches the policy: in 8 of 8 environments, after 0 steps"


class Deaf(Walk):
    """The setter does not set."""

    def set_parameter(self, name, value):
        pass


class Copying(Walk):
    """The parameter is read when an episode begins, and never again."""

    def reset(self, **more):
        self.kept = self.push
        return super().reset(**more)

    def step(self, action):
        self.push, now = self.kept, self.push
        found = super().step(action)
        self.push = now
        return found


class Restoring(Walk):
    """Each step begins with the nominal value."""

    def step(self, action):
        self.push = 0.0
        return super().step(action)


class Misspelt(Walk):
    """Another attribute is set."""

    def set_parameter(self, name, value):
        self.pusch = value


class Rounded(Walk):
    """The value is rounded to a whole number."""

    def set_parameter(self, name, value):
        self.push = float(round(value))


class Clipped(Walk):
    """The value is clipped to a range that holds only the nominal one."""

    def set_parameter(self, name, value):
        self.push = min(value, 0.0)


class Idle(Walk):
    """Commands do nothing."""

    def step(self, action):
        return super().step(np.zeros(2))


class Still(Walk):
    """Nothing moves, so nothing can be late or stuck."""

    def step(self, action):
        self.t += 1
        return np.full(2, 100, np.float32), 0.0, self.t >= self.length, False, {}

    def reset(self, **more):
        super().reset(**more)
        return np.full(2, 100, np.float32), {}


class Zero(Still):
    """A channel that is zero is not scaled."""

    def step(self, action):
        return np.zeros(2, np.float32), *super().step(action)[1:]

    def reset(self, **more):
        super().reset(**more)
        return np.zeros(2, np.float32), {}


class Coarse(gymnasium.vector.VectorObservationWrapper):
    """Rounds to hundreds, which swallows a small fault."""

    def observations(self, obs):
        return np.round(obs, -2)


class Blind(gymnasium.vector.VectorObservationWrapper):
    """Shows the policy nothing but the time."""

    def observations(self, obs):
        return np.zeros_like(obs)


class Truth(gymnasium.vector.VectorObservationWrapper):
    """Reads the state itself, past the fault."""

    def observations(self, obs):
        return np.stack([env.unwrapped.at for env in self.env.unwrapped.envs])


class First(gymnasium.vector.VectorObservationWrapper):
    """Shows the first channel only."""

    def observations(self, obs):
        return obs[:, :1]


class Saturated(gymnasium.vector.VectorObservationWrapper):
    """Clips to a range."""

    def observations(self, obs):
        return np.clip(obs, -1, 1)


PUSH = {"anomaly": "dyn-push", "magnitude": 0.4, "onset": 3}
#: Twenty faults that are none, each where a fault can be lost.
NONE = {
    "the setter does nothing": (Deaf, PUSH, None),
    "the parameter is read once": (Copying, PUSH, None),
    "the parameter is restored": (Restoring, PUSH, None),
    "another attribute is set": (Misspelt, PUSH, None),
    "the value is rounded": (Rounded, PUSH, None),
    "the value is clipped": (Clipped, PUSH, None),
    "the parameter is at its nominal value": (Walk, {**PUSH, "magnitude": 0.0}, None),
    "commands do nothing": (Idle, {"anomaly": "act-offset", "magnitude": 0.5, "onset": 3}, None),
    "commands are late and do nothing": (Idle, {"anomaly": "act-delay", "magnitude": 3, "onset": 3}, None),
    "an offset of zero": (Walk, {"anomaly": "obs-offset", "magnitude": 0.0, "onset": 3}, None),
    "a scale of one": (Walk, {"anomaly": "obs-scaling", "magnitude": 1.0, "onset": 3}, None),
    "an offset below single precision": (Walk, {"anomaly": "obs-offset", "magnitude": 1e-9, "onset": 3}, None),
    "a constant is late": (Still, {"anomaly": "obs-delay", "magnitude": 3, "onset": 3}, None),
    "a constant is stuck": (Still, {"anomaly": "obs-stuck", "magnitude": 1, "onset": 3}, None),
    "zero is scaled": (Zero, {"anomaly": "obs-scaling", "magnitude": 3.0, "onset": 3}, None),
    "rounding swallows it": (Walk, {"anomaly": "obs-offset", "magnitude": 0.01, "onset": 3}, Coarse),
    "the policy is blind": (Walk, {"anomaly": "obs-noise", "magnitude": 9.0, "onset": 3}, Blind),
    "the truth is read past it": (Walk, {"anomaly": "obs-offset", "magnitude": 9.0, "onset": 3}, Truth),
    "the channel is not shown": (
        Walk, {"anomaly": "obs-offset", "magnitude": 9.0, "onset": 3, "channels": [1]}, First,
    ),
    "the observation is clipped": (Walk, {"anomaly": "obs-offset", "magnitude": 9.0, "onset": 3}, Saturated),
}  # fmt: skip


@pytest.mark.parametrize("case", NONE.values(), ids=NONE)
def test_a_fault_that_does_not_reach_the_policy_is_found(case):
    kind, fault, around = case
    (found,) = prove(lambda: SyncVectorEnv([kind] * 4), {"f": fault}, around=around or (lambda e: e), steps=12)
    assert not found.is_proved and found.begun == 4 and "DOES NOT reach" in str(found), found


def test_a_fault_that_never_begins_is_not_taken_for_one_that_does_nothing():
    (found,) = prove(lambda: SyncVectorEnv([Walk] * 2), {"late": {**FAULTS["noise"], "onset": 12}}, steps=40)
    assert found.begun == 0 and "no episode lasted until the onset" in str(found)


def test_episodes_that_do_not_repeat_prove_nothing():
    class Fresh(Walk):
        def step(self, action):
            return super().step(action + np.random.default_rng().normal(size=2))

    with pytest.raises(ValueError, match="expected the same episode for the same seed"):
        prove(lambda: SyncVectorEnv([Fresh] * 2), {"noise": FAULTS["noise"]}, steps=12)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_proof_knows_every_way_to_begin_anew(mode):
    def make():
        return SyncVectorEnv([Walk, lambda: Walk(length=5)], autoreset_mode=mode)

    (found,) = prove(make, {"noise": FAULTS["noise"]}, steps=40)
    assert found.begun == found.reached == 2


def test_around_the_environments_of_ours():
    """The fault around them is the fault inside them, where the parameter is the engine's own."""
    inside = offnominal.Environments(2, "sap-goal1", anomaly="obs-offset", magnitude=0.3, onset=3)
    around = AnomalousVector(offnominal.Environments(2, "sap-goal1"), "obs-offset", 0.3, onset=3)
    (a, _), (b, _) = inside.reset(seed=5), around.reset(seed=5)
    assert np.array_equal(a, b)
    for action in commands(inside, 30):
        a, *_ = inside.step(action)
        b, *_ = around.step(action)
        assert np.array_equal(a, b)
    assert isinstance(NormalizeObservation(around).reset(seed=1)[0], np.ndarray)
