"""Values of a Gymnasium space on their way to the engine, which has float32, and back: only what changed is written."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

#: The longest delay after which a number of double precision comes back with all its bits.
_STEPS = 256


class Border:
    """Values of one space in some simulators, in their episodes: an array has one row for each simulator.

    :param space: what the values of one simulator are of.
    :param wider: what disturbed ones are of.
    :param is_relative: whether numbers that float32 cannot hold may be sent as their distance from the first ones.
    :param repeats: whether a number may come back later; then its exact value is kept.
    :param n: how many simulators.
    """

    def __init__(
        self, space: spaces.Space[Any], wider: spaces.Space[Any], is_relative: bool, repeats: bool, n: int
    ) -> None:
        self._space, self._wider, self._n = space, wider, n
        self._is_choice = isinstance(space, (spaces.Discrete, spaces.MultiDiscrete))
        self._is_image = is_image(space.shape, space.dtype)
        dtype = np.dtype(space.dtype)
        #: Whether the engine's numbers are those of the space.
        self._is_same = isinstance(space, spaces.Box) and dtype == np.float32
        is_fine = isinstance(space, spaces.Box) and not np.can_cast(dtype, np.float32, "safe")
        self._is_relative = is_relative and is_fine
        self._first: Any = 0
        self._fresh = np.ones(n, np.bool_)
        self._past = _Past(n) if self._is_relative and repeats else None
        self.last: NDArray[np.float32] = np.empty((n, 0), np.float32)

    def begin(self, where: Sequence[int]) -> None:
        """Episodes begin in some simulators."""
        self._fresh[list(where)] = True
        if self._past:
            self._past.begin(where)

    def sent(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Values as the engine has them: a row each, choices from 0, the planes of an image one after another."""
        self._values = values
        flat = self._planes(values).reshape(self._n, -1)
        if self._is_same and flat.dtype == np.float32:
            self.last = flat
            return flat
        if flat.dtype.kind == "u":
            flat = flat.astype(np.int64)
        flat = flat - self._start()
        if self._is_relative:
            self._begun(flat)
        self.last = np.asarray(flat - self._first, np.float32)
        if self._past:
            self._past.note(self.last, flat)
        return self.last

    def _begun(self, flat: NDArray[Any]) -> None:
        """Notes the first numbers of episodes."""
        if self._fresh.all():
            self._first = np.zeros_like(flat)
        if self._fresh.any():
            self._first[self._fresh] = np.where(np.isfinite(flat), flat, 0)[self._fresh]
            self._fresh[:] = False

    def back(self, seen: NDArray[np.float32]) -> NDArray[Any]:
        """The last values with the numbers that the engine has changed."""
        shape = (self._n, *(self._space.shape or ()))
        if self._is_choice:
            return self._choices(seen)
        if self._is_same and self._values.dtype == np.float32:
            return seen.reshape(shape)
        planes = self._planes(self._values)
        changed = (seen != self.last) & ~(np.isnan(seen) & np.isnan(self.last))
        flat = np.array(planes).reshape(seen.shape)
        exact = self._exact(seen)
        if self._past:
            exact = self._past.exact(seen, exact, changed)
        flat[changed] = exact[changed].astype(flat.dtype)
        if self._past:
            self._past.output = (seen, flat.copy())
        found = flat.reshape(planes.shape)
        found = np.moveaxis(found, 1, -1) if planes is not self._values else found
        return found.astype(self._space.dtype).reshape(shape)

    def _exact(self, seen: NDArray[np.float32]) -> NDArray[Any]:
        """What was seen, by the engine's measure, as numbers of the space."""
        values: NDArray[Any] = seen.astype(np.float64)
        if np.dtype(self._space.dtype).kind in "iu":
            whole: NDArray[np.int64] = np.clip(np.rint(values).astype(np.int64) + self._first, *self._bounds())
            return whole
        values += self._first
        return values

    def _planes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Images with their colours before their pixels; anything else as it is."""
        return np.moveaxis(values, -1, 1) if self._is_image and values.ndim == 4 else values

    def _bounds(self) -> tuple[Any, Any]:
        """The smallest and the largest whole number of each place; of images, of all."""
        assert isinstance(self._wider, spaces.Box)
        low, high = self._wider.low, self._wider.high
        if high.dtype == np.uint64:
            high = np.minimum(high, np.uint64(np.iinfo(np.int64).max))
        if self._is_image:
            return low.min(), high.max()
        return low.ravel().astype(np.int64), high.ravel().astype(np.int64)

    def _choices(self, seen: NDArray[np.float32]) -> NDArray[Any]:
        if isinstance(self._space, spaces.Discrete):
            return np.clip(np.rint(seen[:, 0]), 0, self._space.n - 1).astype(np.int64) + int(self._space.start)
        assert isinstance(self._space, spaces.MultiDiscrete)
        nearest = np.clip(np.rint(seen), 0, self._space.nvec.ravel() - 1).reshape(len(seen), *self._space.shape)
        return (nearest + self._space.start).astype(self._space.dtype)

    def _start(self) -> Any:
        """The first choice."""
        return np.ravel(self._space.start) if isinstance(self._space, (spaces.Discrete, spaces.MultiDiscrete)) else 0


class _Past:
    """What was sent of each number, and what it was: a delay repeats it, and its exact value comes back.

    Rows of the last steps are kept, and the last output, which a stuck sensor repeats for as long as it likes.
    """

    def __init__(self, n: int) -> None:
        self._rows: deque[tuple[NDArray[np.float32], NDArray[Any]]] = deque(maxlen=_STEPS)
        #: How many steps ago the episode of each simulator began.
        self._age = np.zeros(n, np.int64)
        self.output: tuple[NDArray[np.float32], NDArray[Any]] | None = None

    def begin(self, where: Sequence[int]) -> None:
        """Rows of earlier episodes are none of these."""
        self._age[list(where)] = 0

    def note(self, shorts: NDArray[np.float32], longs: NDArray[Any]) -> None:
        """Keeps what is sent."""
        self._rows.append((shorts, longs))
        self._age += 1

    def exact(self, seen: NDArray[np.float32], values: NDArray[Any], changed: NDArray[np.bool_]) -> NDArray[Any]:
        """The values with those that were sent before."""
        missing, rows = changed.copy(), ([(1, self.output)] if self.output else [])
        rows += enumerate(reversed(self._rows))
        for steps, (shorts, longs) in rows:
            hit = missing & (seen == shorts) & (steps < self._age)[:, None]
            values[hit] = longs[hit]
            missing &= ~hit
            if not missing.any():
                break
        return values


def is_image(shape: tuple[int, ...] | None, dtype: Any) -> bool:
    """Whether values are grey levels or colours of pixels."""
    return dtype == np.uint8 and shape is not None and len(shape) in (2, 3)
