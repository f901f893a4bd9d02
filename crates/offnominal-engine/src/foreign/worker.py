"""Hosts Gymnasium environments for an engine in another process, which starts this as ``python -c`` with a folder.

In the folder it opens a Unix socket, `door`. Each connection is one environment with a thread of its own. A message,
in either direction, is a letter, the length of its body (u32, little endian), and the body:

=====  ===========================================  ==============================================================
`M`    the environment's id, with its options       answered by `H`, a description as JSON
`R`    seed (u64)                                    answered by `O`: reward (f64), flags (u8), observation
`S`    command (f32 each)                            the same
`P`    index of a parameter (u32), value (f64)       answered by `O` without a body
`E`    (only from here) what went wrong, as text
=====  ===========================================  ==============================================================

Flags are 1 terminated, 2 truncated, 4 the environment says whether it succeeded, 8 it did. A large observation is not
in the message but in the file that the description names, which the engine reads after the message has come.
"""

import contextlib
import importlib
import importlib.metadata
import json
import math
import mmap
import os
import socket
import struct
import sys
import threading
import traceback
from urllib.parse import parse_qsl

# An observation of more bytes is handed over in a shared file.
INLINE = 4096

# Steps of an episode where the environment names no limit.
HORIZON = 1000

# The longest account of what went wrong.
TOLD = 10_000

# Modules that register the environments of a namespace, where they are not called like it.
HOMES = {"ALE": "ale_py"}

# Options and keys of an environment's metadata that name its channels.
NAMES = ("observation_names", "action_names")

TERMINATED, TRUNCATED, JUDGED, SUCCEEDED = 1, 2, 4, 8


def value(text):
    """An option: JSON where it is, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def look_in(folder):
    """Modules of a folder are found from now on, after all that are installed."""
    if not os.path.isdir(folder):
        raise ValueError(f"modules: expected a folder, found {folder!r}")
    if (folder := os.path.abspath(folder)) not in sys.path:
        sys.path.append(folder)


def made(name, options):
    """The environment, or what to do where its module is not found."""
    module = name.rpartition(":")[0]
    try:
        return constructed(name, options)
    except ModuleNotFoundError as error:
        # Gymnasium wraps what the import raised.
        missing = error.__cause__ or error
        if not module or getattr(missing, "name", None) != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(f"{missing}: expected an installed module, or its folder as ?modules=FOLDER") from None


def constructed(name, options):
    """The environment without a limit of its own, for the engine keeps the time."""
    import gymnasium

    namespace = name.rpartition("/")[0]
    if ":" not in name and namespace and not any(known.startswith(namespace + "/") for known in gymnasium.registry):
        with contextlib.suppress(ImportError):  # Gymnasium's own complaint names the namespace.
            importlib.import_module(HOMES.get(namespace, namespace))
    return gymnasium.make(name, max_episode_steps=-1, disable_env_checker=True, **options)


def parts(space, name=""):
    """Names of the numbers of a flattened observation: its keys, joined with a stroke, and places in brackets."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        return [n for key, part in space.spaces.items() for n in parts(part, f"{name}/{key}" if name else str(key))]
    if isinstance(space, spaces.Tuple):
        return [n for i, part in enumerate(space.spaces) for n in parts(part, f"{name}[{i}]")]
    size = spaces.flatdim(space)
    name = name or "o"
    return [name] if size == 1 else [f"{name}[{i}]" for i in range(size)]


def names(given, metadata, key):
    """Names of channels: those of the id, else those of the environment's metadata."""
    if isinstance(given, str):
        return [name.strip() for name in given.split(",")]
    found = given if given is not None else metadata.get(key)
    return None if found is None else [str(name) for name in found]


def bound(x):
    """JSON has no infinity."""
    return float(x) if math.isfinite(x) else None


def bounds(space):
    return [[bound(low), bound(high)] for low, high in zip(space.low.ravel(), space.high.ravel())]


def shown(space):
    """Frames, planes, rows, columns if the observation is an image: grey, in colour, or a stack of grey ones."""
    if getattr(space, "dtype", None) != "uint8" or space.shape is None or len(space.shape) not in (2, 3):
        return None
    if len(space.shape) == 2:
        return [1, 1, *space.shape]
    first, second, third = space.shape
    if third in (1, 3):
        return [1, third, first, second]
    return [first, 1, second, third] if first <= 16 else None


