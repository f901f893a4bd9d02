"""Figures 1 and 3 of Uesato et al. (2018) where everything is known: what a predictor saves, by how good it is.

    python studies/risk/closed-form/figures.py

An experiment fails where a standard normal number is above 3.09, with p = 1e-3. The predictor sees another one that has a
correlation r with it, and says the chance to fail given what it sees: the best that can be known at this correlation. Draws
are thinned as `risk estimate --predictor` does by default (a tenth of the experiments spread evenly, chances by √f), at a
tenth as many experiments as draws. Writes thinned.csv, a row for each correlation, cost and factor, draws
docs/figures/risk-figure-{1,3}-closed.svg, and prints gains with what theory says of them. Seed 1; needs scipy and matplotlib.
"""

import csv
import math
import pathlib
import sys

import numpy as np
from scipy import stats

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
import tidy  # noqa: E402

FIGURES = "docs/figures"
LIMIT = 3.090232306
P = stats.norm.sf(LIMIT)
CORRELATIONS = [0.99, 0.95, 0.8, 0.5]
FACTORS = [1.5, 2.0, 3.0, 5.0, 10.0]
RATE, PLAIN_SHARE, EXPONENT = 0.1, 0.1, 0.5
COSTS = np.unique(np.geomspace(30, 12_000, 25).round().astype(int))
RUNS = 2000


def predicted(seen: np.ndarray, r: float) -> np.ndarray:
    """The chance to fail of a draw, by the number that is seen."""
    return stats.norm.sf((LIMIT - r * seen) / math.sqrt(1 - r * r))


def rule(r: float):
    """The chance of a draw to be tried, by what is predicted; and the gain over counting at the same number of experiments."""
    grid = stats.norm.ppf((np.arange(2_000_000) + 0.5) / 2_000_000)
    f = predicted(grid, r)
    scale = RATE * (1 - PLAIN_SHARE) / (f**EXPONENT).mean()
    chance = lambda f: np.minimum(1.0, RATE * PLAIN_SHARE + scale * f**EXPONENT)  # noqa: E731
    tried = chance(f).mean()
    return chance, tried, (P * (1 - P) / tried) / ((f / chance(f)).mean() - P * P)


def estimates(r: float, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Estimates of every run after each cost [runs, costs], and the theoretical gain."""
    chance, tried, gain = rule(r)
    draws = np.ceil(COSTS / tried).astype(int)
    found = np.empty((RUNS, len(COSTS)))
    for run in found:
        fails = np.flatnonzero(rng.random(draws[-1]) < P)
        # A number above the limit, and what is seen of it; where nothing fails, nothing counts.
        number = stats.norm.isf(P * (1 - rng.random(len(fails))))
        f = predicted(r * number + math.sqrt(1 - r * r) * rng.standard_normal(len(fails)), r)
        a = chance(f)
        weights = np.where(rng.random(len(fails)) < a, 1 / a, 0.0)
        run[:] = [weights[fails < n].sum() / n for n in draws]
    return found, gain


def is_off(estimate, factor: float):
    return (estimate > factor * P) | (estimate < P / factor)


def counted(cost: int, factor: float) -> float:
    """How often counting is off by more than a factor."""
    k = np.arange(int(20 * factor * cost * P) + 50)
    return float(stats.binom.pmf(k, cost, P)[is_off(k / cost, factor)].sum())


def reliable_from(off) -> str:
    """The cost from which on at most 5 % of the estimates are off."""
    late = [int(cost) for cost, later in zip(COSTS, np.maximum.accumulate(off[::-1])[::-1], strict=True) if later <= 0.05]
    return f"{late[0]:,}" if late else "more than 12,000"


def measure() -> list[dict]:
    rng, rows = np.random.default_rng(1), []
    for r in CORRELATIONS:
        found, theory = estimates(r, rng)
        gain = P * (1 - P) / COSTS[-1] / found[:, -1].var()
        low, high = (gain * stats.chi2.ppf(q, RUNS - 1) / (RUNS - 1) for q in (0.025, 0.975))
        print(f"| {r} | {theory:.1f} | {gain:.1f} [{low:.1f}, {high:.1f}] | {found[:, -1].mean():.3g} | ", end="")
        for factor in FACTORS:
            off = is_off(found, factor).mean(0)
            print(reliable_from(off), end=" | ")
            rows += [
                {"correlation": r, "factor": factor, "cost": int(c), "off": f"{o:.4f}", "counting": f"{counted(int(c), factor):.4f}"}
                for c, o in zip(COSTS, off, strict=True)
            ]
        print()
    return rows


def line(rows: list[dict], name: str, of: str = "off") -> tuple:
    """A curve with 95 % intervals of shares; that of counting is exact."""
    shares = [float(row[of]) for row in rows]
    half = [0.0 if of == "counting" else 1.96 * math.sqrt(s * (1 - s) / RUNS) for s in shares]
    return name, [(row["cost"], s, s - h, s + h) for row, s, h in zip(rows, shares, half, strict=True)]


def draw(rows: list[dict]) -> None:
    """Figure 1 for each correlation, figure 3 for one of them."""

    def of(r: float, factor: float) -> list[dict]:
        return [row for row in rows if (row["correlation"], row["factor"]) == (r, factor)]

    labels = ("experiments", "share of estimates")
    first = [*(line(of(r, 3.0), f"correlation {r}") for r in CORRELATIONS), line(of(0.5, 3.0), "counting", "counting")]
    tidy.curves(f"{FIGURES}/risk-figure-1-closed.svg", "Off by more than a factor of 3", labels, first, logarithmic=True, limits=(0, 1))
    third = [line(of(0.95, factor), f"factor {factor:g}") for factor in (1.5, 2.0, 5.0, 10.0)]
    third += [line(of(0.95, factor), f"counting, factor {factor:g}", "counting") for factor in (1.5, 2.0, 5.0, 10.0)]
    title = "Off by more than a factor, correlation 0.95"
    tidy.curves(f"{FIGURES}/risk-figure-3-closed.svg", title, labels, third, logarithmic=True, limits=(0, 1))


if __name__ == "__main__":
    table = measure()
    with (HERE / "thinned.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, table[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    draw(table)
