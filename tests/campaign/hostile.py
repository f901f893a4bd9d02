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
import contextlib
import json
import math
import os
import random
import re
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

# Seconds that an answer may take, and that a whole command may take.
ANSWER, COMMAND = 1.0, 45.0

# Megabytes of a command.
MEMORY = 700

HORIZON, REWARD = 5, 1.0

PORTS = (30004, 30003, 29999)

# What every well-behaved host says of its environment.
DESCRIPTION = {
    "image": None,
    "observation": [[None, None], [0, 1]],
    "observation_names": ["level", "flow"],
    "action_names": None,
    "choices": None,
    "action": [[-1, 1]],
    "horizon": HORIZON,
    "parameters": [{"name": "mass", "range": [1, 0.5, 2]}],
    "source": "a fixture",
    "shared": None,
    # No thread of its own, which is not to be moved.
    "thread": 1,
}

# Other values of its fields, none of which can be played.
WRONG_FIELDS = {
    "image": [[0, 0, 0, 0], [1 << 40, 1 << 40, 1 << 40, 1 << 40], [1, 3], [-1, 3, 2, 2], "x", [1 << 20, 1, 1 << 10, 1]],
    "observation": [[], [[1]], [[None]], "x", 5, [["a", "b"]]],
    "observation_names": [["x"], ["x", "x"], ["", "y"], ["a\nb", "c"], 7, ["x" * 1000, "y"]],
    "action_names": [[], ["a", "b"], {"a": 1}],
    "choices": [[0], [1], [1 << 40], [-1], ["a"], []],
    "action": [[], [[0]], None],
    "horizon": [0, -1, 1 << 32, 1.5, "x", 4_000_000_000, None],
    "parameters": [None, [{"name": "x"}], [{"name": 5, "range": [1, 2, 3]}], [{"name": "x", "range": [1]}]],
    "source": [None, 5],
    "thread": [None, "x", 1.5, 1 << 40],
    "shared": ["/etc/passwd", "/nowhere", "{folder}", "{folder}/fifo", "{folder}/link", "../x", 5, ""],
}


def frame(kind, body):
    return struct.pack("<cI", kind, len(body)) + body


def outcome(obs=(0.5, 0.5), reward=REWARD, flags=0):
    return struct.pack("<dB", reward, flags) + struct.pack(f"<{len(obs)}f", *obs)


class Close(Exception):
    """The connection is closed."""


