"""One case of the campaign: a seed, a folder, and what came of it."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import compare
from commands import Command, Inputs, environment

# The longest that a command of a second may take on a busy machine.
LIMIT_SECS = 240
# The exit code of a command that Ctrl-C ended.
INTERRUPTED = 130


@dataclass
class Done:
    """How a process ended."""

    code: int
    stdout: str
    stderr: str

    def trouble(self) -> str | None:
        """What is a defect whatever was done to it: a panic, a signal of its own, a silent error."""
        last = (self.stderr.strip().splitlines() or ["no word"])[-1][:300]
        if self.code == 101 or "panicked at" in self.stderr:
            return f"panic: {self.stderr[:300]}"
        if self.code < 0:
            return f"ended by signal {-self.code}: {last}"
        if self.code not in (0, 1, 2):
            return f"exit code {self.code}: {last}"
        return None if self.code == 0 or self.stderr.strip() else f"exit code {self.code} without a word"


@dataclass
class Tally:
    """Counts of a part and a command."""

    cases: int = 0
    events: int = 0
    refused: int = 0
    same: int = 0
    secs: float = 0.0


@dataclass
class Campaign:
    """What all parts share."""

    inputs: Inputs
    work: Path
    seed: int
    end: float
    case: str | None
    only: str = ""
    expected: dict[str, dict[str, Any]] = field(default_factory=dict)
    usual_secs: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    defects: list[str] = field(default_factory=list)

    def cases(self, part: str, play: Callable[[Campaign, random.Random, Command, Path, Tally], str | None]) -> None:
        """Plays cases, one command after another, until the time is over."""
        number = 0
        while time.monotonic() < self.end or (number == 0 and self.case):
            command = self.commands()[number % len(self.commands())]
            name = f"{part}:{number}"
            number += 1
            if self.case and self.case != name:
                if number > 1_000_000:
                    return
                continue
            self.one(part, name, command, play)
            if self.case:
                return

    def one(self, part: str, name: str, command: Command, play: Callable[..., str | None]) -> None:
        """Plays one case in a folder of its own, which stays if there is a defect."""
        folder, begun = self.work / name.replace(":", "-"), time.monotonic()
        (folder / "out").mkdir(parents=True)
        tally = self.tallies.setdefault((part, command.name), Tally())
        found = play(self, random.Random(f"{self.seed} {name}"), command, folder, tally)
        tally.cases += 1
        tally.secs += time.monotonic() - begun
        if found is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            again = f"python3 tests/campaign/run.py --seed {self.seed} --case {name}{self.only}"
            self.defects.append(f"{command.name}: {found}\n    again: {again}\n    folder: {folder}")
            print(f"DEFECT {self.defects[-1]}", flush=True)

    def commands(self) -> list[Command]:
        """The commands that this build can run."""
        return [c for c in self.inputs.commands if c.name not in self.skipped]

    def reference(self) -> None:
        """Runs each command undisturbed, twice: what it gives, and how long it takes."""
        for command in self.inputs.commands:
            for number in range(2):
                folder, begun = self.work / f"undisturbed-{command.name}-{number}", time.monotonic()
                (folder / "out").mkdir(parents=True)
                done = run(command.line(self.inputs.binary, folder), folder)
                if done.code != 0 and command.missing in done.stderr:
                    self.skipped[command.name] = "not in this build"
                    break
                if done.code != 0:
                    raise SystemExit(f"{command.name} fails undisturbed: {done.stderr}")
                if number == 0:
                    self.expected[command.name] = compare.state(folder)
                self.usual_secs[command.name] = time.monotonic() - begun
                print(f"undisturbed: {command.name}, {self.usual_secs[command.name]:.1f} s", flush=True)
                if found := compare.difference(self.expected[command.name], folder):
                    self.defects.append(f"{command.name}: two undisturbed runs: {found}")

    def finish(self, command: Command, folder: Path) -> str | None:
        """Runs a command to its end, and compares what it gives."""
        done = run(command.line(self.inputs.binary, folder), folder)
        if done.code != 0:
            return f"did not go on: {done.trouble() or done.stderr.strip()[:400]}"
        return self.compare(command, folder)

    def compare(self, command: Command, folder: Path) -> str | None:
        """The first thing in which a folder is not that of an undisturbed run."""
        return compare.difference(self.expected[command.name], folder)


def limits(file_size: int | None, memory: int | None) -> Callable[[], None]:
    """What a child may use; a signal about it is an error of a write."""

    def apply() -> None:
        if file_size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return apply


def start(line: list[str], folder: Path, **more: Any) -> subprocess.Popen[bytes]:
    """Starts a command in a group of processes of its own, so that a kill reaches all of them."""
    with (folder / "stdout.txt").open("ab") as out, (folder / "stderr.txt").open("ab") as err:
        return subprocess.Popen(
            line, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True, **more,
        )


def kill(process: subprocess.Popen[bytes], by: signal.Signals = signal.SIGKILL) -> bool:
    """Ends a group of processes; whether it was still there, and not done.

    A command that is interrupted ends by itself, with the exit code that shells have for it.
    """
    was_there = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, by)
    try:
        process.wait(LIMIT_SECS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return was_there and (process.returncode == -by or (by == signal.SIGINT and process.returncode == INTERRUPTED))


def run(
    line: list[str], folder: Path, stdin: bytes = b"", file_size: int | None = None, memory: int | None = None
) -> Done:
    """Runs a command to its end."""
    process = subprocess.Popen(
        line, cwd=folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=limits(file_size, memory),
    )
    try:
        out, err = process.communicate(stdin, timeout=LIMIT_SECS)
    except subprocess.TimeoutExpired:
        kill(process)
        return Done(-9, "", f"not finished after {LIMIT_SECS} s")
    return Done(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
