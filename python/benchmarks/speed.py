"""How fast the package steps environments and scores, beside the engine's own loops, Gymnasium and EnvPool.

    python python/benchmarks/speed.py        # after `pip install . mujoco envpool`, on a machine that does nothing else

Each figure is the best of several rounds of CPU time, of all threads together.
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


def engine(environment: str) -> int:
    """The engine's own loop, with random commands."""
    episodes: Any = offnominal.collect(environment, "random", episodes=20, jobs=1)
    return sum(len(episodes[i].rewards) for i in range(len(episodes)))


def single(environment: str) -> Callable[[], int]:
    """One environment, with one command again and again."""
    env = offnominal.Environment(environment, horizon=10**9)
    action = env.action_space.sample()
    env.reset(seed=0)

    def work() -> int:
        for _ in range(2000):
            if any(env.step(action)[2:4]):
                env.reset()
        return 2000

    return work


def many(env: Any, actions: Any = None) -> Callable[[], int]:
    """Many environments; the unit is a step of one of them."""
    env.reset()
    actions = env.action_space.sample() if actions is None else actions

    def work() -> int:
        for _ in range(300):
            env.step(actions)
        return 300 * N

    return work


def gymnasiums(id: str) -> Callable[[], int]:
    """Gymnasium's, one after the other."""
    return many(gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(id)] * N))


def envpools(id: str) -> Callable[[], int]:
    """EnvPool's, under the commands of one environment again and again."""
    import envpool

    env = envpool.make_gymnasium(id, num_envs=N, num_threads=2)
    return many(env, np.stack([env.action_space.sample()] * N))


def singles() -> None:
    print("environment                 engine's loop  single environment  (microseconds of CPU time per step)")
    for environment in ("sap-goal1", "pendulum", "mjc-half-cheetah"):
        alone, stepped = best(lambda: engine(environment)), best(single(environment))
        print(f"{environment:<20} {alone:>14.2f} {stepped:>19.2f}   +{stepped - alone:.2f}, x{stepped / alone:.2f}")


def vectors() -> None:
    print(f"\n{N} environments on 2 threads: CPU time per step of one, and how often theirs contains ours")
    for environment, ids in (
        ("cartpole", ("CartPole-v1", "CartPole-v1")),
        ("pendulum", ("Pendulum-v1", "Pendulum-v1")),
        ("mjc-half-cheetah", ("HalfCheetah-v5", "HalfCheetah-v4")),
    ):
        ours = {copy: best(many(offnominal.Environments(N, environment, num_threads=2, copy=copy))) for copy in (True, False)}
        print(f"{environment:<20} {ours[True]:>8.3f} us, {ours[False]:.3f} us with copy=False")
        for name, make, id in (("Gymnasium", gymnasiums, ids[0]), ("EnvPool", envpools, ids[1])):
            try:
                theirs = best(make(id))
            except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
                print(f"    {name:<16} skipped: {error}")
                continue
            print(f"    {name:<16} {theirs:>8.3f} us, x{theirs / ours[True]:.1f}, x{theirs / ours[False]:.1f}")


def scores() -> None:
    """What Python adds to a detector is what the detector `clock` costs, which computes nothing."""
    print("\ndetector             score of an episode          score of a step   (microseconds, share of it that is the engine's)")
    episodes: Any = offnominal.collect("sap-goal1", "tqc", episodes=60, seed=1)
    episode = episodes[0]
    step = (episode.observations[0], episode.actions[0], episode.observations[1])
    border: list[float] = []
    for id in ("clock", "knn", "isolation-forest", "mlp-dm", "pe-dm"):
        monitor = offnominal.detectors.ALL[id]().fit(episodes)
        times = [best(repeated(lambda: monitor.score(episode))), best(repeated(lambda: monitor.step(*step)))]
        border = border or times
        shares = [f"{t:>10.2f} us, x{t / max(t - b, 1e-9):<8.2f}" if t > b else f"{t:>10.2f} us           " for t, b in zip(times, border)]
        print(f"{id:<18} {shares[0]:>24} {shares[1]:>24}")


def repeated(call: Callable[[], Any]) -> Callable[[], int]:
    def work() -> int:
        for _ in range(200):
            call()
        return 200

    return work


def main() -> None:
    singles()
    vectors()
    scores()


if __name__ == "__main__":
    np.random.seed(0)
    main()
