"""A command with limits of time and memory, and what it said."""

import os
import re
import subprocess
import tempfile
import time

# Seconds that a whole command may take.
COMMAND = 45.0

# Megabytes of a command.
MEMORY = 700


class Ran:
    """A command that has ended, or was ended."""

    def __init__(self, line, environment=None, folder=None):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.monotonic()
            process = subprocess.Popen(
                line,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})},
                cwd=folder,
            )
            self.megabytes, self.is_late = 0.0, False
            while process.poll() is None:
                self.megabytes = max(self.megabytes, resident(process.pid))
                if time.monotonic() - began > COMMAND or self.megabytes > MEMORY:
                    self.is_late = self.megabytes <= MEMORY
                    process.kill()
                time.sleep(0.01)
            self.secs, self.code = time.monotonic() - began, process.returncode
            self.out, self.err = (read(stream) for stream in (out, err))

    def defect(self, expected):
        """What is wrong with it, if anything is."""
        if self.megabytes > MEMORY:
            return f"{self.megabytes:.0f} MB of memory"
        if self.is_late:
            return f"no end within {COMMAND} s"
        if "panicked" in self.err or self.code not in (0, 1, 2):
            return f"it broke with {self.code}"
        if self.code not in expected:
            return f"exit code {self.code}, expected {' or '.join(map(str, sorted(expected)))}"
        return None


def read(stream):
    stream.seek(0)
    return stream.read(1 << 20).decode(errors="replace")


def resident(pid):
    """The most memory that a process had, in MB; 0 where that is not told."""
    try:
        with open(f"/proc/{pid}/status") as status:
            found = re.search(r"VmHWM:\s*(\d+) kB", status.read())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0
