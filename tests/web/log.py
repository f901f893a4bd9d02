"""Writes recordings of a robot arm as MCAP, as a ROS 2 recorder does: JointState messages of ten joints at 1 kHz.

    python3 tests/web/log.py big.mcap --secs 225 --fault 200         # 100 MB; a joint's sensor is off from there on
    python3 tests/web/log.py nominal/run --secs 5 --many 40          # nominal/run00.mcap, run01.mcap, …

Each joint follows a sum of sines by a controller of position and velocity, with random torques and noise of the sensors;
so there are thirty channels: position, velocity and effort. It needs numpy, mcap
and mcap-ros2-support.
"""

import argparse
from pathlib import Path

import numpy
from mcap.writer import CompressionType
from mcap_ros2.writer import Writer

JOINTS = [f"joint_{i}" for i in range(10)]
RATE = 1000
SCHEMA = """std_msgs/Header header
string[] name
float64[] position
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


def motion(steps, seed, fault):
    """Position, velocity and effort of each joint at each step; `fault` is the step from which one sensor is off."""
    rng = numpy.random.default_rng(seed)
    n, dt = len(JOINTS), 1 / RATE
    times = numpy.arange(steps)[:, None] * dt
    speeds, phases = rng.uniform(0.3, 1.2, (2, n)), rng.uniform(0, 2 * numpy.pi, (2, n))
    wanted = sum(0.4 * numpy.sin(speed * times + phase) for speed, phase in zip(speeds, phases))
    pushed = rng.normal(0, 2, (steps, n))
    position, velocity = wanted[0].copy(), numpy.zeros(n)
    rows = numpy.empty((steps, 3, n))
    for step in range(steps):
        effort = 400 * (wanted[step] - position) - 40 * velocity
        rows[step] = position, velocity, effort
        velocity = velocity + dt * (effort + pushed[step])
        position = position + dt * velocity
    rows += rng.normal(0, 1, rows.shape) * numpy.array([1e-4, 1e-3, 1e-2])[:, None]
    if fault is not None:
        rows[fault:, 0, 3] += 0.02
    return rows


def message(nanos, rows):
    """A JointState."""
    stamp = {"sec": nanos // 10**9, "nanosec": nanos % 10**9}
    position, velocity, effort = rows.tolist()
    header = {"stamp": stamp, "frame_id": "base"}
    return {"header": header, "name": JOINTS, "position": position, "velocity": velocity, "effort": effort}


def write(path, secs, seed, fault, compression):
    """Writes one recording."""
    steps = round(secs * RATE)
    rows = motion(steps, seed, None if fault is None else round(fault * RATE))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        writer = Writer(file, compression=getattr(CompressionType, compression.upper()))
        schema = writer.register_msgdef("sensor_msgs/msg/JointState", SCHEMA)
        for step in range(steps):
            nanos = 1_700_000_000 * 10**9 + step * (10**9 // RATE)
            writer.write_message("/joint_states", schema, message(nanos, rows[step]), nanos, nanos)
        writer.finish()


def main():
    options = argparse.ArgumentParser(description="Writes recordings of a robot arm as MCAP.")
    options.add_argument("out", type=Path, help="the file, or the beginning of its name with --many")
    options.add_argument("--secs", type=float, default=5, help="length of a recording")
    options.add_argument("--fault", type=float, help="seconds after which a sensor is off; without it, it never is")
    options.add_argument("--seed", type=int, default=0, help="seed; each recording has its own")
    options.add_argument("--many", type=int, help="so many recordings")
    options.add_argument("--compression", default="none", choices=["none", "lz4", "zstd"], help="of chunks")
    given = options.parse_args()
    for i in range(given.many or 1):
        path = given.out if given.many is None else Path(f"{given.out}{i:02}.mcap")
        write(path, given.secs, given.seed * 1000 + i, given.fault, given.compression)


if __name__ == "__main__":
    main()
