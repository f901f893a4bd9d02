"""A localisation filter: dead reckoning by encoders and gyro, corrected by fixes that pass a gate.

The state is [east, north, heading]; the filter is the extended Kalman filter of the motion of a unicycle. A fix is used if
its normalised innovation squared ν' S⁻¹ ν is at most GATE, the 99.9 % quantile of χ² with two degrees of freedom.

What is published at each step, and what a monitor sees of it:

| channel | meaning |
|---|---|
| `position rate` | how far the published position moved along the published heading, m/s |
| `heading rate` | how far the published heading turned, rad/s |
| `innovation ahead`, `innovation left` | the fix seen from the predicted position, along the published heading, m |
| `log NIS` | ln of the normalised innovation squared |
| `rejects in a row` | fixes that the gate has rejected since the last one that it let pass |
| `position sd` | ln of the standard deviation of the position that the filter believes, in metres |

The place itself is left out, since any place is nominal. The two quantities that are ratios or scales are logarithms: one that
is too small shows on no other scale.
"""

from dataclasses import dataclass, replace

import numpy as np
from sensors import FIX_SD, GYRO_SD, STEP_SECS, WHEEL_SD, Readings

GATE = 13.82
OUTPUTS = [
    "position rate", "heading rate", "innovation ahead", "innovation left", "log NIS", "rejects in a row", "position sd",
]  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What a defect of the filter changes."""

    gate: float = GATE
    """Largest normalised innovation squared of a fix that is used."""
    fix_variance: float = FIX_SD**2
    """Variance of a fix on each axis, as the filter believes, m²."""
    drift_variance: float = 0.0
    """Variance that each step adds to the position on each axis beyond that of the sensors, m²."""
    backwards_mps: float | None = None
    """Speed at which the position runs backwards, whatever the encoders say; `None` if it follows them."""


NOMINAL = Settings()


class Filter:
    """The filter, one step at a time."""

    def __init__(self, east: float, north: float) -> None:
        self.state = np.array([east, north, 0.0])
        self.covariance = np.diag([FIX_SD**2, FIX_SD**2, 0.05**2])
        self.rejects = 0

    def predict(self, speed: float, yaw_rate: float, settings: Settings) -> None:
        """Moves on for a step by dead reckoning."""
        ahead = speed if settings.backwards_mps is None else -settings.backwards_mps
        sin, cos = np.sin(self.state[2]), np.cos(self.state[2])
        self.state += STEP_SECS * np.array([ahead * cos, ahead * sin, yaw_rate])
        slope = np.array([[1, 0, -ahead * sin * STEP_SECS], [0, 1, ahead * cos * STEP_SECS], [0, 0, 1]])
        along = (STEP_SECS * WHEEL_SD) ** 2 / 2 * np.outer([cos, sin, 0], [cos, sin, 0])
        noise = along + np.diag([settings.drift_variance] * 2 + [(STEP_SECS * GYRO_SD) ** 2])
        self.covariance = slope @ self.covariance @ slope.T + noise

    def correct(self, fix: np.ndarray, settings: Settings) -> tuple[np.ndarray, float]:
        """Uses a fix if the gate lets it pass, and gives its innovation and the normalised innovation squared."""
        innovation = fix - self.state[:2]
        spread = self.covariance[:2, :2] + settings.fix_variance * np.eye(2)
        nis = float(innovation @ np.linalg.solve(spread, innovation))
        if nis > settings.gate:
            self.rejects += 1
            return innovation, nis
        gain = np.linalg.solve(spread, self.covariance[:2]).T
        self.state += gain @ innovation
        self.covariance = self.covariance - gain @ self.covariance[:2]
        self.rejects = 0
        return innovation, nis

    def step(self, moved: np.ndarray, fix: np.ndarray, settings: Settings) -> list[float]:
        """Takes speed and yaw rate since the last step and the fix of this one; gives what is published, as in `OUTPUTS`."""
        before = self.state.copy()
        self.predict(*moved, settings)
        innovation, nis = self.correct(fix, settings)
        ahead = np.array([np.cos(before[2]), np.sin(before[2])])
        left = np.array([-ahead[1], ahead[0]])
        rate = (self.state - before) / STEP_SECS
        sd = np.log(np.trace(self.covariance[:2, :2])) / 2
        seen = [rate[:2] @ ahead, rate[2], innovation @ ahead, innovation @ left]
        return [float(x) for x in [*seen, np.log(nis), self.rejects, sd]]


def run(readings: Readings, faulty: Settings = NOMINAL, onset: int | None = None) -> Readings:
    """Lets the filter run on readings, from the first fix on; from the onset on it has other settings."""
    speed = (readings["wheel left"] + readings["wheel right"]) / 2
    moves = np.column_stack([speed, readings["yaw rate"]])
    fixes = np.column_stack([readings["fix east"], readings["fix north"]])
    estimator = Filter(*fixes[0])
    broken = len(fixes) if onset is None else onset
    steps = [estimator.step(moves[t - 1], fixes[t], faulty if t >= broken else NOMINAL) for t in range(1, len(fixes))]
    return dict(zip(OUTPUTS, np.array([steps[0], *steps]).T, strict=True))


def too_uncertain(factor: float) -> Settings:
    """Gives the filter that believes in so much drift that innovations are expected with `factor` times their variance."""
    # In the steady state the predicted variance P and that of fixes R obey P = P R / (P + R) + q; here P + R = factor R.
    predicted = (factor - 1) * FIX_SD**2
    kept = predicted * FIX_SD**2 / (predicted + FIX_SD**2)
    return replace(NOMINAL, drift_variance=predicted - kept)
