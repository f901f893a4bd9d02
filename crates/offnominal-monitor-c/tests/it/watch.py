"""Does what `examples/watch.c` does, through ctypes: watch.py LIBRARY FILE < ROWS."""

import sys
from ctypes import (
    CDLL,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int32,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)


class Verdict(Structure):
    """What is said of a step."""

    _fields_ = [
        ("step", c_uint64),
        ("score", c_double),
        ("statistic", c_double),
        ("threshold", c_double),
        ("state", c_int32),
        ("event", c_int32),
        ("missing", c_uint32),
        ("stale", c_uint32),
        ("confidence", c_double),
        ("lost", c_uint32),
        ("sensor_event", c_int32),
        ("beyond_promise", c_uint32),
    ]


class Diagnosis(Structure):
    """What looks wrong."""

    _fields_ = [("onset", c_uint64), ("p", c_double * 3), ("family", c_int32), ("n_channels", c_size_t)]


class Candidate(Structure):
    """A named fault that may be the one."""

    _fields_ = [
        ("anomaly", c_char_p),
        ("direction", c_int32),
        ("neutral", c_double),
        ("magnitude", c_double),
        ("probability", c_double),
    ]


class Deviation(Structure):
    """How far a channel is off."""

    _fields_ = [("channel", c_size_t), ("size", c_double), ("bias", c_double)]


ROW = POINTER(c_double)
ARGUMENTS = {
    "offnominal_open": [c_char_p, POINTER(c_void_p)],
    "offnominal_close": [c_void_p],
    "offnominal_reset": [c_void_p],
    "offnominal_n_obs": [c_void_p],
    "offnominal_n_action": [c_void_p],
    "offnominal_obs_name": [c_void_p, c_size_t],
    "offnominal_step": [c_void_p, ROW, c_size_t, ROW, c_size_t, POINTER(Verdict)],
    "offnominal_last": [c_void_p, ROW, c_size_t, POINTER(Verdict)],
    "offnominal_shares": [c_void_p, POINTER(c_double), c_size_t],
    "offnominal_is_diagnosis_due": [c_void_p],
    "offnominal_diagnose": [c_void_p, POINTER(Diagnosis), POINTER(Deviation), c_size_t],
    "offnominal_candidates": [c_void_p, POINTER(Candidate), c_size_t, POINTER(c_size_t)],
}
RESULTS = {
    "offnominal_last_error": c_char_p,
    "offnominal_obs_name": c_char_p,
    "offnominal_n_obs": c_size_t,
    "offnominal_n_action": c_size_t,
}


def library(path):
    """The library, with the types of what is called."""
    loaded = CDLL(path)
    for name, arguments in ARGUMENTS.items():
        getattr(loaded, name).argtypes = arguments
    for name, result in RESULTS.items():
        getattr(loaded, name).restype = result
    return loaded


def row(numbers):
    """Numbers as C has them."""
    return (c_double * len(numbers))(*numbers)


def checked(calls, status):
    """The status, if it is no error."""
    if status < 0:
        sys.exit(calls.offnominal_last_error().decode())
    return status


def tell(calls, monitor, v):
    """Says what is thought of a step, and what looks wrong where an alarm is raised."""
    state, event = ["disarmed", "armed", "raised"][v.state], ["-", "raised", "cleared"][v.event]
    print(v.step, repr(v.score), repr(v.statistic), repr(v.threshold), state, event, v.missing, repr(v.confidence), v.lost)
    if event == "raised":
        tell_shares(calls, monitor)
    found, channels = Diagnosis(), (Deviation * 8)()
    if calls.offnominal_is_diagnosis_due(monitor) and calls.offnominal_diagnose(monitor, byref(found), channels, 8) == 0:
        for off in channels[: found.n_channels]:
            family, name = ["observation", "action", "dynamics"][found.family], calls.offnominal_obs_name(monitor, off.channel)
            print("diagnosis", family, found.onset, name.decode(), repr(off.size), repr(off.bias))
        tell_candidates(calls, monitor)


def tell_shares(calls, monitor):
    """Says which channels the score is due to."""
    n = calls.offnominal_n_obs(monitor)
    shares = (c_double * n)()
    if calls.offnominal_shares(monitor, shares, n) == 0:
        for channel, share in enumerate(shares):
            if share != 0:
                print("share", calls.offnominal_obs_name(monitor, channel).decode(), repr(share))


def tell_candidates(calls, monitor):
    """Says which named faults it may be."""
    candidates, n = (Candidate * 8)(), c_size_t()
    if calls.offnominal_candidates(monitor, candidates, 8, byref(n)) == 0:
        for fault in candidates[: n.value]:
            direction = ["up", "down"][fault.direction]
            print("candidate", fault.anomaly.decode(), direction, repr(fault.magnitude), repr(fault.probability))


def main():
    """All rows of the standard input."""
    calls, monitor, verdict = library(sys.argv[1]), c_void_p(), Verdict()
    checked(calls, calls.offnominal_open(sys.argv[2].encode(), byref(monitor)))
    n_obs, n_action = calls.offnominal_n_obs(monitor), calls.offnominal_n_action(monitor)
    for line in sys.stdin:
        numbers = [float(word) for word in line.split()]
        obs, action = row(numbers[:n_obs]), row(numbers[n_obs:])
        if len(numbers) == n_obs + n_action:
            status = calls.offnominal_step(monitor, obs, n_obs, action, n_action, byref(verdict))
        else:
            status = calls.offnominal_last(monitor, obs, len(obs), byref(verdict)) if numbers else 1
        if checked(calls, status) == 0:
            tell(calls, monitor, verdict)
        if len(numbers) < n_obs + n_action:
            checked(calls, calls.offnominal_reset(monitor))
    calls.offnominal_close(monitor)


main()
