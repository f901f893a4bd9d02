"""Many environments on Rust threads as a ``VecEnv`` of Stable-Baselines3, for learning in them.

::

    from offnominal.sb3 import Sb3Environments
    model = stable_baselines3.SAC("MlpPolicy", Sb3Environments(8, "sap-goal1")).learn(100_000)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from offnominal._tables import needed
from offnominal.vector import Environments

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv
else:
    VecEnv = needed("stable_baselines3.common.vec_env", "sb3", "Stable-Baselines3").VecEnv


class Sb3Environments(VecEnv):  # type: ignore[misc,unused-ignore]
    """Environments of one kind, reset in the step in which their episodes end.

    ``infos[i]`` then has ``terminal_observation``, ``TimeLimit.truncated``, ``end`` and, where the environment defines success,
    ``is_success``. The parameters are those of :class:`offnominal.Environments`.
    """

    def __init__(self, num_envs: int, environment: str, **given: Any) -> None:
        self._environments = Environments(num_envs, environment, autoreset_mode=AutoresetMode.SAME_STEP, **given)
        self._seed: int | None = None
        self._actions: Any = None
        super().__init__(num_envs, self._environments.single_observation_space, self._environments.single_action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Environment i begins with the seed ``seed + i`` at the next reset."""
        self._seed = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def reset(self) -> NDArray[Any]:
        """Begins an episode in every environment."""
        obs, _ = self._environments.reset(seed=self._seed)
        self._seed = None
        return obs

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keeps the commands for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Takes a step in every environment."""
        obs, rewards, terminated, truncated, infos = self._environments.step(self._actions)
        each: list[dict[str, Any]] = [{"label": bool(label)} for label in infos["label"]]
        dones = terminated | truncated
        for i in np.flatnonzero(dones):
            each[i] |= self._last(infos, int(i), bool(truncated[i]))
        return obs, rewards.astype(np.float32), dones, each

    @staticmethod
    def _last(infos: dict[str, Any], i: int, truncated: bool) -> dict[str, Any]:
        """What is known of an episode that ended."""
        final = infos["final_info"]
        known = {key: final[key][i] for key in ("end", "is_success") if key in final and final[f"_{key}"][i]}
        return {"terminal_observation": infos["final_obs"][i], "TimeLimit.truncated": truncated, **known}

    def close(self) -> None:
        """There is nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, the same for all environments."""
        return [getattr(self._environments, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Environments cannot be changed from outside; make others."""
        raise ValueError(f"{attr_name}: expected environments that are made with it, found an attempt to set it")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of all environments together."""
        return [getattr(self._environments, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """None is wrapped."""
        return [False] * len(self._chosen(indices))

    def _chosen(self, indices: int | Iterable[int] | None) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)
