"""Videos of LeRobot data sets, version 3.0: several episodes in one file, told apart by their times."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.uint8]


def frames(
    folder: str | os.PathLike[str],
    video: str,
    *,
    episodes: Sequence[int] | None = None,
    size: tuple[int, int] | None = None,
) -> Iterator[Frames]:
    """The frames of each episode of a LeRobot data set, ``[T + 1, height, width, 3]``, in the order of the episodes.

    With the actions of :func:`offnominal.logs.read` they are episodes of :mod:`offnominal.image_detectors`::

        pairs = [(seen, run.actions) for seen, run in zip(frames(folder, "observation.images.top"), read(folder))]

    Needs PyAV and pyarrow (``pip install av pyarrow``). One episode is held at a time.

    :param video: the name of the video, such as ``observation.images.top``.
    :param episodes: only these, by their numbers.
    :param size: height and width to which frames are scaled.
    :raises ValueError: if there is no such video, or it is shorter than the data set says.
    """
    root = Path(folder)
    info = json.loads((root / "meta" / "info.json").read_text())
    _check(root, info, video)
    for episode in _episodes(root, video):
        if episodes is None or episode["episode_index"] in episodes:
            yield _decoded(root, info, video, episode, size)


def _check(root: Path, info: dict[str, Any], video: str) -> None:
    version = info.get("codebase_version", "")
    if not version.startswith("v3."):
        raise ValueError(f"{root}: expected codebase_version v3.0, found {version!r} (LeRobot converts older ones)")
    videos = [name for name, feature in info["features"].items() if feature["dtype"] == "video"]
    if video not in videos:
        raise ValueError(f"{root}: expected one of the videos {', '.join(videos) or '(none)'}, found {video!r}")


def _episodes(root: Path, video: str) -> list[dict[str, Any]]:
    """Where each episode lies: its file, and its first and last time in it."""
    import pyarrow.parquet as pq

    of_video = ["chunk_index", "file_index", "from_timestamp", "to_timestamp"]
    columns = ["episode_index", "length", *(f"videos/{video}/{name}" for name in of_video)]
    files = sorted((root / "meta" / "episodes").rglob("*.parquet"))
    rows = [row for file in files for row in pq.read_table(file, columns=columns).to_pylist()]
    return sorted(rows, key=lambda row: int(row["episode_index"]))


def _decoded(
    root: Path, info: dict[str, Any], video: str, episode: dict[str, Any], size: tuple[int, int] | None
) -> Frames:
    import av

    chunk, file = (episode[f"videos/{video}/{name}"] for name in ["chunk_index", "file_index"])
    path = root / info["video_path"].format(video_key=video, chunk_index=chunk, file_index=file)
    # A frame belongs to the tick that it is nearest to.
    start = episode[f"videos/{video}/from_timestamp"] - 0.5 / info["fps"]
    found: list[Frames] = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        container.seek(int(max(start, 0.0) / stream.time_base), stream=stream)
        for frame in container.decode(stream):
            if len(found) == episode["length"]:
                break
            if frame.time >= start:
                found.append(_pixels(frame, size))
    if len(found) < episode["length"]:
        number, expected = episode["episode_index"], episode["length"]
        raise ValueError(f"{path}: expected {expected} frames of episode {number}, found {len(found)}")
    return np.stack(found)


def _pixels(frame: Any, size: tuple[int, int] | None) -> Frames:
    height, width = size or (frame.height, frame.width)
    pixels: Frames = frame.to_ndarray(format="rgb24", width=width, height=height)
    return pixels
