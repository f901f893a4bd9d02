"""What a monitor makes of recordings: which faults it finds, how soon, and what it calls them.

A monitor is fitted and asked by the commands `fit` and `score`. Of a recording with a fault:

- *found*: there is an alarm at or after the first faulty row, and none before.
- *delay*: rows from the first faulty one to that of the alarm; 0 is the first faulty row itself.
- *named*: it is found, and the diagnosis of the alarm has a channel that the fault writes in the first place (of two swapped
  channels: both in the first two places).
"""

import json
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
from faults import Fault
from scipy.stats import beta

ALPHA = 0.05
Row = dict[str, object]


def run(*command: object) -> dict:
    """Runs a command of the program and reads its JSON."""
    text = [str(part) for part in command]
    return json.loads(subprocess.run(text, check=True, capture_output=True, text=True).stdout)


def fit(program: str, logs: list[Path], mapping: Path, detector: str, counts: list[int], rule: str, out: Path) -> dict:
    """Fits a detector on the recordings of one log, sets its threshold on those of another and gives what `fit` says."""
    given = ["--map", mapping, "--detector", detector, "--train", counts[0], "--calibration", counts[1]]
    given += ["--rule", rule, "--alpha", ALPHA, "--seed", 0, "--jobs", 1, "--quiet", "--json", "--out", out]
    return run(program, "fit", *logs, *given)


def score(program: str, monitor: Path, log: Path) -> list[dict]:
    """Scores the recordings of a file."""
    return run(program, "score", monitor, log, "--jobs", 1, "--quiet", "--json")["recordings"]


def share(name: str, hits: int, n: int) -> Row:
    """Gives a count, and the share that it is with its exact 95 % interval (Clopper and Pearson)."""
    low = beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return {name: hits, f"{name}_share": f"{hits / n:.3f}", f"{name}_low": f"{low:.3f}", f"{name}_high": f"{high:.3f}"}


def is_named(fault: Fault, channels: list[str]) -> bool:
    """Tells whether a diagnosis begins with what a fault writes; a reading and its difference from another count as one."""
    readings = list(dict.fromkeys(name.split(" against ")[0] for name in channels))
    if fault.all_first:
        return set(readings[: len(fault.named)]) == set(fault.named)
    return readings[0] in fault.named


def finding(recording: dict, fault: Fault, step_secs: float) -> dict | None:
    """Reads what was found in a recording with a fault: the delay, and what the diagnosis says; `None` if nothing was."""
    if not recording["alarms"]:
        return None
    alarm = recording["alarms"][0]  # it stays on to the end
    delay = round((alarm["secs"] - recording["labelled_secs"]) / step_secs)
    channels = [channel["name"] for channel in alarm["channels"]]
    if delay < 0:
        return None
    return {"delay": delay, "named": is_named(fault, channels), "first": channels[0], "family": alarm["family"][0]}


def median_delay(delays: list[int], n: int) -> str:
    """Gives the median over all recordings; one that is not found has an infinite delay."""
    everything = sorted([*map(float, delays), *[np.inf] * (n - len(delays))])
    middle = everything[(n - 1) // 2]
    return f"{middle:.0f}" if np.isfinite(middle) else ""


def often(names: list[str]) -> str:
    """Lists what was said, most often first, with its count."""
    return "; ".join(f"{name} {count}" for name, count in Counter(names).most_common(3))


def of_fault(name: str, fault: Fault, recordings: list[dict], step_secs: float) -> Row:
    """Makes the row of a fault."""
    n = len(recordings)
    found = [f for f in (finding(r, fault, step_secs) for r in recordings) if f is not None]
    early = sum(bool(r["alarms"]) and r["alarms"][0]["secs"] < r["labelled_secs"] for r in recordings)
    return {
        "group": fault.group, "fault": name, "recordings": n, "early": early,
        **share("found", len(found), n), "median_delay": median_delay([f["delay"] for f in found], n),
        **share("named", sum(f["named"] for f in found), n),
        "first": often([f["first"] for f in found]), "family": often([f["family"] for f in found]),
    }  # fmt: skip


def of_nominal(recordings: list[dict]) -> Row:
    """Makes the row of recordings without a fault."""
    alarms = [r["alarms"][0] for r in recordings if r["alarms"]]
    unknown = dict.fromkeys(["named", "named_share", "named_low", "named_high"], "")
    return {
        "group": "nominal", "fault": "none", "recordings": len(recordings), "early": "",
        **share("found", len(alarms), len(recordings)), "median_delay": "", **unknown,
        "first": often([a["channels"][0]["name"] for a in alarms]), "family": often([a["family"][0] for a in alarms]),
    }  # fmt: skip
