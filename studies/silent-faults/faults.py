"""The ten faults of a localisation stack: five of its filter, five of its sensors.

The filter's are those of an open report on ROS 2 in which every status said OK (`ros2_medkit` issue 669); the sensors' are the
usual ones of a robot. Each has its size, which was set before anything was fitted, and the channels of which one has to come
first in the diagnosis: those that the fault writes, not those in which it shows later.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from estimator import NOMINAL, Settings, too_uncertain
from sensors import STEP_SECS, Readings

Scales = dict[str, float]
"""Standard deviations of the channels in nominal recordings."""
Change = Callable[[Readings, int, Scales], Readings]
"""What becomes of readings, from a step on."""


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong at an onset and stays."""

    group: str
    """`filter` or `sensor`."""
    summary: str
    named: tuple[str, ...]
    """The channels that the fault writes."""
    all_first: bool = False
    """Whether all of them have to come first, in any order."""
    settings: Settings = NOMINAL
    """What the filter becomes."""
    sensors: Change | None = None
    """What the readings become."""


def changed(readings: Readings, onset: int, change: dict[str, Callable[[np.ndarray], np.ndarray]]) -> Readings:
    """Gives readings of which some are something else from the onset on."""
    out = {name: values.copy() for name, values in readings.items()}
    for name, new in change.items():
        out[name][onset:] = new(readings[name][onset:])
    return out


def held(names: list[str]) -> Change:
    """A topic that repeats its last message."""

    def fault(readings: Readings, onset: int, _: Scales) -> Readings:
        last = {name: readings[name][onset - 1] for name in names}
        return changed(readings, onset, {name: lambda x, to=last[name]: np.full_like(x, to) for name in names})

    return fault


def scaled(names: list[str], factor: float) -> Change:
    """Readings in another unit, or with another sign."""
    return lambda readings, onset, _: changed(readings, onset, {name: lambda x: factor * x for name in names})


def biased(name: str, deviations: float) -> Change:
    """A reading that is off by a constant."""
    return lambda readings, onset, scales: changed(readings, onset, {name: lambda x: x + deviations * scales[name]})


def shifted(by: dict[str, float]) -> Change:
    """Readings that are off by constants."""
    return lambda readings, onset, _: changed(readings, onset, {name: lambda x, d=d: x + d for name, d in by.items()})


def turned(speed: float) -> Change:
    """A position that moves against the heading, north and east."""

    def fault(readings: Readings, onset: int, _: Scales) -> Readings:
        yaw = readings["heading"][onset:]
        back = {"position rate north": -speed * np.cos(yaw), "position rate east": -speed * np.sin(yaw)}
        return changed(readings, onset, {name: lambda x, new=new: new for name, new in back.items()})

    return fault


def interrupted(names: list[str], secs: float, every_secs: float, step_secs: float = STEP_SECS) -> Change:
    """Readings that are zero for some seconds, again and again."""

    def zeros(x: np.ndarray) -> np.ndarray:
        is_off = np.arange(len(x)) % round(every_secs / step_secs) < round(secs / step_secs)
        return np.where(is_off, 0.0, x)

    return lambda readings, onset, _: changed(readings, onset, dict.fromkeys(names, zeros))


def swapped(one: str, other: str) -> Change:
    """Two readings under the name of the other."""

    def fault(readings: Readings, onset: int, _: Scales) -> Readings:
        both = {one: readings[other][onset:], other: readings[one][onset:]}
        return changed(readings, onset, {name: lambda x, new=new: new.copy() for name, new in both.items()})

    return fault


WHEELS = ["wheel left", "wheel right"]
IMU = ["yaw rate", "acceleration ahead", "acceleration left"]
OF_COVARIANCE = ("log NIS", "position sd")

FAULTS = {
    "gate rejects every fix": Fault(
        "filter", "the limit of the gate is 0", ("rejects in a row", "position sd"), settings=replace(NOMINAL, gate=0.0)
    ),
    "position runs backwards": Fault(
        "filter",
        "at 1 m/s; speed and heading stay right",
        ("position rate",),
        settings=replace(NOMINAL, backwards_mps=1.0),
    ),
    "innovation too small": Fault(
        "filter",
        "fixes are believed to be so bad that the mean NIS is 0.03 in place of 2",
        OF_COVARIANCE,
        settings=replace(NOMINAL, fix_variance=NOMINAL.fix_variance * 2 / 0.03),
    ),
    "yaw gyro inverted": Fault("filter", "the sign of the yaw rate", ("yaw rate",), sensors=scaled(["yaw rate"], -1.0)),
    "gate 39 times too far": Fault(
        "filter",
        "so much drift is believed in that innovations are expected with 39 times their variance",
        OF_COVARIANCE,
        settings=too_uncertain(16.27 / 0.415),
    ),
    "frozen topic": Fault("sensor", "the IMU repeats its last message", tuple(IMU), sensors=held(IMU)),
    "constant bias": Fault(
        "sensor", "yaw rate, two standard deviations", ("yaw rate",), sensors=biased("yaw rate", 2.0)
    ),
    "wrong unit": Fault("sensor", "encoders in km/h", tuple(WHEELS), sensors=scaled(WHEELS, 3.6)),
    "drop-out": Fault(
        "sensor", "encoders say 0 for 0.5 s of every 2 s", tuple(WHEELS), sensors=interrupted(WHEELS, 0.5, 2.0)
    ),
    "swapped channels": Fault(
        "sensor",
        "acceleration ahead and to the left",
        ("acceleration ahead", "acceleration left"),
        all_first=True,
        sensors=swapped("acceleration ahead", "acceleration left"),
    ),
}
