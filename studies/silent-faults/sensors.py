"""What the sensors of a car say that moves with a given speed and yaw rate, ten times a second.

| sensor | reading | white noise |
|---|---|---|
| encoders of the rear wheels | speed of each wheel, m/s | 0.1 m/s |
| IMU | yaw rate, rad/s; acceleration ahead and to the left, m/s² | 0.01 rad/s; 0.1 m/s² |
| receiver | a position fix east and north, m | 1 m |
"""

import numpy as np

Readings = dict[str, np.ndarray]
"""By the name of a channel: one number for each step."""

STEP_SECS = 0.1
TRACK_M = 1.5  # between the rear wheels
WHEEL_SD, GYRO_SD, ACCELERATION_SD, FIX_SD = 0.1, 0.01, 0.1, 1.0


def path(speed: np.ndarray, yaw_rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gives where the car is at each step, east and north, beginning at the origin with its nose to the east."""
    heading = np.concatenate([[0.0], np.cumsum(yaw_rate[:-1]) * STEP_SECS])
    steps = speed * STEP_SECS
    east, north = (np.concatenate([[0.0], np.cumsum((steps * f(heading))[:-1])]) for f in (np.cos, np.sin))
    return east, north


def read(speed: np.ndarray, yaw_rate: np.ndarray, rng: np.random.Generator) -> Readings:
    """Gives the readings of all sensors, with their noise."""
    east, north = path(speed, yaw_rate)
    exact = {
        "wheel left": (speed - yaw_rate * TRACK_M / 2, WHEEL_SD),
        "wheel right": (speed + yaw_rate * TRACK_M / 2, WHEEL_SD),
        "yaw rate": (yaw_rate, GYRO_SD),
        "acceleration ahead": (np.gradient(speed, STEP_SECS), ACCELERATION_SD),
        "acceleration left": (speed * yaw_rate, ACCELERATION_SD),
        "fix east": (east, FIX_SD),
        "fix north": (north, FIX_SD),
    }
    return {name: values + rng.normal(0, sd, len(speed)) for name, (values, sd) in exact.items()}
