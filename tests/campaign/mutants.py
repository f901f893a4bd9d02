"""Files that commands wrote and read back, changed: they are refused with their name, or the bits are the same."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

from case import Campaign, Done, Tally, kill, run, start
from commands import Command
from kills import without_logs

# More than any command here needs, and less than a wrong length would ask for.
MEMORY = 16 << 30


def play(campaign: Campaign, rng: random.Random, command: Command, folder: Path, tally: Tally) -> str | None:
    """Cuts a run off, changes one of its files, and lets it go on."""
    usual = campaign.usual_secs[command.name]
    process = start(command.line(campaign.inputs.binary, folder), folder)
    time.sleep(rng.uniform(0.3, 1.5) * usual)
    kill(process)
    files = [p for p in sorted(without_logs(folder).rglob("*")) if p.is_file() and p.stat().st_size > 0]
    files = [p for p in files if not re.search(r"\.offnominal-|\.lock$|tfevents|\.html$|\.svg$|out/policies/", str(p))]
    if not files:
        return None
    path = rng.choice(files)
    before = path.read_bytes()
    how, after = mutated(rng, before)
    path.write_bytes(after)
    tally.events += 1
    found = judge(campaign, command, folder, tally)
    if found is None:
        return None
    (folder / "before").write_bytes(before)
    return f"{path.relative_to(folder)}, {how}: {found}"


def judge(campaign: Campaign, command: Command, folder: Path, tally: Tally) -> str | None:
    """What came of a changed file."""
    done = run(command.line(campaign.inputs.binary, folder), folder, memory=MEMORY)
    if found := done.trouble():
        return found
    if done.code == 0:
        found = campaign.compare(command, folder)
        tally.same += found is None
        return None if found is None else f"it was believed: {found}"
    tally.refused += 1
    return None if names_a_file(done, folder) else f"the error names no file: {done.stderr.strip()[:300]}"


def names_a_file(done: Done, folder: Path) -> bool:
    """Whether an error says where the trouble is."""
    return any(part in done.stderr for part in ("out/", str(folder), "journal", "cell "))


def mutated(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """A change of bytes or of text, and what it is in words."""
    at = rng.randrange(len(data))
    text = data.decode("utf-8", errors="ignore") if b"\0" not in data else ""
    ways = ["bit", "byte", "cut", "zeros", "repeat", "remove"]
    if text:
        ways += ["digit", "line", "lines", "word"] * 2
    how = rng.choice(ways)
    if how == "bit":
        return f"bit of byte {at}", data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if how == "byte":
        return f"byte {at}", data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if how == "cut":
        return f"cut at {at}", data[:at]
    end = min(len(data), at + rng.choice([1, 4, 16, 256]))
    if how == "zeros":
        return f"zeros at {at}", data[:at] + bytes(end - at) + data[end:]
    if how == "repeat":
        return f"{at}..{end} repeated", data[:end] + data[at:end] + data[end:]
    if how == "remove":
        return f"{at}..{end} removed", data[:at] + data[end:]
    return text_mutated(rng, text, how)


def text_mutated(rng: random.Random, text: str, how: str) -> tuple[str, bytes]:
    """A change of a text that leaves it a text."""
    lines = text.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    numbers = list(re.finditer(r"-?\d+(\.\d+)?", text))
    if how == "digit" and numbers:
        number = rng.choice(numbers)
        value = rng.choice(["0", "1", "-1", "1e308", "NaN", "99999999999999999999", "0.5"])
        what = f"number at {number.start()} is {value}"
        return what, (text[: number.start()] + value + text[number.end() :]).encode()
    if how == "line":
        return f"line {i + 1} repeated", "\n".join([*lines[: i + 1], *lines[i:]]).encode()
    if how == "lines":
        lines[i], lines[j] = lines[j], lines[i]
        return f"lines {i + 1} and {j + 1} swapped", "\n".join(lines).encode()
    lists = list(re.finditer(r"\[[^\[\]]*\]", text))
    if lists:
        found = rng.choice(lists)
        return f"list at {found.start()} emptied", (text[: found.start()] + "[]" + text[found.end() :]).encode()
    return f"line {i + 1} removed", "\n".join(lines[:i] + lines[i + 1 :]).encode()
