"""Writes the logs of this folder: the same numbers in every format that is read, by the formats' own writers.

    pip install rosbags==0.11.9 mcap==1.6.0 mcap-ros2-support==0.6.0 pyarrow h5py zstandard lz4 minari==0.5.4
    python3 make.py

Row i has the time i * 20 ms, x = i / 8, y = -(i * i) / 4, command = (i % 5) / 2, count = i; `missing` has values in every
third row only. All numbers are exact in single precision, so that formats which keep four bytes hold the same.
"""

import gzip
import json
import os
import shutil
import struct
from pathlib import Path

import gymnasium as gym
import h5py
import minari
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from mcap_ros2.writer import Writer as RosWriter
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as BagWriter
from rosbags.typesys import Stores, get_typestore

HERE = Path(__file__).parent
ROWS = 40
START = 1_600_000_000_000_000_000
TICK = 20_000_000


def row(i: int) -> dict[str, float | int | None]:
    return {
        "time": i * 0.02,
        "x": i / 8,
        "y": -(i * i) / 4,
        "command": (i % 5) / 2,
        "count": i,
        "missing": i / 2 if i % 3 == 0 else None,
    }


TABLE = [row(i) for i in range(ROWS)]


def texts() -> None:
    names = list(TABLE[0])
    lines = [",".join(names)]
    lines += [",".join("" if r[n] is None else repr(r[n]) for n in names) for r in TABLE]
    text = "\n".join(lines) + "\n"
    (HERE / "same.csv").write_text(text)
    (HERE / "same.tsv").write_text(text.replace(",", "\t"))
    with gzip.GzipFile(HERE / "same.csv.gz", "wb", mtime=0) as packed:
        packed.write(text.encode())
    (HERE / "same.jsonl").write_text("".join(json.dumps(r) + "\n" for r in TABLE))


