"""Policies and environments of Python on their way to the engine, which finds them by a name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from offnominal import _engine
from offnominal._detector import Detector
from offnominal._digest import LETTERS, digest
from offnominal._environments import environment_name
from offnominal.policies import Policy, named


def known(command: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """A request with names in place of environments and policies, which the engine knows from now on, and recipes of detectors."""
    kinds = _kinds()[command]
    return {id: _known(kinds.get(id, ""), value) for id, value in request.items()}


@cache
def _kinds() -> dict[str, dict[str, str]]:
    """What the values of each argument of each command are."""
    commands = json.loads(_engine.commands())["commands"]
    return {command["name"]: {own["id"]: own["kind"] for own in command["arguments"]} for command in commands}


def _known(kind: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_known(kind, each) for each in value]
    if kind == "environment":
        return environment_name(value)
    if kind == "policy":
        return policy_name(value)
    return value.recipe() if isinstance(value, Detector) else value


def policy_name(policy: Any) -> Any:
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
