"""Steps that a process plays ahead are those of a plain loop, whoever raises in them, and whatever is anomalous after them."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import offnominal

pytest.importorskip("fcntl", reason="hosted environments need Unix sockets")

LAB = '''"""Policies that remember, tire and lose their way."""
import numpy as np


class Remembering:
    """Its commands depend on how often it was asked, and on what it was shown."""

    def reset(self):
        self.asked, self.sum = 0, np.float32(0)

    def __call__(self, obs):
        self.asked, self.sum = self.asked + 1, np.float32(0.9 * self.sum + obs[0])
        return int((self.asked // 3 + (self.sum > 0)) % 2)


class Tired(Remembering):
    """It gives up late in its life, in the middle of an episode."""

    life = 0

    def __call__(self, obs):
        self.life += 1
        if self.life == 250:
            raise RuntimeError("tired")
        return super().__call__(obs)


class Lost(Tired):
    """As late it gives a command that is none."""

    def __call__(self, obs):
        self.life += 1
        return float("nan") if self.life == 250 else Remembering.__call__(self, obs)


def worn():
    """A cart whose rope tears late in its life, in the middle of an episode."""
    import gymnasium

    class Worn(gymnasium.Wrapper):
        steps = 0

        def step(self, action):
            self.steps += 1
            if self.steps == 250:
                raise RuntimeError("the rope tore")
            return super().step(action)

    return Worn(gymnasium.make("CartPole-v1"))


def slowing():
    """A cart that is simulated slowly late in its life."""
    import time

    import gymnasium

    class Slowing(gymnasium.Wrapper):
        steps = 0

        def step(self, action):
            self.steps += 1
            if 250 < self.steps <= 270:
                time.sleep(0.3)
            return super().step(action)

    return Slowing(gymnasium.make("CartPole-v1"))
'''

#: So many episodes that answers are known to be cheap long before the last one.
EPISODES = 12


@pytest.fixture
def lab(tmp_path: Path) -> str:
    (tmp_path / "ahead_lab.py").write_text(LAB)
    return f"modules={tmp_path}"


def plain(seed: int, policy: object) -> tuple[list[np.ndarray], list[float]]:
    """Observations and rewards of an episode of CartPole."""
    env = gymnasium.make("CartPole-v1")
    obs, _ = env.reset(seed=seed)
    policy.reset()
    seen, rewards, over = [obs], [], False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(policy(obs))
        seen, rewards, over = [*seen, obs], [*rewards, reward], terminated or truncated
    return seen, rewards


def test_episodes_are_those_of_a_plain_loop(lab: str) -> None:
    own: dict = {}
    exec(LAB, own)
    collected = offnominal.collect(
        "gymnasium:CartPole-v1", f"ahead_lab:Remembering?{lab}", episodes=EPISODES, seed=3, jobs=1
    )
    assert len(collected) == EPISODES
    for episode in collected:
        seen, rewards = plain(int(episode.initial[0]), own["Remembering"]())
        np.testing.assert_array_equal(episode.observations, np.array(seen))
        np.testing.assert_array_equal(episode.rewards, rewards)


def test_an_anomaly_begins_where_it_would_without(lab: str) -> None:
    own: dict = {}
    exec(LAB, own)
    pairs = offnominal.collect(
        "gymnasium:CartPole-v1",
        f"ahead_lab:Remembering?{lab}",
        anomaly="obs-offset",
        magnitude=0.1,
        onset=7,
        episodes=EPISODES,
        seed=3,
        jobs=1,
    )
    disturbed = [episode for episode in pairs if episode.onset is not None]
    assert len(disturbed) == EPISODES
    for episode in disturbed:
        seen, _ = plain(int(episode.initial[0]), own["Remembering"]())
        np.testing.assert_array_equal(episode.observations[:8], np.array(seen)[:8])
        assert not np.array_equal(episode.observations[8], seen[8])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_policy_that_raises_is_named(lab: str, jobs: int) -> None:
    with pytest.raises(ValueError, match=r"policy ahead_lab:Tired.*RuntimeError: tired \(.*ahead_lab.py:\d+ in __call__\)"):
        offnominal.evaluate("gymnasium:CartPole-v1", f"ahead_lab:Tired?{lab}", episodes=60, jobs=jobs)


def test_an_environment_that_raises_is_named(lab: str) -> None:
    with pytest.raises(ValueError, match=r"environment gymnasium:ahead_lab:worn.*RuntimeError: the rope tore"):
        offnominal.evaluate(f"gymnasium:ahead_lab:worn?{lab}", f"ahead_lab:Remembering?{lab}", episodes=60, jobs=1)


def test_no_part_of_what_was_asked_for_is_given_as_the_whole(lab: str) -> None:
    with pytest.raises(ValueError, match=r"environment gymnasium:ahead_lab:worn.*RuntimeError: the rope tore"):
        offnominal.collect(f"gymnasium:ahead_lab:worn?{lab}", f"ahead_lab:Remembering?{lab}", episodes=60, jobs=1)


def test_a_command_that_is_none_ends_its_episode(lab: str) -> None:
    episodes = offnominal.collect("gymnasium:CartPole-v1", f"ahead_lab:Lost?{lab}", episodes=30, seed=1, jobs=1)
    lost = [episode for episode in episodes if episode.end == "diverged"]
    assert len(lost) == 1 and len(episodes) == 30


def test_steps_that_become_slow_have_their_time_one_by_one(lab: str) -> None:
    env = f"gymnasium:ahead_lab:slowing?{lab}&timeout=3"
    found = offnominal.evaluate(env, f"ahead_lab:Remembering?{lab}", episodes=40, jobs=1)
    assert found["episodes"] == 40
