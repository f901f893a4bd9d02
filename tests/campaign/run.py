"""Tries to break the program: kills, full disks, two processes at once, changed files, hostile hosts.

    python3 tests/campaign/run.py --seconds 600 --seed 1 [--only kills,disk,twice,mutants,hosts,hostile]

Ends with a table, and with exit code 1 if there is a defect. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import disk
import hostile
import hosts
import kills
import mutants
import twice
from case import Campaign
from commands import ROOT, prepare

PARTS = {
    "kills": kills.play,
    "disk": disk.play,
    "twice": twice.play,
    "mutants": mutants.play,
    "hosts": hosts.play,
    "hostile": hostile.play,
}


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, help="time for all parts together")
    parser.add_argument("--seed", type=int, default=1, help="seed of every choice")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument("--commands", help="commands alone, with commas between; `risk` stands for all of them")
    parser.add_argument("--case", help="one case alone, such as kills:17")
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "offnominal")
    parser.add_argument("--work", type=Path, help="a folder that does not exist; it stays")
    parsed = parser.parse_args()
    if unknown := set(parsed.only.split(",")) - PARTS.keys():
        parser.error(f"--only: expected some of {', '.join(PARTS)}, found {', '.join(sorted(unknown))}")
    if not parsed.binary.is_file():
        parser.error(f"--binary: {parsed.binary} is not there; build it with `cargo build --release`")
    return parsed


def table(campaign: Campaign) -> str:
    """Counts by part and command."""
    head = f"{'part':<9}{'command':<26}{'cases':>7}{'events':>8}{'refused':>9}{'same bits':>11}{'seconds':>9}"
    lines = [head, "-" * len(head)]
    for (part, name), tally in sorted(campaign.tallies.items()):
        counts = f"{tally.cases:>7}{tally.events:>8}{tally.refused:>9}{tally.same:>11}{tally.secs:>9.0f}"
        lines.append(f"{part:<9}{name:<26}{counts}")
    for part in PARTS:
        of_part = [tally for (name, _), tally in campaign.tallies.items() if name == part]
        if of_part:
            sums = [sum(getattr(tally, key) for tally in of_part) for key in ("cases", "events", "refused", "same")]
            secs = sum(tally.secs for tally in of_part)
            lines.append(f"{part:<9}{'all':<26}{sums[0]:>7}{sums[1]:>8}{sums[2]:>9}{sums[3]:>11}{secs:>9.0f}")
    lines += [f"left out: {name}: {why}" for name, why in campaign.skipped.items()]
    return "\n".join(lines)


def main() -> int:
    """Plays the parts, and says what came of it."""
    asked, begun = arguments(), time.monotonic()
    work = asked.work or Path(tempfile.mkdtemp(prefix="offnominal-campaign-"))
    work.mkdir(parents=True, exist_ok=True)
    inputs = prepare(asked.binary.resolve(), work / "inputs")
    if asked.commands:
        wanted = tuple(asked.commands.split(","))
        inputs.commands = [command for command in inputs.commands if command.name.startswith(wanted)]
    campaign = Campaign(inputs, work, asked.seed, begun + asked.seconds, asked.case)
    campaign.only = f" --commands '{asked.commands}'" if asked.commands else ""
    parts = [asked.case.split(":")[0]] if asked.case else asked.only.split(",")
    if parts != ["hosts"]:
        campaign.reference()
    for i, part in enumerate(parts):
        # Each part has an equal share of the time that is left.
        campaign.end = time.monotonic() + max(0.0, begun + asked.seconds - time.monotonic()) / (len(parts) - i)
        campaign.cases(part, PARTS[part])
    print(table(campaign))
    print(f"{len(campaign.defects)} defects in {time.monotonic() - begun:.0f} s, seed {asked.seed}")
    for defect in campaign.defects:
        print(f"DEFECT {defect}")
    if not campaign.defects and asked.work is None:
        shutil.rmtree(work, ignore_errors=True)
    return 1 if campaign.defects else 0


if __name__ == "__main__":
    sys.exit(main())
