"""Messages, connections, and the life of the process.

In a folder that it is told, the process opens a Unix socket, `socket`. Each connection is one environment or one policy,
with a thread of its own. A message, in either direction, is a letter, the length of its body (u32, little endian), and
the body:

=====  ===========================================  ==============================================================
`M`    what environment is wanted, as JSON           answered by `H`, a description as JSON
`R`    seed (u64), parameters as they were drawn     answered by `O`: reward, margin (f64 each), flags (u8),
       (index u32, value f64 each)                   observation
`S`    command (f32 each)                            the same
`P`    index of a parameter (u32), value (f64)       answered by `O` without a body
`C`    (does a seed repeat its episode)              answered by `H`, what was found as JSON
`Q`    what policy is wanted, as JSON                answered by `H`, a description as JSON
`F`    (an episode begins)                           answered by `O` without a body
`A`    observation (f32 each)                        answered by `A`: command (f32 each)
`L`    a policy's number and how many steps (u32      answered by `L`: steps, commands (u32 each), who raised (u8), for
       each), observation (f32 each)                 each step command and answer as to `S`, then what was raised
`V`    (has a file of the user's modules changed)    answered by `V`: a byte, 1 if so
`E`    (only from here) what went wrong, as text
=====  ===========================================  ==============================================================

Flags are 1 terminated, 2 truncated, 4 the environment says whether it succeeded, 8 it did, 16 what `info` says of the key by
which failures are told. A margin that nobody asked for or knows is infinite. A large observation is not
in the message but in the file that the description names, which the engine reads after the message has come.
"""

import contextlib
import importlib
import json
import os
import shutil
import socket
import struct
import threading
import traceback

from offnominal_host import modules
from offnominal_host.ahead import ASKED, played
from offnominal_host.environment import Guest
from offnominal_host.policy import Actor
from offnominal_host.repeats import checked

#: The longest account of what went wrong.
TOLD = 10_000

#: The most bytes that are taken from a connection at once.
PIECE = 1 << 20

#: What a reset is told: a seed, and for each parameter that was drawn its place and its value.
SEED, DRAWN = struct.Struct("<Q"), struct.Struct("<Id")

#: Letter and length.
HEADER = struct.Struct("<cI")


#: The policies of this process, by the numbers of their connections.
ACTORS = {}


class Connection:
    """What one connection stands for, once that is known."""

    def __init__(self, folder, number):
        self.folder, self.number, self.guest, self.actor, self.frombuffer = folder, number, None, None, None
        self.answers = {
            b"S": self.step, b"A": self.act, b"R": self.reset, b"F": self.forget, b"P": self.change, b"M": self.make,
            b"Q": self.seat, b"V": self.have_changed, b"C": self.check, b"L": self.play,
        }  # fmt: skip

    def make(self, body):
        """An environment."""
        self._read_numbers()
        self.guest = Guest(json.loads(body), self.folder, self.number)
        modules.remember()
        return b"H", json.dumps(self.guest.describe()).encode()

    def check(self, _):
        """Whether a seed repeats its episode."""
        found = checked(self.guest, lambda: Guest(self.guest.wanted, None, 0))
        return b"H", json.dumps(found).encode()

    def seat(self, body):
        """A policy."""
        self._read_numbers()
        self.actor = ACTORS[self.number] = Actor(json.loads(body))
        return b"H", json.dumps({**self.actor.describe(), "number": self.number}).encode()

    def _read_numbers(self):
        import numpy

        self.frombuffer = numpy.frombuffer

    def reset(self, body):
        drawn = list(DRAWN.iter_unpack(body[SEED.size:]))
        return b"O", self.guest.reset(*SEED.unpack_from(body), drawn)

    def step(self, body):
        return b"O", self.guest.step(self.frombuffer(body, "<f4"))

    def play(self, body):
        """Steps that nothing disturbs."""
        number, steps = ASKED.unpack_from(body)
        row = self.frombuffer(body, "<f4", offset=ASKED.size)
        made, error = played(self.guest, ACTORS[number], row, steps)
        return b"L", made + (told(error).encode(errors="replace") if error else b"")

    def change(self, body):
        self.guest.change(*struct.unpack("<Id", body))
        return b"O", b""

    def forget(self, _):
        self.actor.reset()
        return b"O", b""

    def act(self, body):
        return b"A", self.actor.command(self.frombuffer(body, "<f4")).tobytes()

    def have_changed(self, _):
        return b"V", bytes([modules.have_changed()])

    def close(self):
        """Nobody asks any longer."""
        ACTORS.pop(self.number, None)
        if self.guest:
            self.guest.env.close()


def told(error):
    """What was raised, and where."""
    try:
        said = str(error)
    except Exception:
        said = ""
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    own = os.path.dirname(__file__)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(("<", own))]
    place = f" ({frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return text[:TOLD] + place[:TOLD]


def messages(connection):
    """Letter and body of each message, until the connection is closed."""
    heard, needed, unpack = b"", HEADER.size, HEADER.unpack_from
    while True:
        while len(heard) < needed:
            if not (piece := connection.recv(PIECE)):
                return
            heard += piece
        kind, length = unpack(heard)
        needed = HEADER.size + length
        if len(heard) >= needed:
            yield kind, heard[HEADER.size:needed]
            heard, needed = heard[needed:], HEADER.size


def serve(connection, folder, number):
    """Answers the messages of one connection until it is closed."""
    own = Connection(folder, number)
    send, answers, pack = connection.sendall, own.answers, HEADER.pack
    for kind, body in messages(connection):
        try:
            kind, body = answers[kind](body)
        except BaseException as error:  # Whatever somebody's code raises is told, not died of.
            kind, body = b"E", told(error).encode(errors="replace")
        send(pack(kind, len(body)) + body)
    own.close()


def end_with_the_engine(folder):
    """Standard input is closed when the engine is gone, however it went."""
    while os.read(0, 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def main(folder):
    """Serves until the engine is gone."""
    # Imported before anybody waits for an answer; what they raise is told by the first environment, which needs them too.
    with contextlib.suppress(BaseException):
        importlib.import_module("gymnasium")
    threading.Thread(target=end_with_the_engine, args=(folder,), daemon=True).start()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(folder, "socket"))
    listener.listen()
    number = 0
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, folder, number), daemon=True).start()
        number += 1