def choices(space):
    """How many there are for each command, if commands are choices."""
    import gymnasium.spaces as spaces

    if isinstance(space, spaces.Discrete):
        return [int(space.n)]
    if isinstance(space, spaces.MultiDiscrete):
        return [int(n) for n in space.nvec.ravel()]
    if isinstance(space, spaces.MultiBinary):
        return [2] * math.prod(space.shape)
    return None


def version(name):
    """Of an imported package; nothing where it does not say."""
    said = getattr(sys.modules[name], "__version__", None)
    if said is None:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            said = importlib.metadata.version(name)
    return said if isinstance(said, str) else ""


class Guest:
    """One environment, with its observations as one row of numbers."""

    def __init__(self, wanted, folder, number):
        import gymnasium

        name, _, query = wanted.partition("?")
        options = {key: value(text) for key, text in parse_qsl(query)}
        self.horizon = options.pop("horizon", None)
        given = [options.pop(key, None) for key in NAMES]
        if (modules := options.pop("modules", None)) is not None:
            look_in(str(modules))
        self.env = made(name, options)
        metadata = {**(self.env.unwrapped.metadata or {})}
        self.names = [names(of, metadata, key) for of, key in zip(given, NAMES)]
        if isinstance(self.env.observation_space, (gymnasium.spaces.Dict, gymnasium.spaces.Tuple)):
            self.names[0] = self.names[0] or parts(self.env.observation_space)
            self.env = gymnasium.wrappers.FlattenObservation(self.env)
        registered = gymnasium.spec(name.rpartition(":")[2]).max_episode_steps
        self.horizon = self.horizon or registered or HORIZON
        self.image = shown(self.env.observation_space)
        if self.image:
            self.names[0] = None
        self.choices = choices(self.env.action_space)
        self.set, self.parameters = self._setter()
        self.changed = set()
        self._share(folder, number)

    def _setter(self):
        """What sets physical quantities, and which there are: the environment's own, or those of MuJoCo, if our Python
        package is there too.
        """
        own = self.env.unwrapped
        if hasattr(own, "PARAMETERS") and hasattr(own, "set_parameter"):
            return type(own).set_parameter, own.PARAMETERS
        if not hasattr(getattr(self.env.unwrapped, "model", None), "body_mass"):
            return None, {}
        try:
            from offnominal._mujoco import Mujoco
        except ImportError:
            return None, {}
        return Mujoco(self.env.unwrapped), Mujoco.PARAMETERS

    def _share(self, folder, number):
        """Where a large observation is written."""
        import numpy

        size = math.prod(self.env.observation_space.shape or (1,)) * (1 if self.image else 4)
        self.path = os.path.join(folder, f"observation-{number}") if size > INLINE else None
        self.shared = None
        if self.path:
            with open(self.path, "w+b") as file:
                file.truncate(size)
                self.shared = numpy.frombuffer(mmap.mmap(file.fileno(), size), numpy.uint8)

    def describe(self):
        """Channels, horizon, parameters and versions."""
        return {
            "image": self.image,
            "observation": [] if self.image else self._observation(),
            "observation_names": self.names[0],
            "action_names": self.names[1],
            "choices": self.choices,
            "action": [] if self.choices else bounds(self._box(self.env.action_space, "action")),
            "horizon": self.horizon,
            "parameters": [{"name": n, "range": list(r)} for n, r in self.parameters.items()],
            "source": self._source(),
            "shared": self.path,
        }

    def _observation(self):
        import numpy

        space = self.env.observation_space
        many = choices(space)
        if not many:
            return bounds(self._box(space, "observation"))
        starts = numpy.broadcast_to(numpy.ravel(getattr(space, "start", 0)), len(many))
        return [[float(start), float(start + n - 1)] for start, n in zip(starts, many)]

    @staticmethod
    def _box(space, what):
        import gymnasium

        if not isinstance(space, gymnasium.spaces.Box):
            raise ValueError(f"{what} space: expected numbers, choices or an image, found {space}")
        return space

    def _source(self):
        import gymnasium

        home = type(self.env.unwrapped).__module__.partition(".")[0]
        known = [
            name for name in dict.fromkeys((home, "numpy", "mujoco")) if name != "gymnasium" and name in sys.modules
        ]
        return ", ".join(
            [f"Gymnasium {gymnasium.__version__}", *(f"{name} {version(name)}".rstrip() for name in known)]
        )

    def reset(self, seed):
        """Begins an episode in which every parameter is nominal."""
        for name in self.changed:
            self.set(self.env.unwrapped, name, self.parameters[name][0])
        self.changed.clear()
        obs, info = self.env.reset(seed=seed)
        return self._told(0.0, 0, info, obs)

    def step(self, command):
        obs, reward, terminated, truncated, info = self.env.step(self._action(command))
        flags = TERMINATED * bool(terminated) | TRUNCATED * bool(truncated)
        return self._told(float(reward), flags, info, obs)

    def change(self, index, number):
        name = list(self.parameters)[index]
        self.changed.add(name)
        self.set(self.env.unwrapped, name, number)

    def _action(self, command):
        import numpy

        space = self.env.action_space
        if not self.choices:
            return command.astype(space.dtype).reshape(space.shape)
        if not numpy.isfinite(command).all():
            raise ValueError(f"action: expected a choice, found {command}")
        # The nearest choice, halves away from zero, as the engine's own environments read a command.
        whole = numpy.clip(numpy.floor(command + 0.5), 0, numpy.array(self.choices) - 1).astype(numpy.int64)
        start = getattr(space, "start", 0)
        return int(whole[0] + start) if space.shape == () else (whole.reshape(space.shape) + start).astype(space.dtype)

    def _told(self, reward, flags, info, obs):
        success = info.get("is_success", info.get("success"))
        if success is not None:
            flags |= JUDGED | SUCCEEDED * bool(success)
        numbers = self._numbers(obs)
        if self.shared is None:
            return struct.pack("<dB", reward, flags) + numbers.tobytes()
        self.shared[:] = numbers.view(self.shared.dtype)
        return struct.pack("<dB", reward, flags)

    def _numbers(self, obs):
        import numpy

        if not self.image:
            return numpy.ascontiguousarray(obs, "<f4").ravel()
        colours = numpy.moveaxis(obs, -1, 0) if self.image[1] == 3 else obs
        return numpy.ascontiguousarray(colours, numpy.uint8).ravel()