class Host:
    """A host that behaves well but for one thing, which happens at the k-th answer of each connection."""

    def __init__(self, kind, seed, folder):
        self.kind, self.random, self.folder = kind, random.Random(seed), folder
        self.at = 0 if kind.startswith("description") else self.random.randrange(0, 6)

    def answer(self, k, kind, body):
        """The bytes that answer the k-th message."""
        good = self.good(kind)
        if self.kind == "well" or (self.kind != "loud" and k != self.at):
            return good
        return getattr(self, "do_" + self.kind)(k, kind, good)

    def good(self, kind):
        if kind == b"M":
            return frame(b"H", json.dumps(DESCRIPTION).encode())
        if kind == b"C":
            return frame(b"H", json.dumps({"verdict": "always", "found": "", "secs": 0.0}).encode())
        if kind == b"V":
            return frame(b"V", b"\0")
        return frame(b"O", b"" if kind == b"P" else outcome())

    def do_loud(self, k, kind, good):
        for stream in (1, 2):
            for _ in range(200):
                os.write(stream, b"x" * 65536 + b"\n")
        return good

    def do_nan(self, k, kind, good):
        """A number that is none; where there is no number, nonsense."""
        value = self.random.choice([math.nan, math.inf, -math.inf])
        if kind == b"M":
            return frame(b"H", b"NaN")
        if kind == b"P":
            return self.do_letter(k, kind, good)
        # Only a step has a reward.
        is_reward = kind == b"S" and self.random.random() < 0.5
        return frame(b"O", outcome(reward=value) if is_reward else outcome((0.5, value)))

    def do_huge(self, k, kind, good):
        """A body that nobody could keep, announced."""
        return struct.pack("<cI", good[:1], self.random.choice([0xFFFFFFFF, 1 << 31, (1 << 28) + 1])) + good[5:]

    def do_announced(self, k, kind, good):
        """More than comes: it is waited for, and the memory is not taken before."""
        return struct.pack("<cI", good[:1], len(good) - 5 + self.random.randrange(1, 1 << 15)) + good[5:]

    def do_truncated(self, k, kind, good):
        raise Close(good[: self.random.randrange(len(good))])

    def do_letter(self, k, kind, good):
        return bytes([self.random.choice([c for c in range(256) if c not in b"HO"])]) + good[1:]

    def do_width(self, k, kind, good):
        if kind == b"M":
            return frame(b"H", b"")
        wrong = self.random.choice([0, 1, 3, 100])
        return frame(b"O", self.random.choice([outcome((0.5,) * wrong), b"", outcome()[:7], outcome()[:-1]]))

    def do_noise(self, k, kind, good):
        raise Close(self.random.randbytes(self.random.randrange(5, 5000)).replace(b"H", b"h").replace(b"O", b"o"))

    def do_silent(self, k, kind, good):
        time.sleep(60)

    def do_dribble(self, k, kind, good):
        """A byte now and then, so that something always comes."""
        return ("slowly", frame(good[:1], good[5:] + bytes(2000)))

    def do_dies(self, k, kind, good):
        os.write(2, b"I am dying\n")
        os._exit(self.random.randrange(256))

    def do_error(self, k, kind, good):
        return frame(
            b"E", self.random.choice([b"", b"\xff\xfe no text", b"x" * 60_000, b"x" * 10_000_000, b"a\nb\x1b[31m"])
        )

    def do_description_field(self, k, kind, good):
        field = self.random.choice(sorted(WRONG_FIELDS))
        value = self.random.choice(WRONG_FIELDS[field])
        if field == "shared" and isinstance(value, str):
            value = value.replace("{folder}", self.folder)
        return frame(b"H", json.dumps({**DESCRIPTION, field: value}).encode())

    def do_description_json(self, k, kind, good):
        text = json.dumps(DESCRIPTION).encode()
        cut = self.random.randrange(1, len(text))
        # Other fields may be absent.
        lost = self.random.choice(["observation", "action", "horizon", "parameters", "source"])
        less = {key: value for key, value in DESCRIPTION.items() if key != lost}
        choices = [text[:cut], b"[" * 100_000, b"null", b"{}", b"\xff" + text, text + text, json.dumps(less).encode()]
        choices.append(json.dumps({**DESCRIPTION, "more": 1}).encode())
        # Twice the same key.
        choices.append(b'{"image": null, ' + text[1:])
        return frame(b"H", self.random.choice(choices))

    def do_mutated(self, k, kind, good):
        """A few bytes differ; it may still make sense."""
        bytes_ = bytearray(good)
        for _ in range(self.random.randrange(1, 4)):
            if self.random.random() < 0.6 or len(bytes_) < 3:
                bytes_[self.random.randrange(len(bytes_))] ^= 1 << self.random.randrange(8)
            else:
                at = self.random.randrange(len(bytes_))
                bytes_[at : at + self.random.randrange(1, 9)] = self.random.randbytes(self.random.randrange(9))
        return bytes(bytes_)


# Exit codes that are right; nothing is known of what comes of mutated bytes.
EXPECTED = {"well": {0}, "loud": {0}, "mutated": {0, 2}}
KINDS = ["well", "loud", "mutated"] + [name[3:] for name in sorted(dir(Host)) if name.startswith("do_")]
KINDS = list(dict.fromkeys(KINDS))


def serve(connection, host):
    """One environment: as long as the engine asks."""
    stream = connection.makefile("rwb")
    for k in range(1 << 30):
        header = stream.read(5)
        if len(header) < 5:
            break
        kind, length = struct.unpack("<cI", header)
        body = stream.read(length)
        try:
            said = host.answer(k, kind, body)
            if isinstance(said, tuple):
                for byte in said[1]:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.02)
            else:
                connection.sendall(said)
        except Close as last:
            connection.sendall(last.args[0])
            connection.shutdown(socket.SHUT_RDWR)
            break
        except OSError:
            break
    connection.close()


def be_a_host(folder):
    """What the engine starts in the place of Python."""
    wanted = json.loads(os.environ["HOSTILE"])
    threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()
    if not os.path.exists(os.path.join(folder, "fifo")):
        os.mkfifo(os.path.join(folder, "fifo"))
        os.symlink("/etc/passwd", os.path.join(folder, "link"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(folder, "socket"))
    listener.listen(64)
    while True:
        connection, _ = listener.accept()
        host = Host(wanted["kind"], wanted["seed"], folder)
        threading.Thread(target=serve, args=(connection, host), daemon=True).start()


class Ran:
    """A command that has ended, or was ended."""

    def __init__(self, line, environment=None, folder=None):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.monotonic()
            process = subprocess.Popen(
                line,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})},
                cwd=folder,
            )
            self.megabytes, self.is_late = 0.0, False
            while process.poll() is None:
                self.megabytes = max(self.megabytes, resident(process.pid))
                if time.monotonic() - began > COMMAND or self.megabytes > MEMORY:
                    self.is_late = self.megabytes <= MEMORY
                    process.kill()
                time.sleep(0.01)
            self.secs, self.code = time.monotonic() - began, process.returncode
            self.out, self.err = (read(stream) for stream in (out, err))

    def defect(self, expected):
        """What is wrong with it, if anything is."""
        if self.megabytes > MEMORY:
            return f"{self.megabytes:.0f} MB of memory"
        if self.is_late:
            return f"no end within {COMMAND} s"
        if "panicked" in self.err or self.code not in (0, 1, 2):
            return f"it broke with {self.code}"
        if self.code not in expected:
            return f"exit code {self.code}, expected {' or '.join(map(str, sorted(expected)))}"
        return None


