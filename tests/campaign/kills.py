"""Signals at random moments, then the same command until it ends: the bits must be those of an undisturbed run."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path

from case import Campaign, Tally, kill, start
from commands import Command

# Most signals before a command is left to end.
MOST = 6

# What ends a command: Ctrl-C, a scheduler, a terminal that is closed, a machine that runs out of memory.
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]


def play(campaign: Campaign, rng: random.Random, command: Command, folder: Path, tally: Tally) -> str | None:
    """Ends a command some times before it is done, and then lets it end."""
    usual = campaign.usual_secs[command.name]
    for _ in range(rng.randint(1, MOST)):
        process = start(command.line(campaign.inputs.binary, folder), folder)
        # Most of the work that is left is shorter than the whole.
        time.sleep(rng.uniform(0.0, 1.1) * usual * rng.choice([1.0, 1.0, 0.5, 0.1]))
        if not kill(process, rng.choice(SIGNALS)):
            if process.returncode != 0:
                return f"did not go on: {(folder / 'stderr.txt').read_text()[-400:]}"
            break
        tally.events += 1
        if found := half_written(folder / "out"):
            return found
    found = campaign.finish(command, without_logs(folder))
    tally.same += found is None
    return found


def half_written(out: Path) -> str | None:
    """A file under its own name that is not whole, after a kill."""
    for path in out.rglob("*.json"):
        if ".offnominal-" in str(path):
            continue
        try:
            json.loads(path.read_bytes())
        except ValueError as why:
            return f"{path.name} is not whole after a kill: {why}"
        except FileNotFoundError:
            continue
    return None


def without_logs(folder: Path) -> Path:
    """The folder without what processes said, which is no result."""
    for name in ("stdout.txt", "stderr.txt"):
        (folder / name).unlink(missing_ok=True)
    return folder
