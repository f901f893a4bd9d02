"""Values of a Gymnasium space on their way to the engine, which has float32, and back: only what changed is written."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray


class Border:
    """Values of one space, in an episode.

    :param space: what values are of.
    :param wider: what disturbed ones are of.
    :param is_relative: whether numbers that float32 cannot hold may be sent as their distance from the first ones.
    """

    def __init__(self, space: spaces.Space[Any], wider: spaces.Space[Any], is_relative: bool) -> None:
        self._space, self._wider = space, wider
        self._is_choice = isinstance(space, (spaces.Discrete, spaces.MultiDiscrete))
        dtype = np.dtype(space.dtype)
        is_fine = isinstance(space, spaces.Box) and not np.can_cast(dtype, np.float32, "safe")
        self._is_relative = is_relative and is_fine
        self.begin()

    def begin(self) -> None:
        """An episode begins."""
        self._value: Any = None
        self._first: Any = None if self._is_relative else 0
        #: What was sent of each number, and what it was: a delay repeats it.
        self._sent: list[dict[float, Any]] = []
        self.last: NDArray[np.float32] = np.empty(0, np.float32)

    def sent(self, value: Any) -> NDArray[np.float32]:
        """A value as the engine has it: one row, choices from 0, the planes of an image one after another."""
        array = np.asarray(value) - self._start()
        if array.ndim == 3 and is_image(array.shape, array.dtype):
            array = np.moveaxis(array, -1, 0)
        self._value = value
        flat = np.atleast_1d(array).ravel()
        if flat.dtype.kind == "u":
            flat = flat.astype(np.int64)
        if self._first is None:
            self._first = np.where(np.isfinite(flat), flat, 0).astype(flat.dtype)
        self.last = np.asarray(flat - self._first, np.float32)
        if self._is_relative:
            self._sent = self._sent or [{} for _ in flat]
            for known, short, long in zip(self._sent, self.last.tolist(), flat):
                known[short] = long
        return self.last

    def back(self, seen: NDArray[np.float32]) -> Any:
        """The last value with the numbers that the engine has changed."""
        if self._is_choice:
            return self._choice(seen)
        own, dtype = np.asarray(self._value), np.dtype(self._space.dtype)
        planes = np.moveaxis(own, -1, 0) if own.ndim == 3 and is_image(own.shape, own.dtype) else own
        changed = (seen != self.last) & ~(np.isnan(seen) & np.isnan(self.last))
        flat = np.array(planes).ravel()
        flat[changed] = self._exact(seen)[changed].astype(flat.dtype)
        found = flat.reshape(planes.shape)
        found = np.moveaxis(found, 0, -1) if planes is not own else found
        return found.astype(dtype).reshape(self._space.shape or ())

    def _exact(self, seen: NDArray[np.float32]) -> NDArray[Any]:
        """What was seen, by the engine's measure, as numbers of the space."""
        values = seen.astype(np.float64)
        if np.dtype(self._space.dtype).kind in "iu":
            values = np.clip(np.rint(values).astype(np.int64) + self._first, *self._bounds())
        else:
            values += self._first
        if not self._is_relative:
            return values
        exact: list[Any] = [known.get(short, long) for known, short, long in zip(self._sent, seen.tolist(), values)]
        return np.array(exact)

    def _bounds(self) -> tuple[Any, Any]:
        """The smallest and the largest whole number of each place; of images, of all."""
        assert isinstance(self._wider, spaces.Box)
        low, high = self._wider.low, self._wider.high
        if high.dtype == np.uint64:
            high = np.minimum(high, np.uint64(np.iinfo(np.int64).max))
        if is_image(low.shape, low.dtype):
            return low.min(), high.max()
        return low.ravel().astype(np.int64), high.ravel().astype(np.int64)

    def _choice(self, seen: NDArray[np.float32]) -> Any:
        if isinstance(self._space, spaces.Discrete):
            return int(np.clip(np.rint(seen[0]), 0, self._space.n - 1)) + int(self._space.start)
        assert isinstance(self._space, spaces.MultiDiscrete)
        nearest = np.clip(np.rint(seen), 0, self._space.nvec.ravel() - 1).reshape(self._space.shape)
        return (nearest + self._space.start).astype(self._space.dtype)

    def _start(self) -> Any:
        """The first choice."""
        return self._space.start if isinstance(self._space, (spaces.Discrete, spaces.MultiDiscrete)) else 0


def is_image(shape: tuple[int, ...] | None, dtype: Any) -> bool:
    """Whether values are grey levels or colours of pixels."""
    return dtype == np.uint8 and shape is not None and len(shape) in (2, 3)
