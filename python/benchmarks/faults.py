"""What a fault costs in 1,024 simulators: CPU time of a step with it, in units of the step that it is around.

    python python/benchmarks/faults.py        # after `pip install . mujoco imageio`

Both times are of the same steps. Each figure is the mean over rounds with the interval of Student's t, 95 %.
"""

import statistics
import time
from typing import Any

import gymnasium
import numpy as np

import offnominal

N, ROUNDS, STEPS = 1024, 20, 10

#: The quantile .975 of Student's t with 19 degrees of freedom.
QUANTILE = 2.093

#: What is done, from the first step on.
FAULTS = {
    "obs-offset": {"anomaly": "obs-offset", "magnitude": 0.1, "onset": 0},
    "obs-noise": {"anomaly": "obs-noise", "magnitude": 0.1, "onset": 0},
    "obs-delay": {"anomaly": "obs-delay", "magnitude": 3, "onset": 0},
    "act-noise": {"anomaly": "act-noise", "magnitude": 0.1, "onset": 0},
}
SIMULATORS = {
    "Pendulum-v1, one by one": lambda: gymnasium.make_vec("Pendulum-v1", N, vectorization_mode="sync"),
    "HalfCheetah-v5, one by one": lambda: gymnasium.make_vec("HalfCheetah-v5", N, vectorization_mode="sync"),
    "sap-goal1, all at once": lambda: offnominal.Environments(N, "sap-goal1"),
    "CartPole-v1, all at once": lambda: gymnasium.make_vec("CartPole-v1", N, vectorization_mode="vector_entry_point"),
}


class Timed(gymnasium.vector.VectorWrapper[Any, Any, Any, Any, Any]):
    """Adds up the CPU time of steps."""

    secs = 0.0

    def step(self, actions: Any) -> Any:
        began = time.process_time()
        found = self.env.step(actions)
        self.secs += time.process_time() - began
        return found


def ratio(make: Any, fault: dict[str, Any]) -> tuple[float, float, float]:
    """The ratio with its interval, and microseconds of a step without the fault."""
    inner = Timed(make())
    outer = Timed(offnominal.AnomalousVector(inner, **fault))
    actions = inner.action_space.sample()
    outer.reset(seed=0)
    outer.step(actions)
    ratios, total = [], 0.0
    for _ in range(ROUNDS):
        inner.secs = outer.secs = 0.0
        for _ in range(STEPS):
            outer.step(actions)
        ratios.append(outer.secs / inner.secs)
        total += inner.secs
    half = QUANTILE * statistics.stdev(ratios) / ROUNDS**0.5
    return statistics.fmean(ratios), half, total / (ROUNDS * STEPS) * 1e6


def main() -> None:
    print("| simulators | fault | step without it, us | ratio |\n|---|---|---|---|")
    for name, make in SIMULATORS.items():
        for id, fault in FAULTS.items():
            try:
                value, half, step = ratio(make, fault)
            except (ValueError, gymnasium.error.DependencyNotInstalled) as why:
                print(f"| {name} | {id} | – | {str(why)[:60]} |", flush=True)
                continue
            print(f"| {name} | {id} | {step:.0f} | {value:.3f} [{value - half:.3f}, {value + half:.3f}] |", flush=True)


if __name__ == "__main__":
    np.random.seed(0)
    main()
