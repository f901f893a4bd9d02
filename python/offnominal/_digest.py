"""What a policy, detector or function of Python is, in a few letters."""

from __future__ import annotations

import inspect
import json
from typing import Any

from offnominal import _engine

#: Letters of a digest in a name.
LETTERS = 8


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
