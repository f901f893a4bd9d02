"""Logs of which one part is damaged, of an unknown kind, or cut off: `python make_parts.py` beside the files of `make.py`.

Needs h5py, numpy, polars, pyarrow, mcap and zstandard. Each file begins with 60 rows of `time`, `speed` and `throttle`.
"""

import io
import json
import shutil
import sqlite3
import struct
from pathlib import Path

import h5py
import numpy as np
import polars
import pyarrow
import pyarrow.parquet
import zstandard
from mcap.writer import CompressionType, Writer

HERE = Path(__file__).parent
OUT = HERE / "parts"
TIME = np.arange(60) * 0.02
SPEED = 1 + 0.3 * np.sin(np.arange(60) / 5)
THROTTLE = 0.5 + 0.2 * np.cos(np.arange(60) / 5)
TABLE = {"time": TIME, "speed": SPEED, "throttle": THROTTLE}


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def mcap() -> None:
    def written(compression: CompressionType, more: bool = False) -> bytes:
        out = io.BytesIO()
        writer = Writer(out, chunk_size=1000, compression=compression)
        writer.start()
        schema = writer.register_schema(name="Car", encoding="jsonschema", data=b"{}")
        channel = writer.register_channel(topic="/car", message_encoding="json", schema_id=schema)
        if more:
            idl = writer.register_schema(name="a/B", encoding="ros2idl", data=b"module a { };")
            other = writer.register_channel(topic="/other", message_encoding="cdr", schema_id=idl)
        for i in range(60):
            at = int(TIME[i] * 1e9)
            text = json.dumps({"speed": SPEED[i], "throttle": THROTTLE[i]})
            if more and i in (20, 21):
                text = text.replace(str(SPEED[i]), "NaN") if i == 20 else "{"
            writer.add_message(channel, log_time=at, publish_time=at, data=text.encode())
            if more:
                writer.add_message(other, log_time=at, publish_time=at, data=b"\0\1\0\0abcd")
        writer.finish()
        return out.getvalue()

    (OUT / "whole.mcap").write_bytes(whole := written(CompressionType.ZSTD))
    # The second chunk: its checksum is another.
    first = whole.index(b"\x06", 8 + 9)
    second = whole.index(b"zstd", whole.index(b"zstd", first) + 4)
    (OUT / "chunk.mcap").write_bytes(flip(whole, second + 40))
    (OUT / "plain.mcap").write_bytes(written(CompressionType.NONE))
    (OUT / "kinds.mcap").write_bytes(written(CompressionType.ZSTD, more=True))
    (OUT / "types.mcap").write_bytes(deep())


def deep() -> bytes:
    """A message of 8 bytes whose type has 28 levels of two fields each, so that it declares 2^28."""
    out = io.BytesIO()
    writer = Writer(out, compression=CompressionType.NONE)
    writer.start()
    text = "".join(f"a/T{i + 1} x\na/T{i + 1} y\n{'=' * 80}\nMSG: a/T{i + 1}\n" for i in range(28)) + "uint8[0] e\n"
    schema = writer.register_schema(name="a/T0", encoding="ros2msg", data=text.encode())
    channel = writer.register_channel(topic="/deep", message_encoding="cdr", schema_id=schema)
    writer.add_message(channel, log_time=0, publish_time=0, data=b"\0\1\0\0abcd")
    writer.finish()
    return out.getvalue()


def hdf5() -> None:
    with h5py.File(OUT / "kinds.h5", "w", userblock_size=512) as file:
        for name, values in TABLE.items():
            file.create_dataset(name, data=values, chunks=(20,), compression="gzip", shuffle=True)
        file["half"] = SPEED.astype(np.float16)
        file["big"] = SPEED.astype(">f2")
        file["record"] = np.zeros(60, [("a", "f4"), ("b", "i4")])
        file["opaque"] = np.zeros(60, "V7")
        file["word"] = ["x"] * 60
    with h5py.File(OUT / "kinds.h5") as file:
        chunk = file["throttle"].id.get_chunk_info(1)
    data = (OUT / "kinds.h5").read_bytes()
    (OUT / "chunk.h5").write_bytes(flip(flip(data, chunk.byte_offset), chunk.byte_offset + 1))
    # Rows that no byte stands for, and links that lead back.
    with h5py.File(OUT / "rows.h5", "w") as file:
        file.create_dataset("x", (10**12,), "f8", chunks=(1 << 16,))
    with h5py.File(OUT / "links.h5", "w") as file:
        file["x"] = TIME
        for name in "abcdefgh":
            file[name] = file["/"]


