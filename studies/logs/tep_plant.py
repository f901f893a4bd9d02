"""The closed loop of tep-studio, compiled: the same plant and the same controllers, some ten times as fast.

The plant's equations are the C code in tep-studio, called by address.
The controllers are Ricker's mode 1 with the gains that tep-studio holds (`RICKER_MODE1`); here is only their wiring.
`python tep.py check` compares a run of both, number by number.
"""

import ctypes
from collections.abc import Callable
from dataclasses import astuple

import numpy as np
from numba import njit
from tep_studio import TEP_SCHEMA, TennesseeEastmanProcess
from tep_studio.control.registry import RICKER_MODE1 as RICKER
from tep_studio.simulation.modes import mode_setpoints
from tep_studio.simulation.native import ffi, lib

STEP, CONTROL, SAMPLE = 0.0005, 0.01, 0.05  # hours
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_double


def imported(name: str, result: type | None, *arguments: type) -> Callable:
    """Gives a function of the plant's C code in the form that numba can call."""
    address = int(ffi.cast("intptr_t", ffi.addressof(lib, name)))
    return ctypes.CFUNCTYPE(result, *arguments)(address)


derivatives = imported("tep_derivatives", ctypes.c_int, POINTER, NUMBER, POINTER, POINTER)
outputs = imported("tep_outputs", ctypes.c_int, POINTER, NUMBER, *[POINTER] * 6)
set_inputs = imported("tep_set_inputs", None, POINTER, POINTER, POINTER)
shutdown_code = imported("tep_shutdown_code", NUMBER, POINTER)

# A loop is a row: index of its measurement, gain, reset time, first output, upper and lower limit.
FLOWS = RICKER.feed_loops
TRIMS = [RICKER.production, RICKER.reactor_level, RICKER.separator_level, RICKER.stripper_level]
TRIMS += [RICKER.reactor_pressure, RICKER.separator_temperature, RICKER.reactor_temperature]
MEASURED = [TEP_SCHEMA.index("measurements", loop.pv) for loop in [*TRIMS, *FLOWS]]
LOOPS = np.array([[p, x.kc, x.ti_hours, x.x0, x.hi, x.lo] for p, x in zip(MEASURED, [*TRIMS, *FLOWS])])
VALVES = np.array([TEP_SCHEMA.index("manipulated_variables", loop.mv) for loop in FLOWS])
RATIO = np.array([int(loop.ratio_key[1]) - 1 for loop in FLOWS])
VELOCITY = np.array([[x.kc, x.ti_hours, x.ts_hours] for x in (RICKER.ya, RICKER.yac)])
RATES = np.array([RICKER.nominal.production_sp_rate_limit, RICKER.nominal.pct_g_sp_rate_limit])
D_FEED, E_FEED = np.array(RICKER.nominal.p2_coeffs), np.array(RICKER.nominal.p3_coeffs)
START_RATIOS = np.array([RICKER.nominal.ratios[f"r{i}"] for i in range(1, 8)])
STILL = [(TEP_SCHEMA.index("manipulated_variables", name), value) for name, value in RICKER.nominal.static_mv.items()]
STILL_VALVES, STILL_VALUES = np.array([i for i, _ in STILL]), np.array([value for _, value in STILL])
COOLING = np.array([TEP_SCHEMA.index("manipulated_variables", x.drives) for x in TRIMS[5:]])
FEED_A, FEED_C = (TEP_SCHEMA.index("measurements", f"reactor_feed_{x}_concentration") for x in "AC")
PRODUCT, PRODUCT_G = 16, 39
BASE = RICKER.nominal.fp_base


@njit
def positional(loop, memory, setpoint, measured, time):
    """Moves a loop with limits; its memory is output, last error and last time."""
    error = setpoint - measured[int(loop[0])]
    change = loop[1] * (error - memory[1] + ((time - memory[2]) / loop[2]) * error)
    memory[0] = min(max(memory[0] + change, loop[5]), loop[4])
    memory[1], memory[2] = error, time
    return memory[0]


@njit
def increment(loop, memory, error, time):
    """Gives the change that a composition loop asks for, zero between its samples."""
    if time - memory[2] < loop[2] - 1e-9:
        return 0.0
    change = loop[0] * (error - memory[1] + ((time - memory[2]) / loop[1]) * error)
    memory[1], memory[2] = error, time
    return change


@njit
def ramp(value, target, change):
    """Moves a set point towards its target by at most a change."""
    return min(target, value + change) if target >= value else max(target, value - change)


