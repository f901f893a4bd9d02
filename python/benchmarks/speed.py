"""How fast the package steps worlds, as ratios to the engine's own loop and to Gymnasium.

    python python/benchmarks/speed.py        # after `pip install .`, on a machine that does nothing else

Each figure is the best of several rounds of CPU time.
"""

import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import offnominal

ROUNDS, N = 5, 64


def best(work: Callable[[], int]) -> float:
    """Microseconds of CPU time per unit of work."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        units = work()
        found.append((time.process_time() - began) / units * 1e6)
    return min(found)


def engine(world: str) -> int:
    """The engine's own loop, with random commands."""
    episodes: Any = offnominal.collect(world, "random", episodes=20, jobs=1)
    return sum(len(episodes[i].rewards) for i in range(len(episodes)))


def single(world: str) -> Callable[[], int]:
    """One environment, with one command again and again."""
    env = offnominal.World(world, horizon=10**9)
    action = env.action_space.sample()
    env.reset(seed=0)

    def work() -> int:
        for _ in range(2000):
            if any(env.step(action)[2:4]):
                env.reset()
        return 2000

    return work


def many(env: Any) -> Callable[[], int]:
    """Many environments; the unit is a step of one of them."""
    env.reset(seed=0)
    actions = env.action_space.sample()

    def work() -> int:
        for _ in range(300):
            env.step(actions)
        return 300 * N

    return work


def gymnasiums(id: str) -> Any:
    return gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(id)] * N)


def main() -> None:
    print("world                 engine's loop  single environment  (microseconds per step)")
    for world in ("sap-goal1", "pendulum", "mjc-half-cheetah"):
        alone, stepped = best(lambda: engine(world)), best(single(world))
        print(f"{world:<20} {alone:>14.2f} {stepped:>19.2f}   +{stepped - alone:.2f}, x{stepped / alone:.2f}")
    print(f"\n{N} environments, steps of one per CPU-second, as a multiple of Gymnasium's SyncVectorEnv")
    for world, id in (("cartpole", "CartPole-v1"), ("pendulum", "Pendulum-v1"), ("mjc-half-cheetah", "HalfCheetah-v5")):
        try:
            theirs = best(many(gymnasiums(id)))
        except gymnasium.error.DependencyNotInstalled as error:
            print(f"{world:<20} skipped: {error}")
            continue
        for copy in (True, False):
            ours = best(many(offnominal.Worlds(N, world, copy=copy)))
            print(f"{world:<20} copy={copy!s:<5} {theirs / ours:>8.1f}x   ({ours:.3f} against {theirs:.3f} us)")


if __name__ == "__main__":
    np.random.seed(0)
    main()
