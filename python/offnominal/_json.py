"""Requests as text: numbers and arrays of NumPy are plain ones there, and paths are texts."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np


def as_json(thing: Any) -> str:
    """A request as the engine reads it."""
    return json.dumps(thing, default=_written, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as Python's own; everything else as it is."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


def _written(thing: Any) -> Any:
    own = plain(thing)
    return os.fspath(own) if own is thing else own
