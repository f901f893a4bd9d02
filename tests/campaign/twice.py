"""Two processes with one folder at once: one of them is refused, or both end; the bits are those of one run."""

from __future__ import annotations

import random
import time
from pathlib import Path

from case import Campaign, Tally, start
from commands import Command
from kills import without_logs

# What a second process says that comes too late or too early.
REFUSALS = ("is in use by", "already holds a run")


def play(campaign: Campaign, rng: random.Random, command: Command, folder: Path, tally: Tally) -> str | None:
    """Starts a command twice, the second time somewhat later."""
    processes = []
    for _ in range(2):
        processes.append(start(command.line(campaign.inputs.binary, folder), folder))
        time.sleep(rng.uniform(0.0, 0.8) * campaign.usual_secs[command.name] * rng.choice([0.0, 1.0, 0.1]))
        tally.events += 1
    codes = sorted(process.wait() for process in processes)
    said = (folder / "stderr.txt").read_text()
    if command.is_shareable and codes != [0, 0]:
        return f"expected both to end, found exit codes {codes}: {said[-400:]}"
    refused = any(words in said for words in REFUSALS)
    if codes not in ([0, 0], [0, 2]) or (codes == [0, 2] and not refused):
        return f"expected one to end and one to be refused, found exit codes {codes}: {said[-400:]}"
    tally.refused += codes == [0, 2]
    found = campaign.finish(command, without_logs(folder))
    tally.same += found is None
    return found
