"""Commands of the engine: a request in, a result out, with progress and Ctrl-C."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from os import PathLike
from typing import Any

from offnominal import _engine
from offnominal._brought import known
from offnominal._json import as_json
from offnominal._progress import display
from offnominal._recipes import Inner
from offnominal._tables import Records, Result
from offnominal.policies import Acting

Path = str | PathLike[str]

#: A detector: an id, a dict with ``id`` and options, or an object of :mod:`offnominal.detectors`.
AnyDetector = Inner

#: A policy: the name of a shipped one, the path of a file, ``module:name``, a callable, or an object with ``predict``.
AnyPolicy = Path | Acting

# What starts the command line of this package, in any folder. `-m` would look for `offnominal` in that folder first, where a
# bundle that is checked has its files; `PYTHONSAFEPATH` prevents that from Python 3.11 on only.
PROGRAM = [
    sys.executable,
    "-c",
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; "
    "from offnominal.__main__ import main; sys.exit(main())",
]


def one(command: str, given: Mapping[str, Any]) -> Result:
    """The answer of a command that is one object."""
    return Result(call(command, given))


def several(command: str, given: Mapping[str, Any]) -> Records:
    """The answer of a command that is a list of objects."""
    return Records(call(command, given))


def either(command: str, given: Mapping[str, Any]) -> Result | Records:
    """The answer of a command that is an object or a list of them."""
    found = call(command, given)
    return Records(found) if isinstance(found, list) else Result(found)


def call(command: str, given: Mapping[str, Any]) -> Any:
    """Runs a command of the engine and returns what the command line prints with ``--json``.

    :param given: arguments by the names of their parameters: a name that Python has for itself ends with a low line.
    :raises ValueError: if the request does not make sense; the message names the argument.
    :raises OSError: if a file cannot be read or written.
    """
    request = {name.removesuffix("_"): value for name, value in given.items() if value is not None}
    seed, jobs, progress = (request.pop(name, usual) for name, usual in (("seed", 0), ("jobs", 0), ("progress", True)))
    text = as_json(known(command, request))
    return json.loads(_engine.call(command, text, seed, jobs, display(progress)))
