"""Environments of Python on their way to the engine, whose hosts make them anew: by an id that names what is sent to them."""

from __future__ import annotations

import base64
import json
import pickle
import sys
from collections.abc import Callable
from typing import Any

import cloudpickle
import gymnasium

from offnominal import _engine
from offnominal._copies import insist_on_copies
from offnominal._digest import LETTERS
from offnominal.envs import environment_id

#: An environment's id, an environment of Gymnasium, or what makes one.
AnyEnvironment = str | gymnasium.Env[Any, Any] | Callable[..., gymnasium.Env[Any, Any]]


def environment_name(env: Any) -> Any:
    """The id by which the engine finds an environment: what it was given as, or one that it is made known by.

    :raises ValueError: if copies of it cannot be made in another process, or would be other environments.
    """
    if isinstance(env, str):
        return environment_id(env)
    if isinstance(env, gymnasium.Env):
        name, how = _of_object(env)
    elif callable(env):
        name, how = getattr(env, "__name__", type(env).__name__), {"pickle": _pickled(env)}
    else:
        raise ValueError(f"env: expected an id, a gymnasium.Env or a function that makes one, found {type(env).__name__}")
    found = _engine.digest(json.dumps(how, sort_keys=True))
    plain = "".join(letter if letter.isalnum() else "-" for letter in name).strip("-")
    return _engine.give_environment(f"{plain}-{found[:LETTERS]}", json.dumps({**how, "path": sys.path}))


def _of_object(env: gymnasium.Env[Any, Any]) -> tuple[str, dict[str, str]]:
    """What ``gymnasium.make`` made, with its arguments and its wrappers."""
    if env.spec is None:
        raise ValueError(
            f"env: expected an environment of gymnasium.make, of which the engine makes copies, or a function that makes one, "
            f"found {type(env.unwrapped).__name__} without a specification"
        )
    try:
        text = env.spec.to_json()
    except (ValueError, TypeError) as error:
        raise ValueError(f"env: expected a function that makes {env.spec.id}, whose specification is no JSON: {error}") from error
    insist_on_copies(env, text)
    return env.spec.id, {"spec": text}


def _pickled(maker: Any) -> str:
    """What makes an environment, as text; functions of the main program and local ones go with their code."""
    try:
        return base64.b64encode(cloudpickle.dumps(maker)).decode()
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(f"env: expected a function that can be sent to another process, found {maker!r}: {error}") from error
