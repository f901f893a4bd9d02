"""A disk that is full: a command says so or ends, nothing is half-written, and with room it goes on to the same bits.

The disk is a small file system in memory, in a name space of its own; where that cannot be had, files cannot grow beyond a
size instead. As a program this is what runs inside the name space.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from case import Campaign, Done, Tally, run
from commands import Command
from kills import half_written

# How a name space is begun in which anybody may mount.
INSIDE = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, __file__]


@cache
def can_mount() -> bool:
    """Whether this machine lets us have small disks."""
    if shutil.which("unshare") is None:
        return False
    tried = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(tried, capture_output=True).returncode == 0


def play(campaign: Campaign, rng: random.Random, command: Command, folder: Path, tally: Tally) -> str | None:
    """Runs a command on a disk that is too small, and again with room."""
    room = rng.choice([4, 16, 64, 256]) * 1024 + rng.randrange(4096)
    tally.events += 1
    first = on_small_disk(command, campaign.inputs.binary, folder, room) if can_mount() else None
    if first is None:
        first = run(command.line(campaign.inputs.binary, folder), folder, file_size=room // 4)
    if found := first.trouble():
        return f"with {room} bytes: {found}"
    tally.refused += first.code == 2
    if found := half_written(folder / "out"):
        return found
    found = campaign.finish(command, folder)
    tally.same += found is None
    return found


def on_small_disk(command: Command, binary: Path, folder: Path, room: int) -> Done | None:
    """Runs a command on a disk with so much room, and leaves what it wrote in the folder."""
    task = {"line": command.line(binary, folder), "folder": str(folder), "room": room}
    done = subprocess.run([*INSIDE, json.dumps(task)], capture_output=True, text=True)
    if done.returncode != 0:
        return Done(done.returncode, "", f"no small disk: {done.stderr}")
    return Done(**json.loads(done.stdout))


def inside(task: dict[str, Any]) -> None:
    """Mounts the disk over the folder, runs the command, and copies what is there to the folder below."""
    folder = Path(task["folder"])
    below = folder.with_name(f"{folder.name}-below")
    below.mkdir()
    subprocess.run(["mount", "--bind", str(folder), str(below)], check=True)
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={task['room']}", "none", str(folder)]
    subprocess.run(mounted, check=True)
    (folder / "out").mkdir()
    done = run(task["line"], folder)
    shutil.copytree(folder, below, dirs_exist_ok=True)
    print(json.dumps(vars(done)))
    subprocess.run(["umount", str(below)], check=True)
    below.rmdir()


if __name__ == "__main__":
    inside(json.loads(sys.argv[1]))
