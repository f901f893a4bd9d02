"""How good is the policy with the lowest estimate so far? Figure 2 of the publication, over many seeds.

    python studies/risk/figure2.py RACES

RACES holds a folder `plain-S` and a folder `avf-S` for each seed S, both of `risk select`. Writes
`studies/risk/driving/figure2.csv`, the choice after each round with its failure probability by `select-truth.json`, a
longer race; without RACES only reads it. Prints a table: for numbers
of experiments the median and the mean of the true failure probability of the choice, the ratio of the means with a 95 %
interval (seeds resampled together), and in how many seeds it is above 1e-4 (Fisher's exact test). Needs pandas and scipy.
"""

import json
import pathlib
import sys

import numpy
import pandas
from scipy.stats import fisher_exact

FOLDER = pathlib.Path(__file__).resolve().parent / "driving"
FILE = FOLDER / "figure2.csv"
MARKS = [1400, 2800, 4200, 5600, 8400, 14_000, 18_500]
BAD = 1e-4


def choices(folder: pathlib.Path) -> pandas.DataFrame:
    """The choice after each round of every race; of policies with equal estimates the mean counts."""
    longer = json.loads((FOLDER / "select-truth.json").read_text())["policies"]
    # One that never failed is counted as if it had failed once, as in the publication (appendix E.4).
    risks = {row["policy"]: max(row["failures"], 1) / row["experiments"] for row in longer}
    rows = []
    for race in sorted(folder.glob("*-*/select.json")):
        method, seed = race.parent.name.split("-")
        for choice in json.loads(race.read_text())["choices"]:
            truth = sum(risks[policy] for policy in choice["lowest"]) / len(choice["lowest"])
            rows.append((method, int(seed), choice["experiments"], truth))
    return pandas.DataFrame(rows, columns=["method", "seed", "experiments", "truth"])


def at(table: pandas.DataFrame, method: str, mark: int) -> pandas.Series:
    """The true failure probability of the choice after so many experiments, by seed."""
    # A round ends a few per cent before or after a multiple of 1,400, as many policies as are left play it.
    done = table[(table.method == method) & (table.experiments <= 1.05 * mark)]
    return done.sort_values("experiments").groupby("seed").truth.last()


def ratio(plain: pandas.Series, avf: pandas.Series) -> tuple[float, float, float]:
    """Mean of counting over that of the predictor; the seeds of both are drawn together."""
    rng, n = numpy.random.default_rng(1), len(plain)
    both = numpy.stack([plain, avf], axis=1)
    again = [both[rng.integers(0, n, n)].mean(0) for _ in range(4000)]
    low, high = numpy.quantile([a / b for a, b in again], [0.025, 0.975])
    return plain.mean() / avf.mean(), low, high


def main() -> None:
    """Collects, if there is a folder, and prints."""
    if len(sys.argv) > 1:
        choices(pathlib.Path(sys.argv[1])).to_csv(FILE, index=False, float_format="%.4g")
    table = pandas.read_csv(FILE)
    print("| experiments | counting: median, mean | predictor: median, mean | ratio of means | above 1e-4 | p |")
    print("|---|---|---|---|---|---|")
    for mark in MARKS:
        plain, avf = at(table, "plain", mark), at(table, "avf", mark)
        n, bad = len(plain), [int((part > BAD).sum()) for part in (plain, avf)]
        p = fisher_exact([[bad[0], n - bad[0]], [bad[1], len(avf) - bad[1]]]).pvalue
        parts = [f"{part.median():.1e}, {part.mean():.1e}" for part in (plain, avf)]
        value, low, high = ratio(plain, avf)
        print(
            f"| {mark:,} | {parts[0]} | {parts[1]} | {value:.2f} [{low:.2f}, {high:.2f}] "
            f"| {bad[0]} and {bad[1]} of {n} | {p:.2f} |"
        )


if __name__ == "__main__":
    main()
