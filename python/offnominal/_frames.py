"""Data frames of pandas, polars and Arrow on their way to the engine, which reads them as it reads files."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnominal._tables import needed

#: The bytes of an Arrow stream, or the columns with their names.
Content = bytes | list[tuple[str, Any]]


def is_frame(thing: Any) -> bool:
    """Whether a thing has rows and columns; a single column is none."""
    has_columns = hasattr(thing, "columns") or hasattr(thing, "schema")
    return has_columns and (_is_pandas(thing) or hasattr(thing, "__arrow_c_stream__"))


def content(frame: Any) -> Content:
    """What the engine reads of a frame.

    Frames of polars and Arrow become a stream of Arrow. Those of pandas may have objects in their columns, and pandas does
    without pyarrow, so they go column by column.
    """
    if _is_pandas(frame):
        frame = unindexed(frame)
        return [_column(str(name), frame[name]) for name in frame.columns]
    if hasattr(frame, "write_ipc_stream"):
        stream: BytesIO = frame.write_ipc_stream(None)
        return stream.getvalue()
    return _streamed(frame)


def _is_pandas(thing: Any) -> bool:
    return hasattr(thing, "reset_index")


def _streamed(frame: Any) -> bytes:
    """Of anything with the interface of Arrow for streams."""
    arrow = needed("pyarrow", "arrow")
    batches = arrow.RecordBatchReader.from_stream(frame)
    out = BytesIO()
    with arrow.ipc.new_stream(out, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return out.getvalue()


def unindexed(frame: Any) -> Any:
    """A frame of pandas with the levels of its index as columns; any other frame as it is.

    An index of times without a name is the column ``time``; rows that are merely counted are no column.

    :raises ValueError: if a level can be no column, or two columns have the same name.
    """
    if _is_pandas(frame):
        frame = _with_levels(frame)
    _insist_on_names(frame)
    return frame


def _with_levels(frame: Any) -> Any:
    if hasattr(frame.columns, "levels"):
        raise ValueError("columns: expected one name for each, found several levels of names")
    if list(frame.index.names) == [None]:
        kind = frame.index.dtype.kind
        if kind in "iu":
            return frame
        if kind not in "mM" or "time" in frame.columns:
            raise ValueError(
                f"index: expected a name, times, or whole numbers that count rows, found {frame.index.dtype} without a name; "
                'frame.rename_axis("time") makes it a column, frame.reset_index(drop=True) drops it'
            )
        frame = frame.rename_axis("time")
    for name in frame.index.names:
        if name is None or name in frame.columns:
            raise ValueError(f"index: expected levels with names that no column has, found {name!r}; see frame.rename_axis")
    return frame.reset_index()


def _insist_on_names(frame: Any) -> None:
    names = [str(name) for name in (getattr(frame, "column_names", None) or frame.columns)]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"expected columns with names of their own, found {twice[0]} twice")


def _column(name: str, column: Any) -> tuple[str, Any]:
    """Numbers as they are, times and how long something took in nanoseconds, and all else as a list with ``None`` for nothing."""
    kind = getattr(column.dtype, "kind", "O")
    if hasattr(column.dtype, "freq"):
        column, kind = column.dt.to_timestamp(), "M"
    if kind in "mM":
        times = column.to_numpy("timedelta64[ns]" if kind == "m" else "datetime64[ns]")
        is_known = ~np.isnat(times)
        nanos = times.astype(np.int64)
        return f"{name} [ns]", nanos if is_known.all() else _listed(nanos, is_known)
    is_known = column.notna().to_numpy(np.bool_)
    if kind == "f" and isinstance(column.dtype, np.dtype):
        return name, column.to_numpy(np.float64)
    if kind in "ib" and is_known.all():
        return name, column.to_numpy(np.int64)
    return name, _listed(column, is_known)


def _listed(values: Any, is_known: Any) -> list[Any]:
    return [value if known else None for value, known in zip(values.tolist(), is_known.tolist())]


def numbers(values: Any, what: str) -> NDArray[Any]:
    """An array of numbers, whatever holds them; NaN where a mask or nothing stands in the place of one.

    :raises ValueError: if something in it is no number.
    """
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan) if np.ma.is_masked(values) else values.data
        array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
        if array.dtype == object:
            if any(isinstance(value, (str, bytes)) for value in array.flat):
                raise ValueError("texts")
            nothing = {"na_value": np.nan} if hasattr(values, "notna") else {}
            array = values.to_numpy(np.float64, **nothing) if nothing else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: expected an array of numbers, found {error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{what}: expected an array of numbers, found one of {array.dtype}")
    return array
