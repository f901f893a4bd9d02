"""Commands of the engine: a request in, a result out, with progress and Ctrl-C."""

from __future__ import annotations

import json
import sys
from typing import Any

from offnominal import _engine
from offnominal._brought import known
from offnominal._json import as_json
from offnominal._progress import display

# What starts the command line of this package, in any folder. `-m` would look for `offnominal` in that folder first, where a
# bundle that is checked has its files; `PYTHONSAFEPATH` prevents that from Python 3.11 on only.
PROGRAM = [
    sys.executable,
    "-c",
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; "
    "from offnominal.__main__ import main; sys.exit(main())",
]


def call(command: str, request: dict[str, Any], *, seed: int, jobs: int, progress: bool) -> Any:
    """Runs a command of the engine and returns what the command line prints with ``--json``.

    :raises ValueError: if the request does not make sense; the message names the argument.
    :raises OSError: if a file cannot be read or written.
    """
    given = known({key: value for key, value in request.items() if value is not None})
    text = as_json(given)
    return json.loads(_engine.call(command, text, seed, jobs, display(progress)))
