"""What two output folders must have in common: every bit, but for times and who wrote it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

# Times, which differ from run to run, in JSON; the last two are what a plan measures and foresees.
TIMES = {"wall_secs", "seconds", "secs", "last_call", "episode_secs", "parts"}
# Times in pages: what a run took, and what a plan foresees for its parts.
PLANNED = re.compile(
    rb"(<dd>|planned for |takes |about |evaluation |faults |detectors |monitor |failures |page )[0-9.,]+ (ms|s|min|h)\b"
)
# Files of times, and records of TensorBoard, of which each start of a run begins one.
UNCOMPARED = re.compile(r"(^|/)(timing\.json|events\.out\.tfevents\..*)$")
# What a command writes aside, and the lock: both are to be gone when it ends.
LEFT = re.compile(r"(^|/)(\.offnominal-[^/]*|\.lock|\.[^/]*\.lock|\.unfinished-[^/]*|\.tmp[^/]*)(/|$)")


def without_times(value: Any) -> Any:
    """JSON without times, and without digests of what has times in it."""
    if isinstance(value, dict):
        if value.keys() == {"content", "digest"}:
            return without_times(value["content"])
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return value


def content(path: Path) -> Any:
    """What of a file is compared."""
    data = path.read_bytes()
    if path.suffix == ".json":
        return without_times(json.loads(data))
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in data.decode().splitlines()]
        return [without_times(line.get("block", line) if isinstance(line, dict) else line) for line in lines]
    if path.suffix == ".html":
        return PLANNED.sub(b"", data)
    return data


def state(folder: Path) -> dict[str, Any]:
    """The files below a folder."""
    files = (p for p in sorted(folder.rglob("*")) if p.is_file())
    names = {str(p.relative_to(folder)): p for p in files}
    return {name: content(p) for name, p in names.items() if not UNCOMPARED.search(name)}


def difference(expected: dict[str, Any], folder: Path) -> str | None:
    """The first thing in which a folder is not what was expected."""
    try:
        found = state(folder)
    except (ValueError, UnicodeDecodeError) as why:
        return f"a file is damaged: {why}"
    for name in sorted(expected.keys() | found.keys()):
        if LEFT.search(name):
            return f"{name} was left behind"
        if name not in found:
            return f"{name} is missing"
        if name not in expected:
            return f"{name} is there and should not"
        if ordered(expected[name], name) != ordered(found[name], name):
            return f"{name} differs"
    left = [str(p.relative_to(folder)) for p in folder.rglob("*") if LEFT.search(str(p.relative_to(folder)))]
    return f"{left[0]} was left behind" if left else None


def ordered(value: Any, name: str) -> Any:
    """Blocks of a journal whose work is done on several threads come in any order."""
    if name.endswith(".jsonl") and isinstance(value, list):
        return [value[0], *sorted(value[1:], key=lambda block: json.dumps(block, sort_keys=True))]
    return value
