"""The curves in the event files of a training run: TensorBoard's records, read without TensorBoard."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Point(NamedTuple):
    """A number of a curve."""

    step: int
    tag: str
    value: float


def points(folder: Path) -> list[Point]:
    """All numbers of a run in the order in which they were written.

    :raises ValueError: if a file is damaged before its last record, which a run that was killed may leave half-written.
    """
    files = sorted(folder.glob("events.out.tfevents.*"))
    return [point for file in files for record in _records(file) for point in _of(record, file)]


def _records(file: Path) -> Iterator[bytes]:
    """Length (8 bytes), its checksum (4), the record, its checksum (4)."""
    content, at = file.read_bytes(), 0
    while at + 12 <= len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        if at + 16 + length > len(content):
            return
        yield content[at + 12 : at + 12 + length]
        at += 16 + length


def _of(record: bytes, file: Path) -> Iterator[Point]:
    """An event: field 2 is the step, field 5 a summary, whose fields 1 are values with a tag (1) and a number (2)."""
    try:
        event = list(_fields(record))
        step = next((value for number, value in event if number == 2), 0)
        for summary in (value for number, value in event if number == 5 and isinstance(value, bytes)):
            for value in (own for number, own in _fields(summary) if number == 1 and isinstance(own, bytes)):
                parts = dict(_fields(value))
                tag, found = parts.get(1), parts.get(2)
                if isinstance(tag, bytes) and isinstance(found, float) and isinstance(step, int):
                    yield Point(step, tag.decode(), found)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: expected records of TensorBoard, found a damaged one: {error}") from None


def _fields(message: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """The numbered fields of a message of Protocol Buffers."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
        elif kind == 2:
            length, at = _varint(message, at)
            yield number, message[at : at + length]
            at += length
        else:
            form = "<d" if kind == 1 else "<f"
            yield number, struct.unpack_from(form, message, at)[0]
            at += struct.calcsize(form)


def _varint(message: bytes, at: int) -> tuple[int, int]:
    found, shift = 0, 0
    while True:
        byte = message[at]
        found |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return found, at
