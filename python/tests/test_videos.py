"""Frames of LeRobot data sets, written by the documented layout: two episodes in one video."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offnominal

av = pytest.importorskip("av")

VIDEO = "observation.images.top"
LENGTHS = [7, 12]
FPS = 10


def brightness(i: int) -> int:
    return 10 + 12 * i


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    info = {
        "codebase_version": "v3.0",
        "fps": FPS,
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
        "features": {VIDEO: {"dtype": "video", "shape": [32, 48, 3]}, "action": {"dtype": "float32", "shape": [2]}},
    }
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(json.dumps(info))
    write_video(tmp_path / "videos" / VIDEO / "chunk-000" / "file-000.mp4", sum(LENGTHS))
    begins = [0, LENGTHS[0]]
    episodes = {
        "episode_index": [0, 1],
        "length": LENGTHS,
        f"videos/{VIDEO}/chunk_index": [0, 0],
        f"videos/{VIDEO}/file_index": [0, 0],
        f"videos/{VIDEO}/from_timestamp": [begin / FPS for begin in begins],
        f"videos/{VIDEO}/to_timestamp": [(begin + n) / FPS for begin, n in zip(begins, LENGTHS, strict=True)],
    }
    write_table(tmp_path / "meta" / "episodes" / "chunk-000" / "file-000.parquet", episodes)
    rows = [(episode, i) for episode, n in enumerate(LENGTHS) for i in range(n)]
    data = {
        "episode_index": [episode for episode, _ in rows],
        "timestamp": [i / FPS for _, i in rows],
        "observation.state": [[float(i), 0.5 * i * i] for _, i in rows],
        "action": [[0.1 * i, 1.0 - i] for _, i in rows],
    }
    write_table(tmp_path / "data" / "chunk-000" / "file-000.parquet", data)
    return tmp_path


def write_table(path: Path, columns: dict[str, list]) -> None:
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table(columns), path)


def write_video(path: Path, n: int) -> None:
    path.parent.mkdir(parents=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=FPS)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 48, 32, "yuv420p", 4_000_000
        for i in range(n):
            image = np.full((32, 48, 3), brightness(i), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())


def test_each_episode_has_its_own_frames(folder: Path) -> None:
    first, second = offnominal.logs.frames(folder, VIDEO)
    assert (first.shape, second.shape) == ((7, 32, 48, 3), (12, 32, 48, 3))
    means = [frame.mean() for frame in [*first, *second]]
    np.testing.assert_allclose(means, [brightness(i) for i in range(19)], atol=4)


def test_frames_and_actions_are_an_episode_of_image_detectors(folder: Path) -> None:
    runs = offnominal.logs.read(folder)
    seen = list(offnominal.logs.frames(folder, VIDEO, size=(16, 16)))
    assert [(len(f), len(run.actions)) for f, run in zip(seen, runs, strict=True)] == [(7, 6), (12, 11)]
    assert seen[0].shape[1:] == (16, 16, 3)


def test_some_episodes_can_be_asked_for(folder: Path) -> None:
    (only,) = offnominal.logs.frames(folder, VIDEO, episodes=[1])
    np.testing.assert_allclose(only[0].mean(), brightness(7), atol=4)


def test_what_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"expected one of the videos observation\.images\.top, found 'left'"):
        next(offnominal.logs.frames(folder, "left"))
    path = folder / "videos" / VIDEO / "chunk-000" / "file-000.mp4"
    path.unlink()
    path.parent.rmdir()
    write_video(path, 9)
    with pytest.raises(ValueError, match="expected 12 frames of episode 1, found 2"):
        list(offnominal.logs.frames(folder, VIDEO))
