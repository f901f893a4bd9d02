#!/usr/bin/env python3
"""Hostile hosts and robots: whatever answers in their place, the command ends in time, with the right exit code.

::

    python3 tests/campaign/hostile.py --binary target/release/offnominal --seconds 600 --seed 1

A host is the process that plays an environment of Gymnasium; the script takes its place through `$OFFNOMINAL_PYTHON`. A
robot is the simulated controller behind a proxy that spoils what it says. Cases are drawn from the seed; those of hosts have
an expected exit code. A defect is a panic, an end by a signal, another exit code, a result that is not the true one, more time
or more memory than the limits. The script prints counts, names each defect with the numbers that repeat it (`--seed`,
`--case`), and exits with 1 if there was one.
"""

import argparse
import collections
import json
import math
import os
import random
import sys
import tempfile
import time

import hostile_host
from hostile_host import HORIZON, KINDS, REWARD
from hostile_robot import Robot, robot_case
from ran import Ran

# Seconds that an answer may take.
ANSWER = 1.0

# Exit codes that are right; nothing is known of what comes of mutated bytes.
EXPECTED = {"well": {0}, "loud": {0}, "mutated": {0, 2}}


def host_case(binary, seed, folder):
    """A command with a hostile host; the kind, and what is wrong."""
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    stand_in = os.path.join(folder, "python3")
    if not os.path.exists(stand_in):
        with open(stand_in, "w") as file:
            file.write(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" -I "{hostile_host.__file__}" "$1"\n')
        os.chmod(stand_in, 0o755)
    environment = {
        "OFFNOMINAL_PYTHON": stand_in,
        "HOSTILE": json.dumps({"kind": kind, "seed": draw.randrange(1 << 30)}),
    }
    line = [binary, "evaluate", "--env", f"gymnasium:X-v0?timeout={ANSWER}", "--policy", "random", "--episodes", "3"]
    gates = draw.choice([[], ["--min-return", "-1e300"], ["--jobs", "1"]])
    ran = Ran([*line, *gates, "--json", "--quiet"], environment, folder)
    # One episode without an outcome is counted; a gate refuses it.
    counted = {2, 1 if "--min-return" in gates else 0}
    defect = ran.defect(counted if kind == "nan" else EXPECTED.get(kind, {2}))
    return f"host {kind}", defect or wrong_result(kind, ran), ran


def wrong_result(kind, ran):
    """A result must be the true one, or at least a number."""
    if ran.code != 0:
        return None
    report = json.loads(ran.out)
    found = report["return"]["value"]
    if kind == "nan":
        diverged = report["diverged"]["episodes"] + report["random_diverged"]["episodes"]
        return None if diverged else "no episode diverged"
    if kind != "mutated" and found != HORIZON * REWARD:
        return f"return {found}, expected {HORIZON * REWARD}"
    return None if isinstance(found, float) and math.isfinite(found) else f"return {found}, expected a finite number"


def play(campaign, rng, command, folder, tally):
    """A case of `run.py`: what is wrong with it, if anything is."""
    tally.events += 1
    what, defect, ran = host_case(str(campaign.inputs.binary), rng.randrange(1 << 40), str(folder))
    tally.refused += ran.code == 2
    return defect and f"{what}: {defect}"


def campaign(arguments):
    binary, counts, defects = os.path.abspath(arguments.binary), collections.Counter(), []
    cases = [arguments.case] if arguments.case is not None else range(1 << 30)
    until = time.monotonic() + arguments.seconds
    robot = None if arguments.no_robots else Robot(binary)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if time.monotonic() > until:
                break
            seed = arguments.seed * 1_000_003 + case
            # One in four is a robot, which takes longer.
            if robot and robot.address and case % 4 == 3:
                what, defect, ran = robot_case(binary, seed, folder, robot.address, robot.front)
            else:
                what, defect, ran = host_case(binary, seed, folder)
            counts[what] += 1
            if arguments.case is not None:
                print(
                    f"{what}: exit code {ran.code} after {ran.secs:.1f} s, {ran.megabytes:.0f} MB\n{ran.out}{ran.err}"
                )
            if defect:
                defects.append(
                    f"{what}, --seed {arguments.seed} --case {case}: {defect}; it said: {ran.err[-300:].strip()}"
                )
                print(f"DEFECT {defects[-1]}", flush=True)
    if robot:
        robot.close()
    left = (
        [name for name in os.listdir("/dev/shm") if name.startswith("offnominal-host-")]
        if os.path.isdir("/dev/shm")
        else []
    )
    for what, n in sorted(counts.items()):
        print(f"{n:6} {what}")
    print(f"{sum(counts.values()):6} cases, {len(defects)} defects, {len(left)} folders of hosts in memory at the end")
    if robot and not robot.address:
        print("no robot: `offnominal ur-sim` could not begin")
    return 1 if defects else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/offnominal", help="the program under test")
    parser.add_argument("--seconds", type=float, default=60.0, help="no case begins later")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this one, with what it said")
    parser.add_argument("--no-robots", action="store_true")
    arguments = parser.parse_args()
    sys.exit(campaign(arguments))


if __name__ == "__main__":
    main()
