"""Policies: those of the engine by name, any callable, and models of Stable-Baselines3."""

from __future__ import annotations

import inspect
import io
import json
import os
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._tables import facts, flat
from offnominal.envs import environment_id

#: What acts: a callable ``policy(obs) -> action``, or an object with ``predict(obs, deterministic=True)``.
Acting = Callable[[Any], Any] | Any


def policies() -> dict[str, str]:
    """Names of the policies that need no file, with one line about each."""
    return dict(_engine.policies())


class Policy:
    """A policy of the engine.

    :param env: id of the environment in which it acts.
    :param name: its algorithm (``tqc``, shipped for that environment), the id of a card, ``random``, the path of a file of
        this program or another library (``model.zip?stack=4``), or ``command:COMMAND``.
    :raises ValueError: if there is none of that name; the nearest one is named.
    """

    def __init__(self, env: str, name: str = "tqc") -> None:
        self._engine = _engine.Policy(environment_id(env), name)
        self._made: tuple[Any, ...] = (Policy, env, name)

    @classmethod
    def from_sb3(cls, model: Any, normalize: Any = None, env: str | None = None, *, stack: int = 1) -> Policy:
        """The deterministic policy of a model of Stable-Baselines3 or sb3-contrib.

        Neither Stable-Baselines3 nor PyTorch is needed to read a file, and nothing in it is executed.

        :param model: the path of what ``model.save`` wrote, its bytes, or the model itself.
        :param normalize: the path of what ``VecNormalize.save`` wrote, its bytes, or the ``VecNormalize`` itself; a model
            brings its own.
        :param env: id of the environment in which it is to act; without one it acts on what it was trained on.
        :param stack: frames that ``VecFrameStack`` stacked; it acts on single ones and stacks them itself.
        :raises ValueError: if the file names anything but arrays, spaces and statistics, is damaged, or holds another kind
            of policy; if the environment has other channels or bounds.
        """
        if normalize is None and hasattr(model, "get_vec_normalize_env"):
            normalize = model.get_vec_normalize_env()
        own = cls.__new__(cls)
        statistics = None if normalize is None else _bytes(normalize, "normalize")
        content = _bytes(model, "model")
        own._engine = _engine.Policy.from_sb3(content, statistics, env and environment_id(env), stack)
        own._made = (partial(Policy.from_sb3, stack=stack), content, statistics, env)
        return own

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it was made of; a file by its path."""
        made, *arguments = self._made
        return made, tuple(arguments)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy as a file that every command takes as ``--policy PATH``, with its card beside it if it has one.

        :raises ValueError: if it has no file, as ``random`` has none.
        """
        self._engine.save(os.fspath(path))

    def __repr__(self) -> str:
        return f"<Policy {self.name} in {self.env}>"

    def _repr_html_(self) -> str:
        return facts("Policy", {"environment": self.env, "name": self.name, **flat(self.card or {}), "digest": self.digest})

    @property
    def name(self) -> str:
        """The name under which results list it."""
        return self._engine.name

    @property
    def env(self) -> str:
        """The environment in which it acts."""
        return self._engine.env

    @property
    def digest(self) -> str:
        """What tells its file from others."""
        return self._engine.digest

    @property
    def card(self) -> dict[str, Any] | None:
        """How it was trained and how good it is; ``None`` where nothing is known."""
        found: dict[str, Any] | None = json.loads(self._engine.card())
        return found

    def reset(self, seed: int = 0) -> None:
        """Forgets the episode before. A policy that draws (``random``) draws what the engine would in the episode of a seed."""
        self._engine.reset(seed)

    def __call__(self, obs: NDArray[Any]) -> Any:
        """The command for an observation ``[o]``: float32 ``[a]``, the number of a choice, or int64 ``[a]`` of several choices."""
        action = self._engine.act(obs)
        if not self._engine.is_choice:
            return action
        return int(action[0]) if len(action) == 1 else action.astype(np.int64)

    def predict(
        self, observation: NDArray[Any], state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[NDArray[Any], Any]:
        """The same with the signature of Stable-Baselines3, for one observation or a batch of them."""
        rows = np.asarray(observation)
        if rows.ndim == 1:
            return np.asarray(self(rows)), state
        return np.stack([self(row) for row in rows]), state


def _bytes(thing: Any, what: str) -> bytes:
    """The content of a file, or what saving an object would write."""
    if isinstance(thing, (bytes, bytearray)):
        return bytes(thing)
    if isinstance(thing, (str, os.PathLike)):
        return Path(thing).read_bytes()
    if what == "normalize" and hasattr(thing, "obs_rms"):
        return pickle.dumps(thing)
    if what == "model" and hasattr(thing, "save") and hasattr(thing, "policy"):
        buffer = io.BytesIO()
        thing.save(buffer)
        return buffer.getvalue()
    raise ValueError(f"{what}: expected a path, bytes, or an object of Stable-Baselines3, found {type(thing).__name__}")


class _Predicting:
    """A model with ``predict``; the state that it returns is its memory, which it gets back in the next step.

    The same as ``Predicting`` of processes that host policies. Copies share the model, but not the memory.
    """

    def __init__(self, predict: Callable[..., Any]) -> None:
        self._predict = predict
        self._takes_state, self._takes_start = (_takes(predict, name) for name in ("state", "episode_start"))
        self.reset()

    def reset(self) -> None:
        """An episode begins."""
        self._state: Any = None
        self._is_first = True

    def __deepcopy__(self, _: Any) -> _Predicting:
        return _Predicting(self._predict)

    def __call__(self, obs: Any) -> Any:
        start = {"episode_start": np.array([self._is_first])} if self._takes_start else {}
        given = {} if self._state is None else {"state": self._state, **start}
        found = self._predict(obs, deterministic=True, **given)
        self._is_first = False
        self._state = self._kept(found[1]) if isinstance(found, tuple) and len(found) > 1 else None
        return found[0]

    def _kept(self, state: Any) -> Any:
        """The state, if there is any."""
        if state is None or (isinstance(state, (dict, list, tuple)) and not state):
            return None
        if not self._takes_state:
            raise ValueError(
                "policy: expected predict to take the state that it returns, as predict(obs, state=None, episode_start=None, "
                f"deterministic=False) does, or to return None as its state, found {type(state).__name__}"
            )
        return state


def _takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function takes an argument of that name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # What is written in C may not say it.
        return False
    return name in parameters or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())


def named(policy: str | Acting, env: str | None = None) -> Callable[[Any], Any]:
    """A callable, whatever the policy was given as.

    :raises ValueError: if it is a name without an environment, or nothing that acts.
    """
    if isinstance(policy, str):
        if env is None:
            raise ValueError(f"policy: expected a callable or a model for this environment, found the name {policy!r}")
        return Policy(env, policy)
    if isinstance(policy, Policy):
        return policy
    predict = getattr(policy, "predict", None)
    if callable(predict):
        return _Predicting(predict)
    if callable(policy):
        return policy
    raise ValueError(f"policy: expected a name, a callable or a model with predict, found {type(policy).__name__}")
