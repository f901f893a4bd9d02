"""What a step costs more where the engine hosts the environment and the policy than in a plain loop of Gymnasium.

    python python/benchmarks/hosted.py      # after `pip install . 'gymnasium[box2d,mujoco]' highway-env`, on an idle machine

Plain and hosted episodes alternate, round by round. A ratio or difference is the median over rounds, with the smallest and
the largest one in brackets; the last column tells how much faster two processes are than one.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import hosted_policies
import numpy as np

import offnominal

#: Environment, its policy, and episodes per round.
CASES = (
    ("CartPole-v1", "cartpole", 60),
    ("LunarLander-v3", "lander", 100),
    ("HalfCheetah-v5", "cheetah", 8),
    ("highway_env:highway-fast-v0", "driver", 1),
)


def plain(env: Any, policy: Callable[[Any], Any], episodes: int) -> tuple[float, int]:
    """Seconds and steps of episodes in a plain loop."""
    began, steps = time.perf_counter(), 0
    for seed in range(episodes):
        obs, _ = env.reset(seed=seed)
        over = False
        while not over:
            obs, _, terminated, truncated, _ = env.step(policy(obs))
            over, steps = terminated or truncated, steps + 1
    return time.perf_counter() - began, steps


def hosted(id: str, policy: str, episodes: int, jobs: int) -> tuple[float, int]:
    """Seconds and steps of episodes that the engine plays, in processes that are there already."""
    began = time.perf_counter()
    played: Any = offnominal.collect(f"gymnasium:{id}", policy, episodes=episodes, jobs=jobs)
    return time.perf_counter() - began, sum(len(episode.rewards) for episode in played)


def micros(measured: tuple[float, int]) -> float:
    """Microseconds per step."""
    secs, steps = measured
    return secs / steps * 1e6


def shown(numbers: list[float]) -> str:
    """Median, smallest and largest."""
    return f"{statistics.median(numbers):.2f} [{min(numbers):.2f}, {max(numbers):.2f}]"


def case(id: str, name: str, episodes: int, rounds: int) -> str:
    """The row of an environment."""
    env, here = gymnasium.make(id, disable_env_checker=True), Path(__file__).parent
    policy = f"hosted_policies:{name}?modules={here}"
    # The first episodes start the processes and tell what a step costs.
    for jobs in (1, 2):
        hosted(id, policy, 4, jobs)
    ours, theirs, both = [], [], []
    for _ in range(rounds):
        theirs.append(micros(plain(env, getattr(hosted_policies, name), episodes)))
        ours.append(micros(hosted(id, policy, episodes, 1)))
        both.append(micros(hosted(id, policy, 2 * episodes, 2)))
    ratios = [a / b for a, b in zip(ours, theirs)]
    more = [a - b for a, b in zip(ours, theirs)]
    twice = [a / b for a, b in zip(ours, both)]
    return f"| {id} | {statistics.median(theirs):.1f} | {shown(ratios)} | {shown(more)} | {shown(twice)} |"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--only", default="")
    given = words.parse_args()
    print("| environment | plain loop, µs per step | hosted, times as long | µs more | two processes, times as fast |")
    print("|---|---|---|---|---|")
    for id, name, episodes in CASES:
        if given.only in id:
            print(case(id, name, episodes, given.rounds), flush=True)


if __name__ == "__main__":
    np.random.seed(0)
    main()
