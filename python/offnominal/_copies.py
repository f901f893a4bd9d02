"""Whether an environment is what its specification makes: the engine's hosts play copies, and a change of the object is in none."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium
import numpy as np

#: The seed of the episode that is compared.
_SEED = 1_000_003

#: Steps that are compared at most, and seconds that an episode takes at most.
_STEPS, _SECS = 100, 1.0

#: A step as its parts by name.
_Step = list[tuple[str, Any]]


def insist_on_copies(env: gymnasium.Env[Any, Any], spec: str) -> None:
    """Plays the beginning of one episode in an environment, and in two that its specification makes.

    :raises ValueError: naming what differs.
    """
    twins = [_made(spec), _made(spec)]
    try:
        one, other = (_episode(twin) for twin in twins)
        if _difference(one, other):
            warnings.warn(
                f"env: {env.spec and env.spec.id} does not repeat an episode with its seed, so nobody can tell whether the copies that "
                "are played are like this object; give a function that makes the environment",
                stacklevel=2,
            )
            return
        found = _difference(one, _episode(_spare(env)))
    finally:
        for twin in twins:
            twin.close()
    if found:
        raise ValueError(
            f"env: expected an object that is what its specification makes, as copies of it are played; found {found}. "
            f"Give a function that makes the environment as you changed it"
        )


def _made(spec: str) -> gymnasium.Env[Any, Any]:
    """As a host makes it."""
    own = gymnasium.envs.registration.EnvSpec.from_json(spec)
    own.disable_env_checker = True
    return gymnasium.make(own)


def _spare(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """A copy of the object, so that its statistics and its episode stay as they are; itself where it cannot be copied."""
    try:
        return copy.deepcopy(env)
    except Exception:
        return env


def _episode(env: gymnasium.Env[Any, Any]) -> list[_Step]:
    began, space = time.perf_counter(), copy.deepcopy(env.action_space)
    space.seed(_SEED)
    steps: list[_Step] = [[*_parts("observation", env.reset(seed=_SEED)[0])]]
    is_over = False
    while len(steps) <= _STEPS and not is_over and time.perf_counter() - began < _SECS:
        obs, reward, terminated, truncated, _ = env.step(space.sample())
        is_over = bool(terminated or truncated)
        steps.append([*_parts("observation", obs), ("reward", float(reward)), ("terminated", terminated), ("truncated", truncated)])
    return steps


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays in a value, each with its place; copies, as they may be written anew."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _parts(f"{name}.{key}", part)
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from _parts(f"{name}.{i}", part)
    else:
        yield name, np.array(value)


def _difference(copied: list[_Step], own: list[_Step]) -> str:
    """What differs first, in words; nothing where the shorter one begins the longer one."""
    for t, (of_copy, of_own) in enumerate(zip(copied, own)):
        where = f"in step {t - 1} after reset(seed={_SEED})" if t else f"after reset(seed={_SEED})"
        for (name, wanted), (_, found) in zip(of_copy, of_own):
            if not _is_equal(np.asarray(wanted), np.asarray(found)):
                return f"{name} {_told(found)} {where}, where the specification gives {_told(wanted)}"
    return ""


def _is_equal(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "fiub":
        return bool(np.array_equal(one, other))
    return bool(np.allclose(one.astype(np.float64), other.astype(np.float64), rtol=1e-4, atol=1e-6, equal_nan=True))


def _told(value: Any) -> str:
    array = np.asarray(value)
    return str(array) if array.size <= 8 else f"{np.ravel(array)[:8]} … of shape {array.shape}"
