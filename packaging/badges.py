"""Writes the badges of the README from what CI measured: one SVG per badge, and JSON as the endpoints of shields.io.

    python3 packaging/badges.py --tests target/tests.txt --wheel target/wheels/measured.json --out target/badges

A badge is written only if its number was measured in this run.
"""

import argparse
import json
import re
import sys
from pathlib import Path

#: Width of a letter of Verdana at 11 px, and what stands at both sides of a text, in px.
LETTER, MARGIN = 6.6, 6
RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;", re.M)


def tests(text):
    """The tests of all programs of a run of cargo."""
    counts = [tuple(map(int, found)) for found in RESULT.findall(text)]
    passed, failed = sum(p for p, _ in counts), sum(f for _, f in counts)
    if not passed and not failed:
        sys.exit("badges: --tests: expected lines such as `test result: ok. 3 passed; 0 failed;`, found none")
    return f"{passed} passed" + (f", {failed} failed" if failed else ""), not failed


def svg(label, message, is_good):
    """A badge: the label on grey, the message on a colour."""
    left, right = (round(len(text) * LETTER + 2 * MARGIN) for text in (label, message))
    colour = "#4c1" if is_good else "#e05d44"
    text = 'y="14" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {message}"><title>{label}: {message}</title>'
        f'<rect width="{left}" height="20" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        f'<text x="{left / 2}" {text}>{label}</text><text x="{left + right / 2}" {text}>{message}</text></svg>\n'
    )


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
        (given.out / f"{label}.svg").write_text(svg(label, message, is_good))
        print(f"{label}: {message}")


if __name__ == "__main__":
    main()
