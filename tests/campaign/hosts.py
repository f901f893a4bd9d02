"""Hostile lines and hostile robots: whatever comes, the program says what it found, and ends in time."""

from __future__ import annotations

import json
import math
import random
import socket
import threading
from pathlib import Path

from case import Campaign, Tally, run
from commands import Command
from mutants import MEMORY, mutated


def play(campaign: Campaign, rng: random.Random, command: Command, folder: Path, tally: Tally) -> str | None:
    """Feeds a monitor with lines, or serves a robot that is none."""
    return rng.choice([lines, robot])(campaign, rng, folder, tally)


def lines(campaign: Campaign, rng: random.Random, folder: Path, tally: Tally) -> str | None:
    """Steps as a robot would send them, of which some were changed."""
    monitor = campaign.inputs.folder / "knn.monitor"
    if not monitor.exists():
        fit = ["fit", "--env", "sap-goal0", "--policy", "tqc", "--detector", "knn", "--train", "8"]
        campaign.inputs.run(*fit, "--calibration", "20", "--seed", "1", "--out", str(monitor))
    text = "\n".join(json.dumps(step(rng)) for _ in range(rng.randint(1, 40))) + "\n"
    data = text.encode()
    for _ in range(rng.randint(1, 4)):
        data = mutated(rng, data)[1] or b"\n"
    tally.events += 1
    done = run([str(campaign.inputs.binary), "monitor", str(monitor)], folder, data, memory=MEMORY)
    tally.refused += done.code == 2
    if found := done.trouble():
        (folder / "lines").write_bytes(data)
        return found
    for answer in done.stdout.splitlines():
        if not sound(answer):
            (folder / "lines").write_bytes(data)
            return f"an answer is no JSON: {answer[:200]}"
    return None


def step(rng: random.Random) -> dict[str, object]:
    """A step of sap-goal0, now and then a strange one."""
    strange = [0.0, 1e308, -1e308, 5e-324, math.pi]
    def number() -> float:
        return rng.choice(strange) if rng.random() < 0.05 else rng.uniform(-1, 1)

    found: dict[str, object] = {"obs": [number() for _ in range(4)], "action": [number() for _ in range(2)]}
    if rng.random() < 0.1:
        found["next_obs"] = [number() for _ in range(rng.choice([4, 4, 0, 3, 9]))]
    return found


def sound(text: str) -> bool:
    """Whether a line is JSON without numbers that JSON does not have."""
    def refuse(_: str) -> None:
        raise ValueError

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def robot(campaign: Campaign, rng: random.Random, folder: Path, tally: Tally) -> str | None:
    """A controller that answers with noise, too little, or nothing."""
    ports = [29999, 30003, 30004]
    address = f"127.{rng.randint(1, 254)}.{rng.randint(0, 254)}.{rng.randint(2, 254)}"
    listening = [socket.create_server((address, port)) for port in ports]
    for server in listening:
        threading.Thread(target=serve, args=(server, random.Random(rng.random())), daemon=True).start()
    line = [str(campaign.inputs.binary), "collect", "--env", "urr-reach", "--policy", "tqc", "--episodes", "1"]
    done = run([*line, "--robot", address, "--out", "out", "--quiet"], folder, memory=MEMORY)
    for server in listening:
        server.close()
    tally.events += 1
    tally.refused += done.code == 2
    return done.trouble() or (f"a robot that is none was believed: {done.stdout}" if done.code == 0 else None)


def serve(server: socket.socket, rng: random.Random) -> None:
    """Answers each connection in a bad way."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=answer, args=(connection, random.Random(rng.random())), daemon=True).start()


def answer(connection: socket.socket, rng: random.Random) -> None:
    """Sends noise, a packet that promises more than it holds, a flood, or nothing, and closes at some time."""
    with connection:
        connection.settimeout(5.0)
        try:
            for _ in range(rng.randint(0, 6)):
                kind = rng.randrange(4)
                if kind == 0:
                    connection.sendall(rng.randbytes(rng.randint(1, 300)))
                elif kind == 1:
                    size = rng.choice([0, 1, 2, 3, 10, 65535])
                    connection.sendall(size.to_bytes(2, "big") + b"V" + rng.randbytes(min(size, 40)))
                elif kind == 2:
                    connection.sendall(b"Connected: Universal Robots Dashboard Server\n" * rng.randint(1, 2000))
                else:
                    connection.recv(200)
        except OSError:
            return
