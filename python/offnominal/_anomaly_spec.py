"""The keyword arguments that describe an anomaly, in one place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypedDict

from offnominal._json import as_json

Channels = Literal["all", "one"] | Sequence[str | int]
Onset = Literal["random"] | int


class Disturbed(TypedDict, total=False):
    """What goes wrong, as keyword arguments.

    ``anomaly``: an id of ``Environment.anomalies()``; ``magnitude`` in its own unit, or a calibrated ``strength`` (tiny, medium,
    strong, extreme); ``channels`` by name or index; ``onset``: the first anomalous step; ``window``: steps after which it
    ends; ``intermittent``: steps on, steps off.
    """

    anomaly: str | None
    magnitude: float | None
    strength: str | None
    channels: Channels | None
    onset: Onset
    window: int | None
    intermittent: tuple[int, int] | None


class AnomalySpec(Disturbed, total=False):
    """The same, with the policy for which a strength is calibrated."""

    policy: str


def wanted(anomaly_spec: AnomalySpec | Disturbed) -> str:
    """The anomaly as JSON for the engine; ``null`` without one."""
    given = {key: value for key, value in anomaly_spec.items() if value is not None}
    magnitude = anomaly_spec.get("magnitude")
    if magnitude is not None and not math.isfinite(magnitude):
        raise ValueError(f"magnitude: expected a finite number, found {magnitude}")
    if "anomaly" in given:
        return as_json(given)
    extra = sorted(set(given) - {"policy", "onset"})
    if extra:
        raise ValueError(f"{', '.join(extra)}: expected an anomaly with it, found none")
    return "null"
