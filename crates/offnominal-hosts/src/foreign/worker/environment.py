"""One environment of Gymnasium, with its observations as one row of numbers."""

import contextlib
import importlib.metadata
import math
import mmap
import os
import struct
import sys
import threading

from offnominal_host import clock, modules
from offnominal_host.making import made
from offnominal_host.quantities import Quantities
from offnominal_host.spaces import bounds, choices, command_reader, parts, row_writer, shown

#: An observation of more bytes is handed over in a shared file.
INLINE = 4096

#: Steps of an episode where the environment names no limit.
HORIZON = 1000

#: Options and keys of an environment's metadata that name its channels.
NAMES = ("observation_names", "action_names")

TERMINATED, TRUNCATED, JUDGED, SUCCEEDED, FLAGGED = 1, 2, 4, 8, 16

#: Reward, margin and flags, before the observation.
ANSWER = struct.Struct("<ddB")

#: A margin where none is asked for, or none is known yet.
UNKNOWN = math.inf

#: What an environment made by Gymnasium has where its own rewards or ends are changed.
CHANGES = ("reward", "terminat", "healthy")

#: Observation space, image and action space of the environments that were made here, by what was wanted.
SPACES = {}


def described_space(wanted):
    """Observation space, image and action space of an environment; one is made for it, if there was none yet."""
    if wanted["id"] not in SPACES:
        Guest(wanted, None, 0).env.close()
    return SPACES[wanted["id"]]


def names(given, metadata, key):
    """Names of channels: those of the id, else those of the environment's metadata."""
    if isinstance(given, str):
        return [name.strip() for name in given.split(",")]
    found = given if given is not None else metadata.get(key)
    return None if found is None else [str(name) for name in found]


def truth(info, key):
    """Whether ``info[key]`` is true; text is neither true nor false."""
    value = info[key]
    try:
        number = float(value) if not isinstance(value, (str, bytes)) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise TypeError(f"info[{key!r}]: expected true or false, found {type(value).__name__} {str(value)[:40]!r}")
    return number != 0


def numbers_of(info):
    """The keys of ``info`` that hold a truth or a number."""
    found = []
    for key in info:
        with contextlib.suppress(TypeError):
            if isinstance(key, str) and truth(info, key) is not None:
                found.append(key)
    return found


def version(name):
    """Of an imported package; nothing where it does not say."""
    said = getattr(sys.modules[name], "__version__", None)
    if said is None:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            said = importlib.metadata.version(name)
    return said if isinstance(said, str) else ""


