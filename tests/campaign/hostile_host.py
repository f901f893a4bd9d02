#!/usr/bin/env python3
"""A hostile host of environments: what the engine starts in the place of Python.

It plays an environment that does not exist, and behaves well but for one thing, which `$HOSTILE` names. It is started by a
path and knows none of the files beside it.
"""

import json
import math
import os
import random
import socket
import struct
import sys
import threading
import time

HORIZON, REWARD = 5, 1.0

# What every well-behaved host says of its environment.
DESCRIPTION = {
    "image": None,
    "observation": [[None, None], [0, 1]],
    "observation_names": ["level", "flow"],
    "action_names": None,
    "choices": None,
    "action": [[-1, 1]],
    "horizon": HORIZON,
    "dt": [0.02, "tau"],
    "registered": None,
    "parameters": [{"name": "mass", "range": [1, 0.5, 2]}],
    "source": "a fixture",
    "modules": {},
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
    "dt": [0.02, [0, "tau"], [-1, "tau"], ["x", "tau"], [0.02], [1e400, "tau"]],
    "registered": [5, ["X-v0"]],
    "parameters": [None, [{"name": "x"}], [{"name": 5, "range": [1, 2, 3]}], [{"name": "x", "range": [1]}]],
    "source": [None, 5],
    "modules": [None, 5, ["a.py"], {"a.py": 5}],
    "thread": [None, "x", 1.5, 1 << 40],
    "shared": ["/etc/passwd", "/nowhere", "{folder}", "{folder}/fifo", "{folder}/link", "../x", 5, ""],
}


def frame(kind, body):
    return struct.pack("<cI", kind, len(body)) + body


def outcome(obs=(0.5, 0.5), reward=REWARD, flags=0, margin=math.inf):
    return struct.pack("<ddB", reward, margin, flags) + struct.pack(f"<{len(obs)}f", *obs)


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
            said = {"verdict": "always", "found": "", "secs": 0.0, "offered": [], "alike": "no"}
            return frame(b"H", json.dumps(said).encode())
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
        lost = self.random.choice(["observation", "action", "horizon", "parameters", "source", "modules"])
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


if __name__ == "__main__":
    be_a_host(sys.argv[1])
