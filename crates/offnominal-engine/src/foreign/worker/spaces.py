"""Spaces of Gymnasium as rows of numbers: their names and bounds, commands from numbers, and numbers of commands."""

import math
import struct

#: One number of a row.
ONE = struct.Struct("<f")


def parts(space, name=""):
    """Names of the numbers of a flattened observation: its keys, joined with a stroke, and places in brackets."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        return [n for key, part in space.spaces.items() for n in parts(part, f"{name}/{key}" if name else str(key))]
    if isinstance(space, spaces.Tuple):
        return [n for i, part in enumerate(space.spaces) for n in parts(part, f"{name}[{i}]")]
    if not is_numeric(space):
        raise ValueError(f"observation{f' {name}' if name else ''}: expected numbers, choices or an image, found {space}")
    size = spaces.flatdim(space)
    name = name or "o"
    return [name] if size == 1 else [f"{name}[{i}]" for i in range(size)]


def is_numeric(space):
    """Whether each value of a space is a row of as many numbers."""
    from gymnasium import spaces

    return isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary))


def bound(x):
    """JSON has no infinity."""
    return float(x) if math.isfinite(x) else None


def bounds(space, what):
    """Smallest and largest value of each number of a box."""
    import gymnasium

    if not isinstance(space, gymnasium.spaces.Box):
        raise ValueError(f"{what} space: expected numbers, choices or an image, found {space}")
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


def command_reader(space):
    """What makes a command of a space from a row of numbers."""
    import numpy

    many = choices(space)
    if not many:
        dtype, shape = space.dtype, space.shape
        return lambda row: row.astype(dtype).reshape(shape)
    largest, start, shape, dtype = numpy.array(many) - 1, getattr(space, "start", 0), space.shape, space.dtype
    if shape == ():
        first, last = int(start), int(largest[0])

        def one(row):
            number = float(row[0])
            if not math.isfinite(number):
                raise ValueError(f"action: expected a choice, found {row}")
            # The nearest choice, halves away from zero, as the engine's own environments read a command.
            return min(max(math.floor(number + 0.5), 0), last) + first

        return one

    def several(row):
        if not numpy.isfinite(row).all():
            raise ValueError(f"action: expected a choice, found {row}")
        whole = numpy.clip(numpy.floor(row + 0.5), 0, largest).astype(numpy.int64)
        return (whole.reshape(shape) + start).astype(dtype)

    return several


def command_writer(space):
    """What makes the bytes of a row of numbers from a command of a space; choices are counted from 0."""
    import numpy

    first = 0 if space is None else getattr(space, "start", 0)
    is_one = numpy.ndim(first) == 0

    def written(action):
        # A single choice needs no array.
        if is_one and type(action) in (int, numpy.int64):
            return ONE.pack(action - first)
        return (numpy.asarray(action) - first).astype("<f4").tobytes()

    return written


def observation_reader(space, image):
    """What makes an observation of a space from a row of numbers, for a policy that expects one of its space."""
    import gymnasium
    import numpy

    if isinstance(space, (gymnasium.spaces.Dict, gymnasium.spaces.Tuple)):
        return lambda row: gymnasium.spaces.unflatten(space, row)
    if isinstance(space, gymnasium.spaces.Discrete):
        return lambda row: int(row[0])
    shape, dtype = space.shape, space.dtype
    if image and image[1] == 3:
        height, width = shape[0], shape[1]
        return lambda row: numpy.moveaxis(row.reshape(3, height, width), 0, -1).astype(dtype)
    return lambda row: row.astype(dtype).reshape(shape)
