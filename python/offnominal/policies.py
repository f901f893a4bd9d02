"""Policies: those of the engine by name, any callable, and models of Stable-Baselines3."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine
from offnominal.envs import world_id

#: What acts: a callable ``policy(obs) -> action``, or an object with ``predict(obs, deterministic=True)``.
Acting = Callable[[Any], Any] | Any


def policies() -> dict[str, str]:
    """Names of the policies that need no file, with one line about each."""
    return dict(_engine.policies())


class Policy:
    """A policy of the engine.

    :param env: id of the world in which it acts.
    :param name: its algorithm (``tqc``, shipped for that world), the id of a card, ``random``, or the path of a file.
    :raises ValueError: if there is none of that name; the nearest one is named.
    """

    def __init__(self, env: str, name: str = "tqc") -> None:
        self._engine = _engine.Policy(world_id(env), name)

    @property
    def name(self) -> str:
        """The name under which results list it."""
        return self._engine.name

    @property
    def env(self) -> str:
        """The world in which it acts."""
        return self._engine.env

    @property
    def card(self) -> dict[str, Any] | None:
        """How it was trained and how good it is; ``None`` where nothing is known."""
        found: dict[str, Any] | None = json.loads(self._engine.card())
        return found

    def reset(self, seed: int = 0) -> None:
        """Forgets the episode before. A policy that draws (``random``) draws what the engine would in the episode of a seed."""
        self._engine.reset(seed)

    def __call__(self, obs: NDArray[Any]) -> NDArray[np.float32]:
        """The command for an observation ``[o]``: float32 ``[a]``."""
        return self._engine.act(obs)

    def predict(
        self, observation: NDArray[Any], state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[NDArray[np.float32], Any]:
        """The same with the signature of Stable-Baselines3, for one observation or a batch of them."""
        rows = np.asarray(observation)
        if rows.ndim == 1:
            return self(rows), state
        return np.stack([self(row) for row in rows]), state


def named(policy: str | Acting, env: str | None = None) -> Callable[[Any], Any]:
    """A callable, whatever the policy was given as.

    :raises ValueError: if it is a name without a world, or nothing that acts.
    """
    if isinstance(policy, str):
        if env is None:
            raise ValueError(f"policy: expected a callable or a model for this environment, found the name {policy!r}")
        return Policy(env, policy)
    if isinstance(policy, Policy):
        return policy
    predict = getattr(policy, "predict", None)
    if callable(predict):
        return lambda obs: predict(obs, deterministic=True)[0]
    if callable(policy):
        return policy
    raise ValueError(f"policy: expected a name, a callable or a model with predict, found {type(policy).__name__}")
