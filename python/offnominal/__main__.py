"""The command line of offnominal, as the binary has it: ``offnominal`` or ``python -m offnominal``."""

from __future__ import annotations

import signal
import sys

from offnominal import _engine


def main() -> int:
    """Runs the command that this process was started with, and returns its exit code."""
    # The commands may be killed at any moment and go on later; Python would keep Ctrl-C until they are done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _engine.main(["offnominal", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
