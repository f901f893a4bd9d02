"""Policies and environments of Python on their way to the engine, which finds them by a name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from offnominal import _engine
from offnominal._digest import LETTERS, digest
from offnominal._environments import environment_name
from offnominal.policies import Policy, named


def known(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request of a command with names in place of policies and environments; the engine knows them from now on."""
    given = dict(request)
    environments = [key for key in ("env", "cheap") if key in given]
    given.update({key: environment_name(given[key]) for key in environments})
    env = given.get("env")
    for key in ("policy", "old", "new", "demonstrator"):
        if key in given:
            given[key] = policy_name(given[key], env)
    if "policies" in given:
        given["policies"] = [policy_name(policy, env) for policy in given["policies"]]
    return given


def policy_name(policy: Any, env: str | None) -> Any:
    """The name by which the engine finds a policy: what it was given as, or one that it is made known by."""
    if isinstance(policy, (str, os.PathLike)):
        return policy
    if isinstance(policy, Policy):
        _engine.give_policy(policy.name, policy.digest, policy._engine)
        return policy.name
    act, found = named(policy), digest(policy)
    name = f"{label(policy)}-{found[:LETTERS]}"
    _engine.give_policy(name, found, act)
    return name


def label(policy: Any) -> str:
    """What a policy is called in results."""
    return str(getattr(policy, "__name__", type(policy).__name__)).strip("<>").lower()