def read(stream):
    stream.seek(0)
    return stream.read(1 << 20).decode(errors="replace")


def resident(pid):
    """The most memory that a process had, in MB; 0 where that is not told."""
    try:
        with open(f"/proc/{pid}/status") as status:
            found = re.search(r"VmHWM:\s*(\d+) kB", status.read())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def host_case(binary, seed, folder):
    """A command with a hostile host; the kind, and what is wrong."""
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    stand_in = os.path.join(folder, "python3")
    if not os.path.exists(stand_in):
        with open(stand_in, "w") as file:
            file.write(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" -I "{os.path.abspath(__file__)}" --host "$1"\n')
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


class Proxy(threading.Thread):
    """Stands before a robot, and spoils what it says."""

    def __init__(self, address, behind, seed):
        super().__init__(daemon=True)
        self.behind, self.random, self.is_over = behind, random.Random(seed), False
        self.kind = self.random.choice(["flip", "cut", "close", "silent", "insert", "flood", "huge", "well"])
        # Bytes of the robot that are left as they are.
        self.after = self.random.choice([0, 3, 40, 400, 4000, 20_000, 60_000])
        self.spoilt_port = self.random.choice([30004, 30004, 30004, 29999])
        self.listeners = [socket.create_server((address, port)) for port in PORTS]

    def run(self):
        while not self.is_over:
            with selectors.DefaultSelector() as selector:
                for listener in self.listeners:
                    selector.register(listener, selectors.EVENT_READ)
                for key, _ in selector.select(0.1):
                    try:
                        client, _ = key.fileobj.accept()
                        port = key.fileobj.getsockname()[1]
                        robot = socket.create_connection((self.behind, port), 5)
                    except OSError:
                        continue
                    threading.Thread(target=self.pass_on, args=(client, robot, None), daemon=True).start()
                    threading.Thread(target=self.pass_on, args=(robot, client, port), daemon=True).start()

    def pass_on(self, source, target, port):
        """Bytes in one direction; those of the robot are spoilt if its port is the one."""
        passed = 0
        try:
            while data := source.recv(4096):
                if port == self.spoilt_port and passed + len(data) > self.after and self.kind != "well":
                    data = self.spoilt(data)
                if data is None:
                    break
                target.sendall(data)
                passed += len(data)
        except OSError:
            pass
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def spoilt(self, data):
        bytes_, at = bytearray(data), self.random.randrange(len(data))
        if self.kind == "flip":
            bytes_[at] ^= 1 << self.random.randrange(8)
        elif self.kind == "cut":
            del bytes_[at : at + self.random.randrange(1, 50)]
        elif self.kind == "insert":
            bytes_[at:at] = self.random.randbytes(self.random.randrange(1, 50))
        elif self.kind == "flood":
            bytes_ += self.random.randbytes(1 << 20)
        elif self.kind == "huge":
            bytes_[:0] = b"\xff\xff\x55"
        elif self.kind == "silent":
            time.sleep(20)
        elif self.kind == "close":
            return None
        return bytes(bytes_)

    def close(self):
        self.is_over = True
        self.join()
        for listener in self.listeners:
            listener.close()


def robot_case(binary, seed, folder, behind, front):
    """A command with a hostile robot."""
    proxy = Proxy(front, behind, seed)
    proxy.start()
    try:
        line = [binary, "evaluate", "--env", "urr-reach", "--policy", "random", "--episodes", "2", "--robot", front]
        ran = Ran([*line, "--json", "--quiet"], folder=folder)
    finally:
        proxy.close()
    return f"robot {proxy.kind}", ran.defect({0} if proxy.kind == "well" else {0, 2}), ran


class Robot:
    """The simulated robot; `None` in the place of its address where it cannot be had."""

    def __init__(self, binary):
        number = 2 + os.getpid() % 100
        self.address, self.front = f"127.0.0.{number}", f"127.0.0.{number + 110}"
        line = [binary, "ur-sim", "--quiet", "--address", self.address, "--speed", "5"]
        self.process = subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        if not self.process.stdout.readline():
            self.address = None

    def close(self):
        self.process.terminate()
        self.process.wait()


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
    parser.add_argument("--host", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.host:
        be_a_host(arguments.host)
    sys.exit(campaign(arguments))


if __name__ == "__main__":
    main()
