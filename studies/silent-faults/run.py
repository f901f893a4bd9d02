"""Re-enacts ten silent faults in two worlds and on a PX4 flight, and asks monitors for them.

    python run.py --px4 LOG --out DIR [--detectors ID …] [--systems NAME …] [--tuning [--rule RULE] [--leave-out CHANNEL …]]

`found.csv` gets a row for each system, detector and fault, and one for recordings without a fault. A system and detector that has
its rows there is not asked again. With `--tuning` other seeds, fewer recordings and another table, `tuning.csv`, are used, and
settings may be tried.
"""

import argparse
import csv
import fcntl
import re
from dataclasses import dataclass
from pathlib import Path

import faults
import flight
import judge
import pandas as pd
import worlds
from faults import Fault
from sensors import STEP_SECS

HERE = Path(__file__).parent
DETECTORS = ["residual-views", "mewma"]
WORLD_SEEDS = worlds.Seeds(5101)
TUNING_SEEDS = worlds.Seeds(6100, nominal=100, faulty=20)
FLIGHT_SEED, TUNING_FLIGHT_SEED = 5201, 6200
KEYS = ["system", "detector", "rule", "left_out"]


@dataclass(frozen=True)
class System:
    """Something that is watched: its recordings, in one folder or more, and its faults."""

    name: str
    folders: list[Path]
    mapping: Path
    faults: dict[str, Fault]
    step_secs: float


def prepared(name: str, given: argparse.Namespace) -> System:
    """Makes the recordings of a system, unless they are there."""
    out = given.out / ("tuning" if given.tuning else "final") / (given.px4.stem if name == "px4" else name)
    is_there = (out / "complete").exists()
    if name == "px4":
        if not is_there:
            flight.make(given.px4, TUNING_FLIGHT_SEED if given.tuning else FLIGHT_SEED, out)
        folders = [out / f"fold{i}" for i in range(flight.FOLDS)]
        system = System(name, folders, HERE / "flight.toml", flight.FAULTS, 1 / flight.RATE_HZ)
    else:
        if not is_there:
            worlds.make(given.offnominal, name, TUNING_SEEDS if given.tuning else WORLD_SEEDS, out)
        system = System(name, [out], HERE / "world.toml", faults.FAULTS, STEP_SECS)
    (out / "complete").touch()
    return system


def without(mapping: Path, channels: list[str], out: Path) -> Path:
    """Writes a mapping that leaves channels out."""
    lines = mapping.read_text().splitlines(keepends=True)
    gone = {f'"{channel}"' for channel in channels}
    path = out / mapping.name
    path.write_text("".join(line for line in lines if not gone.intersection(re.findall(r'column = ("[^"]+")', line))))
    return path


def count(path: Path) -> int:
    """Counts the recordings of a file."""
    return pd.read_parquet(path, columns=["recording"])["recording"].nunique()


def asked(system: System, detector: str, given: argparse.Namespace) -> dict[str, list[dict]]:
    """Fits a monitor in each folder, and gives the scored recordings of all of them by what is wrong."""
    found: dict[str, list[dict]] = {"nominal": [], **{name: [] for name in system.faults}}
    for folder in system.folders:
        logs = [folder / f"{group}.parquet" for group in ("train", "calibration")]
        monitor = folder / f"{detector}-{given.rule}-{len(given.leave_out)}.monitor"
        mapping = without(system.mapping, given.leave_out, folder)
        judge.fit(given.offnominal, logs, mapping, detector, [count(log) for log in logs], given.rule, monitor)
        for kind, recordings in found.items():
            recordings += judge.score(given.offnominal, monitor, folder / f"{kind}.parquet")
    return found


def rows(system: System, detector: str, given: argparse.Namespace) -> list[judge.Row]:
    """Makes the rows of a system and a detector."""
    found = asked(system, detector, given)
    of_faults = [judge.of_fault(n, f, found[n], system.step_secs) for n, f in system.faults.items()]
    key = dict(zip(KEYS, key_of(system.name, detector, given)))
    return [key | row for row in [judge.of_nominal(found["nominal"]), *of_faults]]


def key_of(system: str, detector: str, given: argparse.Namespace) -> tuple[str, ...]:
    """Tells what rows belong to."""
    return system, detector, given.rule, "; ".join(given.leave_out)


def known(path: Path) -> set[tuple[str, ...]]:
    """Tells which rows are there."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {tuple(row[key] for key in KEYS) for row in csv.DictReader(file)}


def add(path: Path, new: list[judge.Row]) -> None:
    """Appends rows."""
    with path.open("a", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writer = csv.DictWriter(file, new[0], lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        writer.writerows(new)


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--px4", type=Path, help="the log of a PX4 flight")
    parser.add_argument("--out", type=Path, required=True, help="folder of recordings and monitors")
    parser.add_argument("--systems", nargs="*", default=[*worlds.WORLDS, "px4"], choices=[*worlds.WORLDS, "px4"])
    parser.add_argument("--detectors", nargs="*", default=DETECTORS, metavar="ID")
    parser.add_argument("--tuning", action="store_true", help="use the seeds on which settings may be tried")
    parser.add_argument("--rule", default="conformal", help="rule of the threshold, with --tuning")
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="CHANNEL", help="with --tuning")
    parser.add_argument("--offnominal", default="offnominal", help="the program")
    given = parser.parse_args()
    if not given.tuning and (given.leave_out or given.rule != "conformal"):
        parser.error("--rule and --leave-out need --tuning: settings are not tried on the seeds of the test")
    if "px4" in given.systems and (given.px4 is None or not given.px4.is_file()):
        parser.error(f"the system px4 needs --px4 with the log of a flight, found {given.px4}")
    table = HERE / ("tuning.csv" if given.tuning else "found.csv")
    for name in given.systems:
        system = prepared(name, given)
        for detector in given.detectors:
            if key_of(name, detector, given) not in known(table):
                add(table, rows(system, detector, given))
            print(name, detector, given.rule, *given.leave_out, flush=True)


if __name__ == "__main__":
    main()
