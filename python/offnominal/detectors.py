"""Detectors: recipes that learn from nominal episodes and become monitors.

There is one class for each detector of the engine: ``pe-dm`` is :class:`PeDm`, and ``help(PeDm)`` shows its options.
``offnominal.detectors.ALL`` maps the ids to the classes; ``docs/reference/detectors.md`` explains each one.

A detector and what is fitted are different things: :meth:`Detector.fit` returns a :class:`Monitor`.
"""

from __future__ import annotations

from difflib import get_close_matches

from offnominal import _recipes
from offnominal._detector import Detector, Monitor, class_name
from offnominal._recipes import *  # noqa: F403

#: Every detector of the engine by its id.
ALL: dict[str, type[Detector]] = _recipes.BY_ID

__all__ = ["ALL", "Detector", "Monitor", "class_name", *_recipes.__all__]  # noqa: PLE0604


def __getattr__(name: str) -> type[Detector]:
    """Names the detector that may have been meant."""
    if name.startswith("__"):
        raise AttributeError(name)
    near = get_close_matches(name, _recipes.__all__, 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise AttributeError(f"no detector has the class {name}{hint}; there are: {', '.join(_recipes.__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
