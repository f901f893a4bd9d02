"""Spaces of Gymnasium as rows of numbers: their names and bounds, commands from numbers, and numbers of commands."""

import math


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


def row_writer(image=None):
    """What makes a row of an observation or a command. What is a row already stays as it is, for this is done in each step."""
    import numpy

    float32 = numpy.dtype("<f4")

    def colours(values):
        planes = numpy.moveaxis(values, -1, 0) if image[1] == 3 else values
        return numpy.ascontiguousarray(planes, numpy.uint8).ravel()

    def numbers(values):
        if type(values) is numpy.ndarray and values.dtype is float32 and values.ndim == 1:
            return values
        return numpy.asarray(values, float32).ravel()

    return colours if image else numbers


def is_finite(row):
    """Whether all numbers of a row are finite. Their squares are added at once, and may overflow where they are."""
    return math.isfinite(row.dot(row)) or all(map(math.isfinite, row.tolist()))


def box_reader(space):
    """What makes values of a box from a row, each a copy that is its owner's."""
    dtype, shape = space.dtype, space.shape
    if dtype.kind in "iu":
        return whole_reader(dtype, shape, space.low, space.high)
    if len(shape) == 1:
        return lambda row: row.astype(dtype)
    return lambda row: row.astype(dtype).reshape(shape)


def whole_reader(dtype, shape, low, high):
    """What makes whole numbers from a row: the nearest ones between bounds, as choices are read."""
    import numpy

    # The largest number of 64 bits is none of double precision: the next smaller one is.
    most = numpy.iinfo(dtype).max if dtype.itemsize < 8 else numpy.nextafter(float(numpy.iinfo(dtype).max), 0)
    low, high = numpy.ravel(low).astype(float), numpy.minimum(numpy.ravel(high).astype(float), most)

    def whole(row):
        if not numpy.isfinite(row).all():
            raise ValueError(f"expected whole numbers, found {row}")
        return numpy.clip(numpy.floor(row.astype(float) + 0.5), low, high).astype(dtype).reshape(shape)

    return whole


def command_reader(space):
    """What makes a command of a space from a row of numbers."""
    import numpy

    many = choices(space)
    if not many:
        return box_reader(space)
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
    """What makes a row of numbers from a command of a space; choices are counted from 0."""
    import numpy

    first, written = 0 if space is None else getattr(space, "start", 0), row_writer()
    # A difference refuses what is no number.
    return lambda action: written(numpy.asarray(action) - first)


def observation_reader(space, image):
    """What makes an observation of a space from a row of numbers, for a policy that expects one of its space."""
    import gymnasium
    import numpy

    if isinstance(space, (gymnasium.spaces.Dict, gymnasium.spaces.Tuple)):
        return nested_reader(space)
    if isinstance(space, gymnasium.spaces.Discrete):
        nearest = whole_reader(numpy.dtype(numpy.int64), (), *ends(space))
        return lambda row: int(nearest(row))
    if image and image[1] == 3:
        height, width, dtype = space.shape[0], space.shape[1], space.dtype
        planes = whole_reader(dtype, (3, height, width), 0, numpy.iinfo(dtype).max)
        return lambda row: numpy.moveaxis(planes(row), 0, -1)
    return box_reader(space) if isinstance(space, gymnasium.spaces.Box) else whole_reader(space.dtype, space.shape, *ends(space))


def ends(space):
    """The first and the last choice of each number."""
    import numpy

    start = numpy.ravel(getattr(space, "start", 0))
    return start, start + numpy.array(choices(space)) - 1


def nested_reader(space):
    """What makes values of nested spaces from a flattened row."""
    import numpy
    from gymnasium import spaces

    if not isinstance(space, (spaces.Dict, spaces.Tuple)):
        return chosen_reader(space) if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)) else observation_reader(space, None)
    of_keys = isinstance(space, spaces.Dict)
    inner = list(space.spaces.values() if of_keys else space.spaces)
    readers, cuts = [nested_reader(part) for part in inner], numpy.cumsum([spaces.flatdim(part) for part in inner])[:-1]

    def read(row):
        found = [reader(part) for reader, part in zip(readers, numpy.split(row, cuts))]
        return dict(zip(space.spaces, found)) if of_keys else tuple(found)

    return read


def chosen_reader(space):
    """What makes choices from a flattened row, which has a number for each possible one: the largest of them is chosen."""
    import numpy

    many, start, shape, dtype = choices(space), numpy.ravel(space.start), space.shape, space.dtype
    cuts = numpy.cumsum(many)[:-1]

    def chosen(row):
        if numpy.isnan(row).any():
            raise ValueError(f"observation: expected a choice, found {row}")
        found = numpy.array([part.argmax() for part in numpy.split(row, cuts)]) + start
        return dtype.type(found[0]) if shape == () else found.astype(dtype).reshape(shape)

    return chosen