@njit
def polynomial(coefficients, x):
    """Evaluates a polynomial, highest power first."""
    return (coefficients[0] * x + coefficients[1]) * x + coefficients[2]


@njit
def compositions(ratios, memory, setpoints, measured, pct_g, time):
    """Sets the ratios of the four feeds."""
    ratios[1], ratios[2] = polynomial(D_FEED, pct_g), polynomial(E_FEED, pct_g)
    both = measured[FEED_A] + measured[FEED_C]
    share = 100.0 * measured[FEED_A] / both if both != 0.0 else 0.0
    first = increment(VELOCITY[0], memory[-2], setpoints[7] - share, time)
    second = increment(VELOCITY[1], memory[-1], setpoints[8] - both, time)
    ratios[0] += first
    ratios[3] += second - first


@njit
def control(valves, memory, ratios, ramps, setpoints, measured, time, elapsed):
    """Maps measurements [41] to valves [12] in per cent; set points are in the order of `ControllerSetpoints`."""
    ramps[0] = ramp(ramps[0], setpoints[6], RATES[0] * elapsed)
    ramps[1] = ramp(ramps[1], setpoints[5], RATES[1] * elapsed)
    index = BASE + positional(LOOPS[0], memory[0], ramps[0], measured, time)
    compositions(ratios, memory, setpoints, measured, ramps[1], time)
    cooled = positional(LOOPS[1], memory[1], setpoints[0], measured, time)
    ratios[5] = positional(LOOPS[2], memory[2], setpoints[3], measured, time)
    ratios[6] = positional(LOOPS[3], memory[3], setpoints[4], measured, time)
    ratios[4] = positional(LOOPS[4], memory[4], setpoints[1], measured, time)
    valves[COOLING[0]] = positional(LOOPS[5], memory[5], cooled, measured, time)
    valves[COOLING[1]] = positional(LOOPS[6], memory[6], setpoints[2], measured, time)
    for i in range(7):
        valves[VALVES[i]] = positional(LOOPS[7 + i], memory[7 + i], ratios[RATIO[i]] * index, measured, time)
    valves[STILL_VALVES] = STILL_VALUES
    np.clip(valves, 0.0, 100.0, valves)


@njit
def advance(plant, state, measured, scratch, time):
    """Integrates one control interval by Euler's rule and measures; gives the code of a shutdown or zero."""
    steps = round(CONTROL / STEP)
    width = (time + CONTROL - time) / steps
    for step in range(steps):
        derivatives(plant, time + step * width, state.ctypes, scratch.ctypes)
        for i in range(50):
            state[i] += scratch[i] * width
    other = scratch[50:]
    s, m, rest = state.ctypes, measured.ctypes, other.ctypes
    outputs(plant, time + CONTROL, s, m, rest, rest, rest, rest)
    return shutdown_code(plant)


@njit
def closed_loop(plant, state, measured, setpoints, fault, onset, first, last):
    """Runs to step `last` and returns the rows [hour, measurements, valves] from step `first`, and how many there are."""
    memory = np.zeros((16, 3))
    memory[:14, 0], memory[:14, 2], memory[14:, 2] = LOOPS[:, 3], -STEP, -VELOCITY[0, 2]
    ratios, ramps = START_RATIOS.copy(), np.array([measured[PRODUCT], measured[PRODUCT_G]])
    faults, valves, scratch = np.zeros(28), np.zeros(12), np.zeros(200)
    every = round(SAMPLE / CONTROL)
    rows, found, time = np.zeros(((last - first) // every, 54)), 0, 0.0
    for step in range(last):
        faults[fault - 1] = 1.0 if fault > 0 and step >= onset else 0.0
        control(valves, memory, ratios, ramps, setpoints, measured, time, CONTROL if step else 0.0)
        if step >= first and (step - first) % every == 0:
            rows[found, 0] = (step - first) * CONTROL
            rows[found, 1:42], rows[found, 42:] = measured, valves
            found += 1
        set_inputs(plant, valves.ctypes, faults.ctypes)
        if advance(plant, state, measured, scratch, time) != 0.0:
            break
        time += CONTROL
    return rows[:found]


def simulate(seed: float, fault: int, onset: int, first: int, last: int) -> np.ndarray:
    """Starts a plant in mode 1 with a seed of its noise and runs the closed loop; times are control intervals."""
    plant = TennesseeEastmanProcess()
    measured, _ = plant.reset(seed=seed)
    handle = int(ffi.cast("intptr_t", plant.kernel._handle))
    setpoints = np.array(astuple(mode_setpoints("mode1")))
    return closed_loop(handle, plant.state.copy(), measured.copy(), setpoints, fault, onset, first, last)
