"""Writes the badges of the README from what CI measured: one JSON file per badge, as the endpoint badges of shields.io.

    python3 packaging/badges.py --tests target/tests.txt --wheel target/wheels/measured.json --out target/badges

A badge is written only if its number was measured in this run.
"""

import argparse
import json
import re
import sys
from pathlib import Path

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;", re.M)


def tests(text):
    """The tests of all programs of a run of cargo."""
    counts = [tuple(map(int, found)) for found in RESULT.findall(text)]
    passed, failed = sum(p for p, _ in counts), sum(f for _, f in counts)
    if not passed and not failed:
        sys.exit("badges: --tests: expected lines such as `test result: ok. 3 passed; 0 failed;`, found none")
    return f"{passed} passed" + (f", {failed} failed" if failed else ""), not failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--tests", type=Path, help="what `cargo test` printed")
    arguments.add_argument("--wheel", type=Path, help="what packaging/check_wheel.py measured")
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    badges = {}
    if given.tests:
        badges["tests"] = tests(given.tests.read_text())
    if given.wheel:
        measured = json.loads(given.wheel.read_text())
        badges["wheel"] = (f"{measured['wheel_mb']} MB", True)
        badges["demo"] = (f"{measured['demo_secs']:.0f} s", True)
    given.out.mkdir(parents=True, exist_ok=True)
    for label, (message, is_good) in badges.items():
        badge = {"schemaVersion": 1, "label": label, "message": message, "color": "green" if is_good else "red"}
        (given.out / f"{label}.json").write_text(json.dumps(badge) + "\n")
        print(f"{label}: {message}")


if __name__ == "__main__":
    main()
