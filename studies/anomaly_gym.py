"""Sections of pages that stand beside tables of the paper Anomaly-Gym, of vectors and of images alike."""

import math

import tidy
from tidy import NAN, Rows, estimate, table, table_of, two

LOCAL, GLOBAL, MATCHED = "auroc_local", "auroc_global", "auroc_matched"
#: What stands beside published figures and is not what they are of.
CAUTIONS = {
    "urr-reach": "Published figures are of a real robot; ours are of a simulated controller of such a robot.",
    "car-lanekeep": "Published figures are of CARLA; ours are of a surrogate with the same observations and faults.",
}
#: The rules of Table 4, and the one whose false alarms are promised.
RULES = ["3sigma", "q95", "max", "conformal"]


def published(name):
    """A table of the paper."""
    return Rows(tidy.read(tidy.ROOT / f"studies/published/anomaly-gym-table{name}.csv"))


def find(rows, key, **values):
    """A number of the one row with these values; NaN where there is none."""
    found = rows.only(**values)
    return found[0][key] if found else NAN


def value(rows, metric):
    """The mean of a metric without its interval."""
    found = rows.mean(metric)
    return NAN if found is None else found[0]


def both(said, ours):
    """A published number beside ours; ours alone where a table of the paper has no such row."""
    return estimate(ours) if said is None else f"{two(said)} / {estimate(ours)}"


def ordered(detectors, values):
    """Detectors from best to worst; those without a number are left out."""
    known = [(d, v) for d, v in zip(detectors, values) if not math.isnan(v)]
    return ", ".join(d for d, _ in sorted(known, key=lambda pair: -pair[1]))


def kendall(a, b):
    """Kendall's τ-b of the pairs in which both have a number, in words."""
    from scipy.stats import kendalltau

    known = [(x, y) for x, y in zip(a, b) if not math.isnan(x) and not math.isnan(y)]
    if len(known) < 2:
        return "–"
    tau = kendalltau(*zip(*known)).statistic
    return "–" if math.isnan(tau) else two(tau)


def detail(what, detectors, own, paper, columns):
    """An environment row by row. A column is a metric, with the published one beside it where the paper has it."""
    keys = paper[0].keys() if paper else ()
    pairs = [(strength, title, metric) for strength in ("strong", "tiny") for title, metric in columns]

    def cell(d, strength, metric):
        said = find(paper, metric, strength=strength, detector=d) if metric in keys else None
        return both(said, own.only(strength=strength, detector=d).mean(metric))

    rows = [[f"`{d}`", *(cell(d, strength, metric) for strength, _, metric in pairs)] for d in detectors]
    return table([f"{what}, published / ours", *(f"{strength} {title}" for strength, title, _ in pairs)], rows)


def families(lines, theirs, title, detector, default):
    """Table 3: one detector by family of environments and class of anomalies, beside the default."""

    def own(group):
        return lines.only(lambda row: row["env"].startswith(group["group"]), anomaly_class=group["anomaly_class"])

    def ours(group, name, strength, metric):
        return own(group).only(detector=name, strength=strength).mean(metric)

    def matched(group, strength):
        return " / ".join(estimate(ours(group, d, strength, MATCHED)) for d in (detector, default))

    columns = [
        ("environments", lambda g: g["group"]),
        ("anomalies", lambda g: g["anomaly_class"]),
        (f"{title} local, tiny: published / ours", lambda g: both(g["tiny"], ours(g, detector, "tiny", LOCAL))),
        ("strong: published / ours", lambda g: both(g["strong"], ours(g, detector, "strong", LOCAL))),
        (f"matched, tiny: {title} / `{default}`", lambda g: matched(g, "tiny")),
        (f"strong: {title} / `{default}`", lambda g: matched(g, "strong")),
    ]
    return table_of([group for group in theirs if own(group)], columns)


def timing(lines, theirs, detectors):
    """Table 4: how soon, at which threshold; published numbers where there are any."""
    rows = []
    for rule in RULES:
        for d in detectors:
            own, said = lines.only(detector=d), theirs.only(threshold=rule, detector=d)
            delays = own.points("delay_median", rule)
            missed = [(float(math.isinf(p[0])), NAN, NAN, p[3]) for p in delays if not math.isnan(p[0])]
            # The ends of a median's interval may be infinite, so that only the spread over anomalies is known.
            reached = [(p[0], NAN, NAN, p[3]) for p in delays]

            def beside(metric, ours, said=said):
                return both((said[0][metric] if said else NAN) if theirs else None, ours)

            rows.append([
                f"`{rule}`", f"`{d}`", beside("delay_median", tidy.mean(reached, (0.0, math.inf))),
                estimate(tidy.mean(missed, tidy.SHARE)),
                *(beside(m, own.mean(m, rule)) for m in ("d5", "d10", "d20", "missing_rate", "early_rate")),
                estimate(own.mean("false_alarm_rate", rule)),
            ])
    return table(["threshold", "detector", "median delay", "not reached", "D5", "D10", "D20", "missed", "early", "false alarms"], rows)
