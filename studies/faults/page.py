"""The page of the suite `faults`, docs/explanations/faults.md: what detectors find of faults that other benchmarks do not have.

    python3 studies/faults/page.py

Needs pyarrow and SciPy.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tidy
from tidy import estimate, table_of

RESULTS = tidy.ROOT / "studies/faults"
ORDER = ["mjc-cartpole-swingup", "mjc-reacher3d", "mjc-half-cheetah", "sap-goal2", "urm-reach"]
POLICY, OURS = "tqc", "residual-views"
MATCHED, ALARM = "auroc_matched", "conformal"

#: Title of each kind of faults, what is done, and the names of its faults in results; the first is what other benchmarks have.
KINDS = [
    ("All channels, to the end",
     "The faults of other benchmarks, for comparison: noise and bias of all observations or of all actions.",
     ["obs-noise", "obs-offset", "act-noise", "act-offset"]),
    ("A single channel", "Noise and bias as above, of one channel that is drawn anew for each episode.",
     ["obs-noise-one", "obs-offset-one", "act-noise-one", "act-offset-one"]),
    ("For a window",
     "As above, of all channels, for ten steps. Only these steps are positives of the AUROC; an alarm after them still counts as "
     "found.", ["obs-noise-window", "obs-offset-window", "act-offset-window"]),
    ("On and off",
     "As above, of all channels, for two steps in every ten. Only these steps are positives of the AUROC: a detector that remembers "
     "is not rewarded for what it remembers between them.",
     ["obs-noise-intermittent", "obs-offset-intermittent", "act-offset-intermittent"]),
    ("Stuck", "A value that is held: of one channel for good, or of all channels for four steps after each that is new.",
     ["obs-stuck-one", "obs-stuck", "act-stuck-one", "act-stuck"]),
    ("Dropout",
     "Each value is lost with a probability of .1 or .5, and the last one that arrived stands in for it. Monitors are told nothing of "
     "it: a monitor that is told reads a missing number.", ["obs-dropout", "act-dropout"]),
    ("Swings", "A bias that follows a sine with a period of twenty steps, as high as the bias above: its mean over a period is zero.",
     ["obs-sine-drift", "act-sine-drift"]),
    ("Correlated noise",
     "Noise as wide as above, with a correlation of .95 from step to step: from the noise above it differs in its rhythm only.",
     ["obs-ar-noise", "act-ar-noise"]),
]


def head(found):
    return (
        "# Faults that other benchmarks do not have\n\n"
        "Written by `python3 studies/faults/page.py` from the tables of the environments; do not edit.\n\n"
        "Benchmarks of monitors disturb all channels, from the onset to the end. Here faults touch one channel, end, come and go, hold "
        f"or lose values, swing, or are correlated.{found.lacking()}\n"
        "Noise and bias have the magnitudes that were calibrated where all channels have them to the end, tiny and strong: so the same "
        "fault of one channel, or for ten steps, costs the policy less. What is measured in the same unit has the same magnitudes. The "
        "share of lost values and the steps for which a value is held are the same everywhere.\n"
        f"{found.measured('../reference/strengths.md', POLICY)}\n"
        "Numbers in brackets are 95 % intervals; faults of an environment count as one unit. Alarms are at the conformal threshold for "
        "5 % of episodes. The mean delay is restricted: a delay counts at most 50 steps, and a fault that is missed 50.\n\n"
        f"```sh no-run: takes half an hour\n{found.commands()}\n```\n"
    )


def detectors(found, lines):
    """The columns that every table of detectors has."""
    own = lambda d: lines.only(detector=d)  # noqa: E731
    return table_of(found.everywhere(), [
        ("detector", lambda d: f"`{d}`"),
        ("AUROC matched", lambda d: estimate(own(d).mean(MATCHED))),
        ("found in 20 steps", lambda d: estimate(own(d).mean("d20", ALARM))),
        ("mean delay, steps", lambda d: estimate(own(d).mean("delay_restricted", ALARM, (0.0, 50.0)))),
        ("alarm before the onset", lambda d: estimate(own(d).mean("early_rate", ALARM))),
    ])


def overview(found, lines):
    new = lines.only(lambda row: row["anomaly"] not in KINDS[0][2])
    return (
        "## All kinds\n\nTQC; means over environments, faults and strengths, without the faults of other benchmarks."
        f"{found.left_out()}\n\n{detectors(found, new)}"
    )


def by_kind(found, lines):
    kinds = [(title, what, lines.only(anomaly=faults)) for title, what, faults in KINDS]
    return "## Kind by kind\n" + "".join(
        f"\n### {title}\n\n{what}\n\n{detectors(found, own)}" for title, what, own in kinds if own
    )


def each(lines):
    """Every fault at every strength: what ours finds, and which detector finds most."""

    def best(rows):
        means = {d: rows.only(detector=d).mean(MATCHED) for d in sorted(rows.values("detector"), reverse=True)}
        detector, found = max(((d, m) for d, m in means.items() if m), key=lambda pair: pair[1][0])
        return f"`{detector}` {estimate(found)}"

    faults = list(dict.fromkeys((row["anomaly"], row["strength"]) for row in lines))
    of = lambda fault: lines.only(anomaly=fault[0], strength=fault[1])  # noqa: E731
    ours = lambda fault: of(fault).only(detector=OURS)  # noqa: E731
    return (
        f"## Fault by fault\n\n`{OURS}`, means over environments; at the right the detector with the highest mean, chosen in "
        "hindsight.\n\n"
    ) + table_of(faults, [
        ("fault", lambda fault: f"`{fault[0]}`"),
        ("strength", lambda fault: fault[1]),
        ("AUROC matched", lambda fault: estimate(ours(fault).mean(MATCHED))),
        ("found in 20 steps", lambda fault: estimate(ours(fault).mean("d20", ALARM))),
        ("highest AUROC matched", lambda fault: best(of(fault))),
    ])


def false_alarms(found):
    """False alarms at the conformal threshold in every environment, with intervals."""
    cells = found.coverage(policy=POLICY, threshold=ALARM)
    beyond = sum(c["alarms"] > c["most"] for c in cells)
    return (
        "## False alarms\n\nShare of fresh nominal episodes with an alarm, at the conformal threshold that was set on others before. "
        "Nothing is done to these episodes, so it is the same for every fault. Promised are at most 5 % on average over calibrations; a "
        "single calibration may get more for good, and the interval is that of its own share. Of "
        f"{len(cells)} calibrations {beyond} have more than the .975 quantile of what a rule gets that keeps its promise.\n\n"
    ) + table_of(cells, [
        ("environment", lambda c: c["env"]),
        ("detector", lambda c: f"`{c['detector']}`"),
        ("false alarms", lambda c: tidy.within([c])),
        ("episodes", lambda c: c["watched"]),
    ])


def main():
    found = tidy.Suite(RESULTS, ORDER)
    lines = found.anomalies(POLICY)
    sections = [head(found), overview(found, lines), by_kind(found, lines), each(lines), false_alarms(found)]
    tidy.write("docs/explanations/faults.md", "\n".join(sections))


if __name__ == "__main__":
    main()
