"""Writes the monitor that `test_node.py` starts, from numbers that a small arm would give.

    python3 make_monitor.py FOLDER

It needs the program `offnominal`. The folder gets arm.monitor, fitted on tables, and topics.toml, which says where the same
channels are among the topics of ROS 2.
"""

import csv
import math
import random
import subprocess
import sys
from pathlib import Path

CHANNELS = """version = 1
observation = [{{ column = "{}", name = "elbow" }}]
command = [{{ column = "{}", name = "push" }}]
[clock]
{}
"""


def push(step):
    """The command at a step; the elbow follows it."""
    return math.sin(step / 6)


def record(path, seed):
    noise = random.Random(seed)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["time", "elbow", "push"])
        start = noise.randrange(40)
        for step in range(100):
            # The last position may be up to a step old.
            elbow = 0.3 * push(start + step - noise.random()) + noise.gauss(0, 0.01)
            out.writerow([step / 20, elbow, push(start + step)])


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tables = [folder / f"run{i:02}.csv" for i in range(24)]
    for i, table in enumerate(tables):
        record(table, i)
    (folder / "tables.toml").write_text(CHANNELS.format("elbow", "push", 'column = "time"'))
    (folder / "topics.toml").write_text(
        CHANNELS.format("/joint_states:position[elbow]", "/cmd_vel:linear.x", "rate_hz = 20.0\nmax_age_secs = 0.5")
    )
    fit = ["offnominal", "fit", *tables, "--map", folder / "tables.toml", "--alpha", "0.1", "--detector", "knn"]
    subprocess.run([*fit, "--out", folder / "arm.monitor"], check=True)


if __name__ == "__main__":
    main()
