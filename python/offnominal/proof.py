"""The proof that a fault reaches a policy: the same episodes with and without it, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from offnominal._libraries import as_numpy
from offnominal.anomalous_vector import AnomalousVector


@dataclass(frozen=True)
class Reach:
    """Whether a fault reaches what the policy reads."""

    #: What the fault was called.
    fault: str
    #: Environments whose episode lasted until the onset.
    begun: int
    #: Those of them in which the policy read something else than without the fault.
    reached: int
    #: Median steps from the onset until it did; ``None`` if it never did.
    delay: float | None

    @property
    def is_proved(self) -> bool:
        """Whether it reached the policy in every environment in which it began."""
        return 0 < self.begun == self.reached

    def __str__(self) -> str:
        if self.begun == 0:
            return f"{self.fault}: not shown: no episode lasted until the onset"
        delay = "" if self.delay is None else f", after {self.delay:g} steps"
        word = "reaches the policy" if self.is_proved else "DOES NOT reach the policy everywhere"
        return f"{self.fault}: {word}: in {self.reached} of {self.begun} environments{delay}"


def prove(
    make: Callable[[], VectorEnv[Any, Any, Any]],
    faults: Mapping[str, Mapping[str, Any]],
    *,
    around: Callable[[Any], Any] = lambda envs: envs,
    policy: Callable[[Any], Any] | None = None,
    steps: int = 200,
    seed: int = 0,
) -> list[Reach]:
    """Plays every fault beside the same episodes without it, under the same commands, and compares what a policy reads.

    A parameter that is set and not used, a wrapper that hides a fault, a channel that is constant, a magnitude that rounding
    swallows: each looks like a fault that nobody notices, and is none.

    :param make: makes the vector environment; it has to play the same episodes for the same seed.
    :param faults: the parameters of :class:`offnominal.AnomalousVector` of each fault, by any name.
    :param around: what stands between the fault and the policy, such as wrappers that normalise.
    :param policy: commands for observations; random ones of the action space, if not given. Both sides get the commands that
        belong to the observations without the fault.
    :param steps: how many, at most; of each environment only the first episode counts.
    :param seed: of the episodes and of random commands.
    :raises ValueError: if two runs of the same seed differ before the fault begins, as then nothing can be proved.
    """
    return [_proved(name, make, fault, around, policy, steps, seed) for name, fault in faults.items()]


def _proved(
    name: str,
    make: Callable[[], Any],
    fault: Mapping[str, Any],
    around: Callable[[Any], Any],
    policy: Callable[[Any], Any] | None,
    steps: int,
    seed: int,
) -> Reach:
    disturbed = AnomalousVector(make(), **fault)
    twin, faulty = around(make()), around(disturbed)
    try:
        return _compared(name, twin, faulty, disturbed, policy, steps, seed)
    finally:
        twin.close()
        faulty.close()


def _compared(
    name: str,
    twin: Any,
    faulty: Any,
    disturbed: AnomalousVector,
    policy: Callable[[Any], Any] | None,
    steps: int,
    seed: int,
) -> Reach:
    twin.action_space.seed(seed)
    (obs, _), (seen, _) = twin.reset(seed=seed), faulty.reset(seed=seed)
    found, mode = _Found(name, disturbed.onsets), disturbed.autoreset_mode
    running = np.ones(twin.num_envs, np.bool_)
    found.note(0, running, obs, seen)
    for step in range(1, steps + 1):
        actions = twin.action_space.sample() if policy is None else policy(obs)
        obs, _, *ends = twin.step(actions)
        seen, _, *others = faulty.step(actions)
        over = np.asarray(ends[0] | ends[1] | others[0] | others[1])
        # Where the same step begins the next episode, the last observation is not that of the policy.
        found.note(step, running & ~over if mode == AutoresetMode.SAME_STEP else running, obs, seen)
        running &= ~over
        if not running.any():
            break
        if mode == AutoresetMode.DISABLED and over.any():
            (obs, _), (seen, _) = (envs.reset(options={"reset_mask": over.copy()}) for envs in (twin, faulty))
    return found.reach()


class _Found:
    """Where two runs differ."""

    def __init__(self, name: str, onsets: NDArray[np.int64]) -> None:
        self.name, self.onsets = name, onsets.copy()
        self.first = np.full(len(onsets), -1)
        self.lasted = np.zeros(len(onsets), np.int64)

    def note(self, step: int, running: NDArray[np.bool_], obs: Any, seen: Any) -> None:
        """Compares the observations after so many steps."""
        self.lasted[running] = step
        differs = _differs(obs, seen) & running
        early = np.flatnonzero(differs & (step <= self.onsets))
        if early.size:
            raise ValueError(
                f"{self.name}: expected the same episode for the same seed, found environment {early[0]} different after "
                f"{step} steps, and the fault begins with step {self.onsets[early[0]]}; nothing can be proved of it"
            )
        self.first[differs & (self.first < 0)] = step

    def reach(self) -> Reach:
        """What came of it."""
        begun = self.lasted > self.onsets
        reached = begun & (self.first > 0)
        delays = (self.first - self.onsets - 1)[reached]
        delay = float(np.median(delays)) if delays.size else None
        return Reach(self.name, int(begun.sum()), int(reached.sum()), delay)


def _differs(obs: Any, seen: Any) -> NDArray[np.bool_]:
    """In which environments any number of the observations is another one."""
    one, other = as_numpy(obs), as_numpy(seen)
    same = (one == other) | ((one != one) & (other != other))
    differs: NDArray[np.bool_] = ~same.reshape(len(one), -1).all(axis=1)
    return differs
