"""Data frames of pandas, polars and Arrow on their way to the engine, which reads them as it reads files."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

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
        return _columns(frame)
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


def _columns(frame: Any) -> list[tuple[str, Any]]:
    """The columns of a frame of pandas; an index that has a name or holds times is the first of them."""
    if frame.index.name is None and frame.index.dtype.kind == "M" and "time" not in frame:
        frame = frame.rename_axis("time")
    if frame.index.name is not None:
        frame = frame.reset_index()
    return [(str(name), _cells(frame[name])) for name in frame.columns]


def _cells(column: Any) -> Any:
    """Numbers as they are, times in nanoseconds, and everything else as a list with ``None`` where nothing was recorded."""
    kind = getattr(column.dtype, "kind", "O")
    if kind == "M":
        times = column.to_numpy("datetime64[ns]")
        is_known = ~np.isnat(times)
        return times.astype(np.int64) if is_known.all() else _listed(times.astype(np.int64), is_known)
    is_known = column.notna().to_numpy(np.bool_)
    if kind == "f" and isinstance(column.dtype, np.dtype):
        return column.to_numpy(np.float64)
    if kind in "ib" and is_known.all():
        return column.to_numpy(np.int64)
    return _listed(column, is_known)


def _listed(values: Any, is_known: Any) -> list[Any]:
    return [value if known else None for value, known in zip(values.tolist(), is_known.tolist())]
