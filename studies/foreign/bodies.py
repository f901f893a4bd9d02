"""The tables of `shift/`: policies on bodies, in our simulator and in PyBullet."""

import csv
import pathlib
import statistics

from tables import bracketed, interval, rank_correlation, table

HERE = pathlib.Path(__file__).resolve().parent


def read(path):
    """The rows of each policy with their numbers."""
    found = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            name = row.pop("policy")
            found.setdefault(name, []).append({key: float(value) for key, value in row.items()})
    return found


def with_gaps(rows):
    """The bodies that are not nominal, with what each simulator loses on them; and the nominal returns."""
    (nominal,) = [row for row in rows if row["sigma"] == 0]
    gaps = {f"{side}_gap": side for side in ("ours", "pybullet")}
    bodies = [row | {gap: nominal[side] - row[side] for gap, side in gaps.items()} for row in rows if row["sigma"] > 0]
    return bodies, nominal


def correlation(bodies, one, other):
    return bracketed(interval([(body[one], body[other]) for body in bodies], rank_correlation))


def of_policy(name, rows):
    """A policy in both simulators."""
    bodies, nominal = with_gaps(rows)
    pairs = [("ours_gap", "pybullet_gap"), ("ours_knn", "ours_gap"), ("pybullet_knn", "pybullet_gap")]
    pairs += [("difference", "ours_gap"), ("difference", "pybullet_gap")]
    returns = [f"{nominal[side]:.0f}" for side in ("ours", "pybullet")]
    return [name, *returns, len(bodies), *(correlation(bodies, *pair) for pair in pairs)]


def halves(policies, sigma):
    """Share of bodies of a spread that cost half of the return, over all policies, in both simulators."""
    for side in ("ours", "pybullet"):
        lost = []
        for rows in policies.values():
            bodies, nominal = with_gaps(rows)
            lost += [body[side] < 0.5 * nominal[side] for body in bodies if body["sigma"] == sigma]
        yield f"{statistics.fmean(lost):.2f}"


def shares(env, policies):
    """A line for each spread."""
    sigmas = sorted({row["sigma"] for rows in policies.values() for row in rows if row["sigma"] > 0})
    return [[env, sigma, *halves(policies, sigma)] for sigma in sigmas]


def tables():
    """Both tables of all environments, or nothing if none was run."""
    all_of = {path.stem: read(path) for path in sorted((HERE / "shift").glob("*.csv"))}
    if not all_of:
        return "Not run yet."
    lost = [line for env, policies in all_of.items() for line in shares(env, policies)]
    head = ["policy", "nominal return here", "in PyBullet", "bodies", "gaps of both", "`knn`, here", "nearest, PyBullet"]
    head += ["difference, here", "difference, PyBullet"]
    rows = [of_policy(name, rows) for policies in all_of.values() for name, rows in policies.items()]
    shares_head = ["environment", "σ", "share that costs half of the return, here", "in PyBullet"]
    return table(shares_head, lost) + "\n\nRank correlations over bodies:\n\n" + table(head, rows)
