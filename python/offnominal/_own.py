"""Detectors of Python's own, as the engine finds them: by a key."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from offnominal import _engine
from offnominal._detector import Detector


def recipe_of(detector: Any) -> str | dict[str, Any]:
    """A detector as a campaign writes it; one of Python's own has a key.

    :raises ValueError: if it is no detector.
    """
    if isinstance(detector, (str, Mapping)):
        return detector if isinstance(detector, str) else dict(detector)
    if isinstance(detector, Detector):
        return detector.recipe()
    for method in ("fit", "score"):
        if not callable(getattr(detector, method, None)):
            raise ValueError(f"detector: expected an id, or an object with fit and score, found {type(detector).__name__}")
    name = getattr(detector, "name", None) or type(detector).__name__.lower()
    return {"id": "python", "name": str(name), "key": digest(detector)}


def known(detector: Any) -> str | dict[str, Any]:
    """The recipe of a detector, which the engine knows from now on."""
    recipe = recipe_of(detector)
    if isinstance(recipe, dict) and recipe.get("id") == "python":
        _engine.give_detector(recipe["key"], detector)
    return recipe


def digest(own: Any) -> str:
    """What a policy or detector is, in a few letters: its code and its attributes.

    A call with the same one finds the work that is finished. Of what has no source, each process has its own.
    """
    code = own if inspect.isfunction(own) else type(own)
    try:
        source = inspect.getsource(code)
    except (OSError, TypeError):
        source = repr(own)
    values = sorted((key, repr(value)) for key, value in getattr(own, "__dict__", {}).items())
    return _engine.digest(json.dumps([code.__module__, code.__qualname__, source, values]))
