"""Detectors of Python's own, as the engine finds them: by a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from offnominal import _engine
from offnominal._detector import Detector
from offnominal._digest import digest


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