def columns() -> None:
    frame = polars.DataFrame(TABLE)
    frame.write_ipc(OUT / "polars.arrow")
    frame.write_ipc(OUT / "polars-zstd.arrow", compression="zstd")
    table = pyarrow.table(TABLE)
    with pyarrow.OSFile(str(OUT / "batches.arrow"), "wb") as out, pyarrow.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=20)
    pyarrow.parquet.write_table(
        table, OUT / "groups.parquet", row_group_size=20, use_dictionary=False, compression="gzip"
    )
    place = pyarrow.parquet.ParquetFile(OUT / "groups.parquet").metadata.row_group(1).column(1)
    data = (OUT / "groups.parquet").read_bytes()
    at = place.data_page_offset + place.total_compressed_size - 20
    (OUT / "page.parquet").write_bytes(flip(flip(data, at), at + 1))


DEFINITION = "float64 speed\nfloat64 throttle\n"


def bag(path: Path, compress: bool = False, tables: str = "plain") -> None:
    path.unlink(missing_ok=True)
    file = sqlite3.connect(path)
    file.execute("PRAGMA page_size = 1024")
    file.execute(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)"
    )
    data = "data BLOB" if tables == "plain" else "data BLOB AS (zeroblob(1000000000))"
    file.execute(
        f"CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, {data})"
    )
    file.execute("CREATE TABLE message_definitions(topic_type TEXT, encoding TEXT, encoded_message_definition TEXT)")
    file.execute("INSERT INTO topics VALUES (1, '/car', 'a/msg/Car', 'cdr'), (2, '/old', 'a/msg/Old', 'cdr')")
    file.execute("INSERT INTO message_definitions VALUES ('a/msg/Car', 'ros2msg', ?)", [DEFINITION])
    for i in range(60):
        message = b"\0\1\0\0" + struct.pack("<dd", SPEED[i], THROTTLE[i])
        if compress:
            message = zstandard.compress(message)
        if tables != "plain":
            file.execute("INSERT INTO messages(topic_id, timestamp) VALUES (1, ?)", [i])
            continue
        topic = 7 if i == 30 else 1
        message = message[:9] if i == 31 else message
        row = (topic, int(TIME[i] * 1e9), message)
        file.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", row)
        file.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (2, ?, ?)", (row[1], message))
    file.commit()
    file.close()


def bags() -> None:
    bag(OUT / "bag.db3")
    bag(OUT / "messages.db3", compress=True)
    bag(OUT / "computed.db3", tables="computed")
    folder = OUT / "bag-zstd"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "bag_0.db3.zstd").write_bytes(zstandard.compress((OUT / "bag.db3").read_bytes()))
    listed = "relative_file_paths:\n    - bag_0.db3.zstd\n  compression_format: zstd\n  compression_mode: FILE\n"
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information:\n  " + listed)


def ulog() -> None:
    def message(kind: str, data: bytes) -> bytes:
        return struct.pack("<HB", len(data), ord(kind)) + data

    def flags(appended: int) -> bytes:
        return message("B", bytes(8) + bytes([appended > 0]) + bytes(7) + struct.pack("<QQQ", appended, 0, 0))

    def log(appended: int) -> tuple[bytes, int]:
        out = b"\x55\x4c\x6f\x67\x01\x12\x35\x01" + bytes(8) + flags(appended)
        out += message("F", b"car:uint64_t timestamp;float speed;float throttle;")
        out += message("A", struct.pack("<BH", 0, 0) + b"car")
        for i in range(60):
            id = 9 if i == 30 else 0
            out += message("D", struct.pack("<HQff", id, int(TIME[i] * 1e6), SPEED[i], THROTTLE[i]))
        out += message("D", bytes(18))[:11]
        return out, len(out)

    _, at = log(0)
    whole, _ = log(at)
    (OUT / "appended.ulg").write_bytes(whole + message("I", b"\x0echar[5] dumped") + message("I", b"\x04int af"))


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    mcap()
    hdf5()
    columns()
    bags()
    ulog()
