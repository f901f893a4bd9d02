"""An environment that is not ours, as the engine describes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces

from offnominal._border import is_image

#: A parameter: its nominal value, the smallest and the largest.
Range = tuple[float, float, float]

#: Bounds of a channel without any: JSON has no infinity.
_FAR = 3e38


def described(
    id: str,
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    horizon: int,
    parameters: Mapping[str, Range],
    metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """The specification of one simulator; ``metadata`` may name its channels."""
    return {
        "id": id,
        "summary": "",
        "source": "",
        "observation": _named(_observation(observation_space), metadata, "observation_names"),
        "action": _named(_action(action_space), metadata, "action_names"),
        "dt_secs": 1.0,
        "horizon": horizon,
        "parameters": [
            {"name": name, "meaning": "", "unit": "1", "nominal": nominal, "low": low, "high": high}
            for name, (nominal, low, high) in parameters.items()
        ],
        "initial": [],
        "reward": "",
        "reset": "",
        "success": "",
        "classes": [],
        "cameras": [],
    }


def _channel(name: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    bounds = {"low": max(float(low), -_FAR), "high": min(float(high), _FAR)}
    return {"name": name, "meaning": "", "unit": "1", **bounds, **more}


def _named(channels: list[dict[str, Any]], metadata: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The channels with the names that the environment's metadata give them, if they do."""
    names = metadata.get(key)
    if names is None or any("image" in channel for channel in channels):
        return channels
    if len(names) != len(channels):
        raise ValueError(f"metadata[{key!r}]: expected {len(channels)} names, found {len(names)}: {', '.join(names)}")
    return [{**channel, "name": str(name)} for channel, name in zip(channels, names)]


def _observation(space: spaces.Space[Any]) -> list[dict[str, Any]]:
    if not isinstance(space, spaces.Box):
        raise ValueError(f"observation space: expected a Box, found {space}")
    if is_image(space.shape, space.dtype):
        height, width, *planes = space.shape
        image = {"frames": 1, "planes": planes[0] if planes else 1, "height": height, "columns": width}
        return [_channel("image", 0, 255, image=image)]
    bounds = zip(space.low.ravel(), space.high.ravel())
    return [_channel(f"o{i}", low, high) for i, (low, high) in enumerate(bounds)]


def _action(space: spaces.Space[Any]) -> list[dict[str, Any]]:
    if isinstance(space, spaces.Discrete):
        return [_channel("choice", 0, space.n - 1, choices=int(space.n))]
    if isinstance(space, spaces.MultiDiscrete):
        return [_channel(f"choice{i}", 0, n - 1, choices=int(n)) for i, n in enumerate(space.nvec.ravel())]
    if isinstance(space, spaces.Box):
        bounds = zip(space.low.ravel(), space.high.ravel())
        return [_channel(f"a{i}", low, high) for i, (low, high) in enumerate(bounds)]
    raise ValueError(f"action space: expected Box, Discrete or MultiDiscrete, found {space}")
