"""Writes a large MCAP and a large CSV file, and times what reads them.

    pip install mcap==1.6.0 mcap-ros2-support==0.6.0
    python3 bench/python/large_logs.py --folder FOLDER --megabytes 1000 --program target/release/offnominal

The MCAP file holds an inertial sensor at 400 Hz and the states of seven joints at 100 Hz, messages of ROS 2 in CDR, in
chunks without compression, so that its size is that of its messages. The CSV file has 20 columns of numbers. Each command
runs in a process of its own; printed are its seconds, megabytes per second, and the most memory it held.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path

from mcap.writer import CompressionType
from mcap_ros2.writer import Writer

IMU = """\
std_msgs/Header header
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
"""
JOINTS = """\
std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
"""
PARTS = """\
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
VECTOR = """\
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
"""
NAMES = [f"joint_{i}" for i in range(7)]
MAPPING = """\
version = 1
observation = [
    { column = "/imu:angular_velocity.x" }, { column = "/imu:angular_velocity.y" },
    { column = "/imu:linear_acceleration.z" },
    { column = "/joints:position[joint_0]" }, { column = "/joints:position[joint_3]" },
]
[clock]
rate_hz = 100.0
[episodes]
by = "window"
secs = 60.0
"""


def header(nanos: int) -> dict:
    return {"stamp": {"sec": nanos // 10**9, "nanosec": nanos % 10**9}, "frame_id": "base"}


def imu(nanos: int) -> dict:
    t = nanos * 1e-9
    rates = {"x": math.sin(t), "y": math.cos(3 * t), "z": 0.1 * t % 1.0}
    accelerations = {"x": 0.1, "y": math.sin(7 * t), "z": 9.81 + 0.01 * math.sin(t)}
    return {
        "header": header(nanos),
        "angular_velocity": rates,
        "angular_velocity_covariance": [0.0] * 9,
        "linear_acceleration": accelerations,
        "linear_acceleration_covariance": [0.0] * 9,
    }


def joints(nanos: int) -> dict:
    angles = [math.sin(nanos * 1e-9 + i) for i in range(7)]
    return {"header": header(nanos), "name": NAMES, "position": angles, "velocity": angles, "effort": angles}


def write_mcap(path: Path, size: int) -> None:
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE)
        schemas = [
            writer.register_msgdef("sensor_msgs/msg/Imu", IMU + PARTS + VECTOR),
            writer.register_msgdef("sensor_msgs/msg/JointState", JOINTS + PARTS),
        ]
        tick = 0
        while file.tell() < size:
            nanos = 1_600_000_000_000_000_000 + tick * 2_500_000
            writer.write_message("/imu", schemas[0], imu(nanos), nanos, nanos, tick)
            if tick % 4 == 0:
                writer.write_message("/joints", schemas[1], joints(nanos), nanos, nanos, tick)
            tick += 1
        writer.finish()


def write_csv(path: Path, size: int) -> None:
    with path.open("w") as file:
        file.write("time," + ",".join(f"x{i}" for i in range(20)) + "\n")
        row = 0
        while file.tell() < size:
            for _ in range(1000):
                values = (math.sin(row * 0.01 + i) for i in range(20))
                file.write(f"{row * 0.01:.2f}," + ",".join(f"{x:.6f}" for x in values) + "\n")
                row += 1


def timed(program: str, path: Path, *arguments: str) -> dict[str, float | str]:
    begun = time.monotonic()
    subprocess.run([program, *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begun
    megabytes = path.stat().st_size / 1e6
    return {
        "command": " ".join(Path(a).name for a in arguments),
        "megabytes": round(megabytes),
        "seconds": round(seconds, 1),
        "megabytes_per_second": round(megabytes / seconds),
        # Of all commands so far.
        "most_memory_megabytes": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--megabytes", type=int, default=1000)
    options.add_argument("--program", default="offnominal")
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    large = [(given.folder / "large.mcap", write_mcap), (given.folder / "large.csv", write_csv)]
    for path, write in large:
        if not path.exists():
            print(f"writing {path}", file=sys.stderr)
            write(path, given.megabytes * 10**6)
    mapping, monitor = given.folder / "map.toml", given.folder / "large.monitor"
    mapping.write_text(MAPPING)
    mcap, csv = (path for path, _ in large)
    fit = ["--map", str(mapping), "--detector", "knn-transition", "--alpha", "0.1", "--train", "20"]
    for path, arguments in [
        (mcap, ["inspect", str(mcap)]),
        (csv, ["inspect", str(csv)]),
        (mcap, ["fit", str(mcap), *fit, "--out", str(monitor)]),
        (mcap, ["score", str(monitor), str(mcap)]),
    ]:
        print(json.dumps(timed(given.program, path, *arguments)), flush=True)


if __name__ == "__main__":
    main()
