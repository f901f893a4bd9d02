"""Progress on standard error, with the time left, where tqdm is installed and somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def counter(total: int, what: str) -> Iterator[Callable[[], Any]]:
    """What is to be called whenever one of so many things is done."""
    work = iter(progress(range(total), what, total))
    yield lambda: next(work, None)


def progress(work: Iterable[T], what: str, total: int | None = None, unit_scale: int = 1) -> Iterator[T]:
    """The same items, counted while they are taken."""
    if not sys.stderr.isatty() and "ipykernel" not in sys.modules:
        return iter(work)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return iter(work)
    bar: Any = tqdm(work, desc=what, total=total, unit_scale=unit_scale, leave=False)
    return iter(bar)
