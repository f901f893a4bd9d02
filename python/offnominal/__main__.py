"""The command line of offnominal, as the binary has it: ``offnominal`` or ``python -m offnominal``."""

from __future__ import annotations

import os
import shlex
import signal
import sys

from offnominal import _engine
from offnominal._command import PROGRAM


def main() -> int:
    """Runs the command that this process was started with, and returns its exit code."""
    # The commands may be killed at any moment and go on later; Python would keep Ctrl-C until they are done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A command that gives another one in a process of its own finds this interpreter by it.
    os.environ["OFFNOMINAL_PROGRAM"] = shlex.join(PROGRAM)
    return _engine.main(["offnominal", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
