"""The section of the page on diagnoses: what was said at alarms and after them, against what was done."""

import math

import tidy
from tidy import NAN, estimate, table_of

CLASSES = ["observation", "action", "dynamics"]
#: Steps after an alarm at which the last diagnosis is made.
LATE = 20


def points(rows, of):
    """A number of each row with alarms; the rows of an anomaly of an environment belong together."""
    return [(of(d), NAN, NAN, (d["env"], d["anomaly"])) for d in rows if d["alarms"] > 0]


def share(rows, key):
    """The mean share of alarms of which something was said."""
    return estimate(tidy.mean(points(rows, lambda d: d[key] / d["alarms"]), tidy.SHARE))


def pooled(rows, key):
    """The share of all alarms together of which something was said, with the interval of Wilson."""
    n, of, z = sum(d[key] for d in rows), sum(d["alarms"] for d in rows), 1.959963984540054
    if not of:
        return "–"
    centre, reach = (n + z * z / 2) / (of + z * z), z / (of + z * z) * math.sqrt(n * (of - n) / of + z * z / 4)
    return estimate((n / of, max(0.0, centre - reach), min(1.0, centre + reach)))


def typical(rows, of, decimals):
    """The median of a number over anomalies and strengths."""
    found = tidy.median(points(rows, of))
    return "–" if found is None else f"{found[0]:.{decimals}f}"


def diagnosis(found, policy):
    """The section."""
    rows = found.diagnoses.only(policy=policy)

    def own(name, taught, after):
        return rows.only(anomaly_class=name, taught=taught, after=after)

    right = lambda taught, after: lambda name: share(own(name, taught, after), "right_family")  # noqa: E731
    late = lambda key: lambda name: share(own(name, "faults", LATE), key)  # noqa: E731
    families = [
        ("what was done", lambda name: name),
        ("alarms", lambda name: sum(d["alarms"] for d in own(name, "rules", 0))),
        ("right family by rules, at the alarm", right("rules", 0)),
        ("20 steps later", right("rules", LATE)),
        ("by faults, at the alarm", right("faults", 0)),
        ("5 steps later", right("faults", 5)),
        ("20 steps later", right("faults", LATE)),
        ("onset off by, steps", lambda name: typical(own(name, "rules", 0), lambda d: d["onset_error"], 0)),
    ]
    names = [
        ("what was done", lambda name: name),
        ("named at the alarm", lambda name: share(own(name, "faults", 0), "named")),
        ("20 steps later", late("named")),
        ("with its direction", late("right_direction")),
        ("distance from neutral off by, factor",
         lambda name: typical(own(name, "faults", LATE), lambda d: math.exp(d["magnitude_error"]), 2)),
        ("in the compatible set", late("covered")),
        ("hypotheses in it", lambda name: typical(own(name, "faults", LATE), lambda d: d["set_size"], 1)),
        ("none in it", late("abstained")),
    ]
    return (
        f"## Diagnosis\n\nWhat is said at the first alarm of `{rows[0]['detector']}`, if it comes after the onset, and 5 and 20 steps "
        "later: means over environments, anomalies, strengths and repetitions with alarms. Taught by rules, a diagnosis knows nominal "
        "episodes only and what faults of any system do to them; taught by faults, it has seen faults of the same anomalies in the same "
        f"environment, at other strengths, onsets and seeds.\n\n{table_of(CLASSES, families)}\n"
        "The anomaly that is most probable, of all that were taught. The compatible set is to hold the true one in 90 % of diagnoses at "
        f"least; if it is empty, the diagnosis says that it is another fault.\n\n{table_of(CLASSES, names)}"
    )


def parameters(found, policy):
    """Parameters of the dynamics one by one, and what is said of one that was not taught."""
    rows = found.diagnoses.only(policy=policy)
    late = rows.only(lambda d: d["alarms"] > 0, taught="faults", after=LATE, anomaly_class="dynamics")
    faults = sorted({(d["env"], d["anomaly"]) for d in late})

    def said(taught, key):
        return lambda name: pooled(rows.only(env=name[0], anomaly=name[1], taught=taught, after=LATE), key)

    columns = [
        ("environment", lambda name: name[0]),
        ("parameter", lambda name: f"`{name[1]}`"),
        ("alarms", lambda name: sum(d["alarms"] for d in late.only(env=name[0], anomaly=name[1]))),
        ("family", said("faults", "right_family")),
        ("named", said("faults", "named")),
        ("in the set", said("faults", "covered")),
        ("not taught: family", said("other-faults", "right_family")),
        ("not taught: none in the set", said("other-faults", "abstained")),
    ]
    return (
        "## Diagnosis of each parameter\n\nParameters of the dynamics, 20 steps after the alarm, shares of all alarms together; in the "
        f"last columns the diagnosis was taught all anomalies but this one.\n\n{table_of(faults, columns)}{PAIRS}"
    )


PAIRS = """
Nothing in an episode tells these apart, so either name, and either family, is right:

- `sap-*`: `dyn-mass` and `act-scaling`: the action is a force, and force over mass is what moves the agent.
- `sap-*`: `dyn-force` and `act-offset`: the action is a force, to which the constant one is added.

Parameters of actuators, of which the family may be either one, but the name may not:

- `car-lanekeep`: `dyn-brake-gain`.
- `car-lanekeep`: `dyn-steering-gain`.
"""
