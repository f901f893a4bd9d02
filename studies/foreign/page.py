"""Writes `README.md` from `pairs.toml`, the tables of `plain/` and the results of `pairs/`.

    python3 studies/foreign/page.py

The words around the tables are those of `page.md`.
"""

import csv
import json
import pathlib
import statistics

import bodies
import tomllib
from tables import interval, short, table

HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = {
    "metaworld": "Meta-World's scripted policies",
    "pybullet": "PyBullet's examples",
    "robotics": "gymnasium-robotics, scripted",
    "highway": "highway-env, a driver written by hand",
    "tep": "Tennessee Eastman, its own controller",
    "sb3": "Stable-Baselines3, shipped in `imitation`",
}

# Largest deviation of a control from one half that was asked for before anything was run.
TOLERANCE = 0.02


def read():
    """The pairs with what was found of each; nothing where it was not tried."""
    pairs = tomllib.loads((HERE / "pairs.toml").read_text())["pair"]
    for pair in pairs:
        path = HERE / "pairs" / f"{pair['name']}.json"
        pair["found"] = json.loads(path.read_text()) if path.exists() else None
    return pairs


def is_audited(pair):
    return pair["found"] is not None and "refused" not in pair["found"]


def detector(pair, name):
    """What the audit of a pair says of a detector."""
    return next((d for d in pair["found"]["detectors"] if d["name"] == name), None)


def number(pair, name, key, level=None):
    """One number of a detector, with its interval; nothing if there is none."""
    found = detector(pair, name)
    found = found and (found["at"].get(level) if level else found[key])
    return found if found and found["value"] is not None else None


def shown(values):
    """A mean with its interval and how many values it is made of."""
    if len(values) < 2:
        return "not enough pairs"
    mean, low, high = interval(values)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}], {len(values)} pairs"


def values(pairs, name, key):
    return [found["value"] for found in (number(p, name, key) for p in pairs) if found]


def of_nothing(pairs):
    """Whether a fault of magnitude zero has a matched AUROC of .50 ± .02, for each pair and detector."""
    found = [d.get("of_nothing") for pair in pairs for d in pair["found"]["detectors"]]
    return [abs(one["value"] - 0.5) <= TOLERANCE for one in found if one]


def share(flags):
    return f"{sum(flags)} of {len(flags)}"


def demands(audited):
    """What had to hold, and what was found."""
    return [
        ("pairs audited by the same command", "≥ 50", str(len(audited))),
        ("seconds of an audit, median and largest", "≤ 180", seconds(audited)),
        ("a fault of magnitude zero within .50 ± .02, pairs times detectors", "≥ 95 %", share(of_nothing(audited))),
        ("`clock`, matched AUROC, mean over pairs", ".50", shown(values(audited, "clock", "auroc_matched"))),
    ]


def seconds(audited):
    secs = [pair["found"]["secs"] for pair in audited]
    return f"{statistics.median(secs):.0f}, {max(secs)}" if secs else "none"


def cell(found):
    """A number, short."""
    if not found:
        return "–"
    return short(found["value"])


def row(pair):
    """A pair in the table of audits."""
    found = pair["found"]
    tiny = [cell(number(pair, name, "at", "tiny")) for name in ("pe-dm", "knn")]
    missing = sum(s["missing"] is not None for fault in found["faults"] for s in fault["strengths"])
    return [pair["name"], *tiny, missing, found["secs"]]


def plain():
    """The tables of the plain loop."""
    for family in FAMILIES:
        path = HERE / "plain" / f"{family}.csv"
        if path.exists():
            with path.open(newline="") as file:
                yield from list(csv.reader(file))[1:]


def not_audited(pairs):
    for pair in pairs:
        if "skip" in pair:
            yield [pair["name"], pair["skip"]]
        elif pair["found"] is None:
            yield [pair["name"], "not run yet"]
        elif "refused" in pair["found"]:
            yield [pair["name"], "refused: " + pair["found"]["refused"]]


def state(pairs, audited):
    """How far it is."""
    due = [pair for pair in pairs if "skip" not in pair]
    tried = [pair for pair in due if pair["found"] is not None]
    refused, left = len(tried) - len(audited), len(due) - len(tried)
    return f"{len(audited)} of {len(due)} pairs have been audited, {refused} were refused, and {left} not run yet."


def write():
    """The page."""
    pairs = read()
    audited = [pair for pair in pairs if is_audited(pair)]
    parts = {
        "state": state(pairs, audited),
        "demands": table(["what", "asked for", "found"], demands(audited)) if audited else "No pair has been audited yet.",
        "audits": table(
            ["pair", "pe-dm at tiny", "knn at tiny", "strengths not found", "seconds"], [row(pair) for pair in audited]
        ),
        "shift": bodies.tables(),
        "rest": table(["pair", "why"], list(not_audited(pairs))),
        "plain": table(
            ["pair", "steps", "mean return", "succeeded", "terminated", "crashed", "repeats", "repeats anew", "ms per step"],
            [[*line, *[""] * (9 - len(line))] for line in plain()],
        ),
    }
    text = (HERE / "page.md").read_text()
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->", part)
    (HERE / "README.md").write_text(text)


if __name__ == "__main__":
    write()