def columns() -> None:
    table = pa.Table.from_pylist(TABLE)
    pq.write_table(table, HERE / "same.parquet", compression="zstd")
    with pa.OSFile(str(HERE / "same.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=16)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.OSFile(str(HERE / "same.arrows"), "wb") as sink, pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    kinds()
    with h5py.File(HERE / "same.h5", "w", track_order=True) as file:
        for name in TABLE[0]:
            values = [np.nan if r[name] is None else r[name] for r in TABLE]
            file.create_dataset(name, data=np.array(values, dtype=np.float64))


def walk(seed: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations of one step more than there are actions."""
    rng = np.random.default_rng(seed)
    return np.round(np.cumsum(rng.normal(size=(steps + 1, 2)), axis=0), 3), np.round(rng.normal(size=(steps, 1)), 3)


def offline() -> None:
    """Data sets of offline learning as D4RL and robomimic lay them out: what follows a step lies beside it."""
    parts = [walk(seed, 8) for seed in range(5)]
    flags = np.tile(np.arange(8) == 7, 5)
    with h5py.File(HERE / "d4rl.h5", "w", track_order=True) as file:
        file["observations"] = np.concatenate([obs[:-1] for obs, _ in parts])
        file["next_observations"] = np.concatenate([obs[1:] for obs, _ in parts])
        file["actions"] = np.concatenate([act for _, act in parts])
        file["rewards"] = np.round(np.linspace(0, 1, 40), 3)
        file["terminals"] = flags & (np.arange(40) < 16)
        file["timeouts"] = flags & (np.arange(40) >= 16)
        file["infos/qpos"] = np.round(np.linspace(0, 3, 40), 3)
        file["metadata/weights"] = np.round(np.random.default_rng(9).normal(size=(7, 3)), 3)
    with h5py.File(HERE / "robomimic.h5", "w", track_order=True) as file:
        for number, (obs, act) in enumerate(parts):
            demo = f"data/demo_{number}"
            file[f"{demo}/actions"], file[f"{demo}/states"] = act, 2 * obs[:-1]
            file[f"{demo}/obs/eef_pos"], file[f"{demo}/next_obs/eef_pos"] = obs[:-1], obs[1:]
            file[f"{demo}/rewards"], file[f"{demo}/dones"] = np.arange(8) == 7, np.arange(8) == 7


def kinds() -> None:
    """Columns of all types that are read, and of some that are left out."""
    table = pa.table({
        "time": pa.array([START + r["count"] * TICK for r in TABLE], pa.timestamp("ns")),
        "x": pa.array([r["x"] for r in TABLE], pa.float32()),
        "count": pa.array([r["count"] for r in TABLE], pa.uint8()),
        "missing": pa.array([r["missing"] for r in TABLE], pa.float64()),
        "is_even": pa.array([r["count"] % 2 == 0 for r in TABLE]),
        "mode": pa.array([["slow", "fast", None][r["count"] % 3] for r in TABLE]).dictionary_encode(),
        "name": pa.array([f"row {r['count']}" for r in TABLE]),
        "position": pa.array([[r["x"], r["y"]] for r in TABLE], pa.list_(pa.float32(), 2)),
        "forces": pa.array([[r["x"]] * (r["count"] % 4) for r in TABLE], pa.list_(pa.float64())),
        "pose": pa.array([{"x": r["x"], "at": [r["count"]]} for r in TABLE]),
        "image": pa.array([b"no number"] * ROWS),
    })
    pq.write_table(table, HERE / "kinds.parquet", compression="snappy", row_group_size=16, data_page_size=64)
    pq.write_table(table, HERE / "pages.parquet", compression="lz4", data_page_version="2.0", use_dictionary=False)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(HERE / "kinds.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=16)


class Table(gym.Env):
    """Plays the rows of the table in three episodes."""

    observation_space = gym.spaces.Dict({"at": gym.spaces.Box(-1e3, 1e3, (2,), np.float64)})
    action_space = gym.spaces.Box(-1e3, 1e3, (1,), np.float64)

    def at(self) -> dict[str, np.ndarray]:
        return {"at": np.array([TABLE[self.i]["x"], TABLE[self.i]["y"]])}

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        self.i = options["from"]
        return self.at(), {"success": False}

    def step(self, action: np.ndarray) -> tuple[dict, float, bool, bool, dict]:
        self.i += 1
        return self.at(), 0.0, False, self.i % 10 == 9, {"success": self.i > 20}


def minari_data() -> None:
    os.environ["MINARI_DATASETS_PATH"] = str(HERE / "minari")
    shutil.rmtree(HERE / "minari", ignore_errors=True)
    env = minari.DataCollector(Table(), record_infos=True)
    for start in [0, 10, 20]:
        env.reset(seed=start, options={"from": start})
        for i in range(start, start + 9):
            env.step(np.array([TABLE[i]["command"]]))
    env.create_dataset("table-v0", description="x and y of the table")


def lerobot() -> None:
    folder = HERE / "lerobot"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "meta").mkdir(parents=True)
    (folder / "data/chunk-000").mkdir(parents=True)
    vector = {"dtype": "float32", "shape": [2], "names": ["shoulder", "elbow"]}
    scalar = {"dtype": "int64", "shape": [1], "names": None}
    info = {
        "codebase_version": "v3.0",
        "fps": 50,
        "features": {
            "observation.state": vector,
            "action": {"dtype": "float32", "shape": [1], "names": {"motors": ["wrist"]}},
            "observation.images.top": {"dtype": "video", "shape": [3, 4, 4], "names": None},
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            "episode_index": scalar,
            "frame_index": scalar,
        },
    }
    (folder / "meta/info.json").write_text(json.dumps(info, indent=1))
    for part in range(2):
        rows = TABLE[part * 20 : part * 20 + 20]
        state = pa.FixedSizeListArray.from_arrays(pa.array([v for r in rows for v in (r["x"], r["y"])], pa.float32()), 2)
        action = pa.FixedSizeListArray.from_arrays(pa.array([r["command"] for r in rows], pa.float32()), 1)
        arrays = {
            "observation.state": state,
            "action": action,
            "timestamp": pa.array([(i % 10) * 0.02 for i in range(20)], pa.float32()),
            "episode_index": pa.array([2 * part + i // 10 for i in range(20)], pa.int64()),
            "frame_index": pa.array([i % 10 for i in range(20)], pa.int64()),
        }
        pq.write_table(pa.table(arrays), folder / f"data/chunk-000/file-{part:03d}.parquet", compression="snappy")


JOINTS = """std_msgs/Header header
string[] name
float64[] position # [rad]
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""


def json_mcap(name: str, **options: object) -> None:
    with open(HERE / name, "wb") as file:
        writer = McapWriter(file, chunk_size=2048, **options)
        writer.start()
        schema = writer.register_schema(name="row", encoding="jsonschema", data=b'{"type":"object"}')
        channel = writer.register_channel(topic="/row", message_encoding="json", schema_id=schema)
        for i, r in enumerate(TABLE):
            at = START + i * TICK
            writer.add_message(channel, log_time=at, publish_time=at, data=json.dumps(r).encode())
        writer.finish()


def mcaps() -> None:
    json_mcap("json.mcap", compression=CompressionType.LZ4)
    # Without checksums a changed byte reaches what reads the messages.
    json_mcap("plain.mcap", compression=CompressionType.NONE, enable_crcs=False)
    with open(HERE / "ros.mcap", "wb") as file:
        writer = RosWriter(file, compression=CompressionType.ZSTD, chunk_size=2048)
        schema = writer.register_msgdef("sensor_msgs/msg/JointState", JOINTS)
        for i, r in enumerate(TABLE):
            at = START + i * TICK
            message = {
                "header": {"stamp": {"sec": i, "nanosec": 5}, "frame_id": "base"},
                "name": ["shoulder", "elbow"],
                "position": [r["x"], r["y"]],
                "velocity": [],
                "effort": [r["command"], 0.5],
            }
            writer.write_message("/joint_states", schema, message, log_time=at, publish_time=at)
        writer.finish()


def bags() -> None:
    store = get_typestore(Stores.ROS2_JAZZY)
    joint, header, time = (store.types[t] for t in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time"))
    vector, imu, quaternion = (store.types[f"geometry_msgs/msg/{t}"] if t != "Imu" else store.types["sensor_msgs/msg/Imu"] for t in ("Vector3", "Imu", "Quaternion"))
    for name, plugin in (("bag-sqlite", StoragePlugin.SQLITE3), ("bag-mcap", StoragePlugin.MCAP)):
        shutil.rmtree(HERE / name, ignore_errors=True)
        with BagWriter(HERE / name, version=9, storage_plugin=plugin) as writer:
            joints = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
            imus = writer.add_connection("/imu", "sensor_msgs/msg/Imu", typestore=store)
            for i, r in enumerate(TABLE):
                stamp = header(stamp=time(sec=i, nanosec=5), frame_id="base")
                state = joint(header=stamp, name=["shoulder", "elbow"], position=np.array([r["x"], r["y"]]), velocity=np.array([]), effort=np.array([r["command"], 0.5]))
                writer.write(joints, START + i * TICK, store.serialize_cdr(state, "sensor_msgs/msg/JointState"))
                if i % 2 == 0:
                    zero = vector(x=0.0, y=0.0, z=9.75)
                    seen = imu(header=stamp, orientation=quaternion(x=0.0, y=0.0, z=0.0, w=1.0), orientation_covariance=np.zeros(9), angular_velocity=vector(x=r["x"], y=0.0, z=0.0), angular_velocity_covariance=np.zeros(9), linear_acceleration=zero, linear_acceleration_covariance=np.zeros(9))
                    writer.write(imus, START + i * TICK + 1000, store.serialize_cdr(seen, "sensor_msgs/msg/Imu"))


def ulog() -> None:
    def message(kind: str, payload: bytes) -> bytes:
        return struct.pack("<HB", len(payload), ord(kind)) + payload

    out = bytearray(b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0))
    out += message("B", bytes(40))
    out += message("F", b"point:float x;float y;uint8_t[4] _padding0;")
    out += message("F", b"state:uint64_t timestamp;point[2] p;uint16_t count;bool on;uint8_t[5] _padding0;")
    out += message("A", struct.pack("<BH", 0, 7) + b"state")
    out += message("A", struct.pack("<BH", 1, 8) + b"state")
    for i, r in enumerate(TABLE):
        point = struct.pack("<ff4x", r["x"], r["y"])
        # The padding at the end may be missing.
        data = struct.pack("<Q", i * 20_000) + point + point + struct.pack("<HB", r["count"], i % 2)
        out += message("D", struct.pack("<H", 7) + data)
        if i % 4 == 0:
            out += message("D", struct.pack("<H", 8) + data)
    out += message("O", struct.pack("<H", 12))
    out += message("D", struct.pack("<H", 7) + data)[:-5]
    (HERE / "state.ulg").write_bytes(out)


if __name__ == "__main__":
    texts()
    columns()
    offline()
    minari_data()
    lerobot()
    mcaps()
    bags()
    ulog()
