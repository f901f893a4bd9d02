"""Disturbances under which a policy fails only partly: milder corruptions, and policies that were trained with corrupted images."""

import math

from records import MAIN, METHODS, TEXT, mean_sd, share, table

#: Severities below the lowest one of the publication.
MILDER = (0.125, 0.25, 0.5)
#: Points less than at home that are no loss, and below which a policy hardly scores; random choices make -17.
SAME, COLLAPSED = 3.0, -10.0
#: What a policy still does in a variant, by its mean return at home and there.
CLASSES = {
    "as at home": lambda home, now: now >= home - SAME,
    "worse, and wins": lambda home, now: now < home - SAME and now >= 0,
    "loses, and scores": lambda home, now: now < home - SAME and COLLAPSED <= now < 0,
    "collapses": lambda home, now: now < home - SAME and now < COLLAPSED,
}
#: Policies without and with corrupted images in training.
WHO = ["a policy that knows clean images only", "a policy that learned from corrupted images too"]


def is_image(row):
    """Whether a variant is a corruption of images."""
    return row["anomaly"].startswith("img-")


def is_milder(row):
    """Whether a variant is milder than those of the publication."""
    return is_image(row) and row["magnitude"] in MILDER


def policy(row):
    """The policy of a record, in the order of methods and trials."""
    return list(METHODS).index(row["method"]), row["trial"]


def of_those_that_played(rows):
    """What policies did that played in milder variants too: only these can be compared over all severities."""
    policies = {policy(row) for row in rows.only(is_milder)}
    return rows.only(lambda row: policy(row) in policies, env="pong")


def own_methods(rows, augmented):
    return [m for m in rows.methods("pong") if m.startswith("augmented") == augmented]


def corrupted(rows, methods, measure):
    """The records in corrupted images, by one measure."""
    return rows.only(lambda r: is_image(r) and not r["null"], env="pong", method=list(methods), detector=measure)


def told(rows):
    """What the tables say in short, as points of a list."""
    published = corrupted(rows, own_methods(rows, False), MAIN).only(lambda row: not is_milder(row))
    points = [row["mean_return"] for row in published]
    found = (
        "- In pong all three methods tell nearly every corruption of the publication, far better than there. But policies that know "
        f"clean images only fail in {sum(row['fails'] for row in published)} of {len(points)} variants, with mean returns from "
        f"{min(points):.1f} to {max(points):.1f} where random choices make −17: an AUROC near 1 says that a policy that collapses can "
        "be told from one that plays well.\n"
    )
    own = of_those_that_played(rows)
    for augmented, who in enumerate(WHO):
        if methods := own_methods(own, bool(augmented)):
            home, worse, loses, collapses = (class_auroc(own, methods, MAIN, holds) for holds in CLASSES.values())
            found += (
                f"- [Milder disturbances](#milder-disturbances) say more. Where {who} plays as at home, the AUROC of the published "
                f"measure is {home}; where it is worse, and wins, {worse}; where it loses, and still scores, {loses}; and where it "
                f"collapses, {collapses}.\n"
            )
    return found


def milder(rows):
    """The section."""
    rows = of_those_that_played(rows)
    policies = sorted({policy(row) for row in rows})
    names = ", ".join(f"{list(METHODS.values())[method]} {trial}" for method, trial in policies)
    found = f"{TEXT.MILDER_NOTE}The policies that have played there: {names}.\n"
    kinds = [own_methods(rows, augmented) for augmented in (False, True)]
    if kinds[1]:
        found += f"\n{TEXT.AUGMENTED_NOTE}"
    found += "".join(f"\n{by_severity(rows, methods)}" for methods in kinds if methods)
    found += f"\n{TEXT.CLASSES_NOTE}"
    for methods, name in zip(kinds, ["policies that know clean images", "augmented policies"]):
        if methods:
            found += f"\n{by_class(rows, methods, name)}"
    return found


def by_severity(rows, methods):
    """One line per severity: what the policies make there, and how well it is told."""
    lines = []
    for severity in sorted({row["magnitude"] for row in corrupted(rows, methods, MAIN)}):
        line = [f"{severity:g}"]
        for method in methods:
            own = corrupted(rows, [method], MAIN).only(magnitude=severity)
            line += [interval(per_pair(own, "mean_return"), 1), interval(per_pair(own, "auroc"), 3)]
        lines.append(line)
    head = [title for m in methods for title in (f"{METHODS[m]}: points", "AUROC")]
    return table(["severity", *head], lines)


def by_class(rows, methods, name):
    """One line per measure: how well it tells what a policy still does."""
    counts = []
    for holds in CLASSES.values():
        policies = [policy(row) for row in in_class(rows, methods, MAIN, holds)]
        counts.append(f"{len(policies)} of {len(set(policies))}")
    lines = [["variants, of policies", *counts]]
    for measure in rows.measures():
        cells = [class_auroc(rows, methods, measure, holds) for holds in CLASSES.values()]
        if any(cell != "–" for cell in cells):
            lines.append([f"`{measure}`", *cells])
    return table([name, *CLASSES], lines)


def class_auroc(rows, methods, measure, holds):
    """The AUROC of a measure where policies still do so much."""
    return interval(per_pair(in_class(rows, methods, measure, holds), "auroc"), 3)


def in_class(rows, methods, measure, holds):
    """The records in variants where the policy still does so much."""
    home = {policy(row): row["mean_return"] for row in rows.only(env="pong", anomaly="none")}
    here = lambda row: policy(row) in home and holds(home[policy(row)], row["mean_return"])  # noqa: E731
    return corrupted(rows, methods, measure).only(here)


def per_pair(rows, key):
    """The mean of a number of each policy under one kind of corruption."""
    pairs = {}
    for row in rows:
        if row[key] is not None:
            pairs.setdefault((policy(row), row["anomaly"]), []).append(row[key])
    return [mean_sd(pairs[pair])[0] for pair in sorted(pairs)]


def interval(values, decimals):
    """The mean over pairs of policy and corruption with Student's interval; only the mean of one."""
    from scipy.stats import t

    if not values:
        return "–"
    # Numbers with three decimals are shares.
    shown = lambda v: share(min(max(v, 0.0), 1.0)) if decimals == 3 else f"{v:.{decimals}f}"  # noqa: E731
    mean, sd = mean_sd(values)
    if len(values) < 2:
        return shown(mean)
    reach = t.ppf(0.975, len(values) - 1) * sd / math.sqrt(len(values))
    return f"{shown(mean)} [{shown(mean - reach)}, {shown(mean + reach)}]"
