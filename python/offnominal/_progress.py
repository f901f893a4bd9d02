"""Progress on standard error, with the time left, where tqdm is installed and somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


#: Seconds after which a bar is shown, for what is done before needs none.
_DELAY = 0.5


class Counter:
    """Counts things that are done, and shows what the engine says of those that are under way."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self) -> None:
        """One more is done."""
        if self._bar is not None:
            self._bar.update(1)

    def begin(self, what: str, done: int, total: int) -> Counter:
        """A task of the engine, which is a part of one thing."""
        return self

    def note(self, line: str) -> None:
        """Notes are for those who run one thing."""

    def update(self, done: int, total: int) -> None:
        """So much of a part is done."""

    def message(self, text: str) -> None:
        """What is being done at the moment."""
        if self._bar is not None:
            self._bar.set_postfix_str(text)

    def close(self) -> None:
        """A part has ended."""


@contextmanager
def counter(total: int, what: str) -> Iterator[Counter]:
    """What is to be called whenever one of so many things is done."""
    bar = _bar(what, 0, total)
    try:
        yield Counter(bar)
    finally:
        if bar is not None:
            bar.close()


def progress(work: Iterable[T], what: str, total: int | None = None, unit_scale: int = 1) -> Iterator[T]:
    """The same items, counted while they are taken."""
    if not _is_watched():
        return iter(work)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return iter(work)
    bar: Any = tqdm(work, desc=what, total=total, unit_scale=unit_scale, leave=False, delay=_DELAY)
    return iter(bar)


class Display:
    """Shows the tasks of the engine as bars of tqdm, where it is installed and somebody watches."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def begin(self, what: str, done: int, total: int) -> Task:
        """A task of which a part may have been done before."""
        return Task(_bar(what, done, total))

    def note(self, line: str) -> None:
        """A line about the run that is no result."""
        print(line, file=self._stream)


class Task:
    """One task."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def update(self, done: int, total: int) -> None:
        """So much of so much is done."""
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def message(self, text: str) -> None:
        """What is being done at the moment."""
        if self._bar is not None:
            self._bar.set_postfix_str(text)

    def close(self) -> None:
        """The task has ended."""
        if self._bar is not None:
            self._bar.close()


def _bar(what: str, done: int, total: int) -> Any:
    """A bar; ``None`` where nobody watches, or tqdm is not installed."""
    if not _is_watched():
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc=what, initial=done, total=total, leave=False, delay=_DELAY)


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def display(wanted: bool = True) -> Display | None:
    """Who shows the tasks of a call of the engine."""
    return Display(sys.stderr) if wanted else None
