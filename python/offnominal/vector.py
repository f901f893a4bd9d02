"""Many environments of one kind, stepped together on Rust threads: a Gymnasium vector environment.

``gymnasium.make_vec("offnominal/SapGoal1-v0", num_envs=64)`` makes one.
Environment ``i`` of ``reset(seed=s)`` plays, bit for bit, the episodes of a single environment with the seed ``s + i``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._anomaly_spec import Channels, Onset, wanted
from offnominal._json import as_json
from offnominal.envs import action_space, environment_id, observation_space


class Environments(VectorEnv[NDArray[Any], Any, NDArray[Any]]):
    """Environments of one kind.

    :param num_envs: how many.
    :param num_threads: threads that step them; 0 for all cores.
    :param autoreset_mode: what happens when an episode is over, in Gymnasium's words.
    :param copy: whether each step's observations are an array of their own; if not, one array is written again and again.

    The other parameters are those of :class:`offnominal.Environment`.
    """

    def __init__(
        self,
        num_envs: int,
        environment: str,
        *,
        anomaly: str | None = None,
        magnitude: float | None = None,
        strength: str | None = None,
        policy: str = "tqc",
        channels: Channels | None = None,
        onset: Onset = "random",
        window: int | None = None,
        intermittent: tuple[int, int] | None = None,
        horizon: int | None = None,
        max_episode_steps: int | None = None,
        options: dict[str, Any] | None = None,
        num_threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode: expected none, as many environments are not drawn, found {render_mode!r}")
        anomaly_spec = wanted(
            {
                "anomaly": anomaly,
                "magnitude": magnitude,
                "strength": strength,
                "policy": policy,
                "channels": channels,
                "onset": onset,
                "window": window,
                "intermittent": intermittent,
            }
        )
        mode = AutoresetMode(autoreset_mode)
        environment, asked, steps = environment_id(environment), as_json(options or {}), max_episode_steps or horizon
        one = _engine.Environment(environment, asked, anomaly_spec, steps)
        self._pool = _engine.Pool(environment, num_envs, asked, anomaly_spec, steps, mode.value, num_threads, copy)
        self.environment: dict[str, Any] = json.loads(one.spec())
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": mode, "render_fps": max(1, round(1 / self.environment["dt_secs"]))}
        self.single_observation_space = observation_space(self.environment, one.disturbs_observations())
        self.single_action_space = action_space(self.environment)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = None
        self._is_seeded = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begins episodes in all environments, or in those of ``options["reset_mask"]``."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        obs = self._pool.start(self._seeds(seed), self._mask(options))
        return obs, {}

    def step(
        self, actions: Any
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Takes a step in every environment."""
        return self._pool.step(actions)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**62))
        self._is_seeded = True
        if seed is None:
            return [None] * self.num_envs
        seeds: list[int | None] = (
            [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else list(seed)
        )
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: expected {self.num_envs} seeds, found {len(seeds)}")
        return seeds

    def _mask(self, options: dict[str, Any] | None) -> list[bool]:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return [True] * self.num_envs
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask: expected {self.num_envs} booleans of which one is true, "
                f"found {mask.dtype} of shape {mask.shape}"
            )
        flags: list[bool] = mask.tolist()
        return flags