class Guest:
    """One environment."""

    def __init__(self, wanted, folder, number):
        import gymnasium

        name, options = modules.split(wanted["id"])
        self.wanted, self.name, self.options = wanted, name, options
        self.fresh, self.seeded, self.failure = wanted.get("fresh"), wanted.get("seeded"), wanted.get("failure")
        self.margin, self.steps = wanted.get("margin"), 0
        self.horizon = options.pop("horizon", None)
        given = [options.pop(key, None) for key in NAMES]
        if (folder_of_modules := options.pop("modules", None)) is not None:
            modules.look_in(str(folder_of_modules))
        self.env = None
        space = self._make(0)
        metadata = {**(self.env.unwrapped.metadata or {})}
        self.names = [names(of, metadata, key) for of, key in zip(given, NAMES)]
        if isinstance(space, (gymnasium.spaces.Dict, gymnasium.spaces.Tuple)):
            self.names[0] = self.names[0] or parts(space)
        is_box = isinstance(space, gymnasium.spaces.Box)
        self.shape = list(space.shape) if is_box and not shown(space) else None
        self.image = shown(self.env.observation_space)
        if self.image:
            self.names[0] = None
        self.numbers = row_writer(self.image)
        self.choices = choices(self.env.action_space)
        self.command = command_reader(self.env.action_space)
        SPACES[wanted["id"]] = (space, self.image, self.env.action_space)
        self.shared = self.path = None
        if folder is not None:
            self._share(folder, number)

    def _make(self, seed):
        """An environment, with what sets its quantities; returns the space of its observations."""
        import gymnasium

        if self.env is not None:
            self.env.close()
        options = {**self.options, **({self.seeded: seed} if self.seeded else {})}
        self.env, self.limit = made(self.name, options, self.wanted.get("given"))
        self.is_new = True
        self.quantities, self.changed = Quantities(self.env, self.wanted.get("parameters") or {}), set()
        space = self.env.observation_space
        if isinstance(space, (gymnasium.spaces.Dict, gymnasium.spaces.Tuple)):
            parts(space)
            self.env = gymnasium.wrappers.FlattenObservation(self.env)
        return space

    def _share(self, folder, number):
        """Where a large observation is written."""
        import numpy

        size = math.prod(self.env.observation_space.shape or (1,)) * (1 if self.image else 4)
        if size > INLINE:
            self.path = os.path.join(folder, f"observation-{number}")
            with open(self.path, "w+b") as file:
                file.truncate(size)
                self.shared = numpy.frombuffer(mmap.mmap(file.fileno(), size), numpy.uint8)

    def describe(self):
        """Channels, horizon, parameters and versions."""
        return {
            "image": self.image,
            "shape": self.shape,
            "observation": [] if self.image else self._observation(),
            "observation_names": self.names[0],
            "action_names": self.names[1],
            "choices": self.choices,
            "action": [] if self.choices else bounds(self.env.action_space, "action"),
            "horizon": self._horizon(),
            "dt": self._step_secs(),
            "registered": self._registered(),
            "parameters": [{"name": n, "range": list(r)} for n, r in self.quantities.ranges.items()],
            "source": self._source(),
            "modules": modules.of_environment(),
            "shared": self.path,
            "thread": threading.get_native_id(),
        }

    def _horizon(self):
        return self.horizon or self.limit or HORIZON

    def _inner(self):
        """The environment itself, without what this package puts around it."""
        from offnominal_host.joint import Joint, OneOfVector

        own = self.env.unwrapped
        return own.inner if isinstance(own, (Joint, OneOfVector)) else own

    def _step_secs(self):
        """Seconds of a step and who says so; nothing where nobody does."""
        return clock.step_secs(self.env, self._inner())

    def _registered(self):
        """The id of an environment of Gymnasium's own, if nothing changes its rewards or its ends."""
        spec = getattr(self.env, "spec", None)
        if spec is None or not str(spec.entry_point).startswith("gymnasium.envs.") or spec.additional_wrappers:
            return None
        is_changed = any(part in key for key in spec.kwargs for part in CHANGES)
        return None if is_changed else spec.id

    def _observation(self):
        import numpy

        space = self.env.observation_space
        many = choices(space)
        if not many:
            return bounds(space, "observation")
        starts = numpy.broadcast_to(numpy.ravel(getattr(space, "start", 0)), len(many))
        return [[float(start), float(start + n - 1)] for start, n in zip(starts, many)]

    def _source(self):
        import gymnasium

        home = type(self._inner()).__module__.partition(".")[0]
        known = [
            name for name in dict.fromkeys((home, "numpy", "mujoco")) if name != "gymnasium" and name in sys.modules
        ]
        return ", ".join(
            [f"Gymnasium {gymnasium.__version__}", *(f"{name} {version(name)}".rstrip() for name in known)]
        )

    def reset(self, seed, drawn):
        """The bytes of the beginning of an episode."""
        ranges = list(self.quantities.ranges)
        obs, info = self.begin(seed, {ranges[index]: number for index, number in drawn})
        return self._told(*self._found(0.0, 0, info, obs))

    def begin(self, seed, drawn=None):
        """Begins an episode in which every parameter is as it was drawn for it, and all others are nominal."""
        drawn = drawn or {}
        if self.fresh and (not self.is_new or self.seeded):
            self._make(seed)
        self.is_new, self.steps = False, 0
        for name in [*(name for name in self.changed if name not in drawn), *drawn]:
            self.quantities.set(name, drawn.get(name, self.quantities.ranges[name][0]))
        self.changed = set(drawn)
        obs, info = self.env.reset(seed=seed)
        # A reset may make the environment anew.
        for name, value in drawn.items():
            self.quantities.keep(name, value)
        return obs, info

    def step(self, row):
        """The bytes of what a step brought."""
        return self._told(*self.take(row))

    def take(self, row):
        """Reward, flags and observation that a step brings."""
        obs, reward, terminated, truncated, info = self.env.step(self.command(row))
        self.steps += 1
        flags = TERMINATED * bool(terminated) | TRUNCATED * bool(truncated)
        if self.failure is not None:
            flags |= FLAGGED * self._is_flagged(info, flags or self.steps >= self._horizon())
        return self._found(float(reward), flags, info, obs)

    def _is_flagged(self, info, is_over):
        """What ``info`` says of the key by which the episode is judged, which it must have at the latest at its end."""
        if self.failure in info:
            return truth(info, self.failure)
        if is_over:
            raise KeyError(self._missing("failure", self.failure, "in the last step", info))
        return False

    @staticmethod
    def _missing(what, key, place, info):
        return f"{what}: expected info[{key!r}] {place}, found {', '.join(map(str, info)) or 'nothing'}"

    def _room(self, info):
        """What ``info`` says of how far the state is from failure; after a reset it may say nothing yet."""
        if self.margin is None or (self.steps == 0 and self.margin not in info):
            return UNKNOWN
        if self.margin not in info:
            raise KeyError(self._missing("margin", self.margin, "in each step", info))
        truth(info, self.margin)
        return float(info[self.margin])

    def channel(self, i):
        """The name of a number of the observation."""
        return self.names[0][i] if self.names[0] else f"o{i}"

    def change(self, index, number):
        """Sets a physical quantity until the episode ends."""
        name = list(self.quantities.ranges)[index]
        self.changed.add(name)
        self.quantities.set(name, number)

    def _found(self, reward, flags, info, obs):
        key = next((key for key in ("is_success", "success") if info.get(key) is not None), None)
        if key is not None:
            flags |= JUDGED | SUCCEEDED * truth(info, key)
        return reward, self._room(info), flags, self.numbers(obs)

    def _told(self, reward, margin, flags, row):
        if self.shared is None:
            return ANSWER.pack(reward, margin, flags) + row.tobytes()
        self.shared[:] = row.view(self.shared.dtype)
        return ANSWER.pack(reward, margin, flags)