def answer(guest, kind, body):
    """The letter and the body of what is said to a message."""
    import numpy

    if kind == b"R":
        return b"O", guest.reset(*struct.unpack("<Q", body))
    if kind == b"S":
        return b"O", guest.step(numpy.frombuffer(body, "<f4"))
    guest.change(*struct.unpack("<Id", body))
    return b"O", b""


def told(error):
    """What was raised, and where."""
    try:
        said = str(error)
    except Exception:
        said = ""
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    place = f" ({frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return text[:TOLD] + place[:TOLD]


def serve(connection, folder, number):
    """Answers the messages of one connection until it is closed."""
    stream, guest = connection.makefile("rwb"), None
    while header := stream.read(5):
        kind, length = struct.unpack("<cI", header)
        body = stream.read(length)
        try:
            if kind == b"M":
                guest = Guest(body.decode(), folder, number)
                kind, body = b"H", json.dumps(guest.describe()).encode()
            else:
                kind, body = answer(guest, kind, body)
        except BaseException as error:  # Whatever somebody's environment raises is told, not died of.
            kind, body = b"E", told(error).encode(errors="replace")
        stream.write(struct.pack("<cI", kind, len(body)) + body)
        stream.flush()
    if guest:
        guest.env.close()


def end_with_the_engine():
    """Standard input is closed when the engine is gone, however it went."""
    while os.read(0, 1):
        pass
    os._exit(0)


def main(folder):
    # Imported before anybody waits for an answer; what they raise is told by the first environment, which needs them too.
    with contextlib.suppress(BaseException):
        importlib.import_module("gymnasium")
    threading.Thread(target=end_with_the_engine, daemon=True).start()
    door = socket.socket(socket.AF_UNIX)
    door.bind(os.path.join(folder, "door"))
    door.listen()
    number = 0
    while True:
        connection, _ = door.accept()
        threading.Thread(target=serve, args=(connection, folder, number), daemon=True).start()
        number += 1


if __name__ == "__main__":
    main(sys.argv[1])
