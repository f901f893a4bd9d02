"""Writes the tables of `README.md` from `false_alarms.csv` and `auroc.csv`.

python3 studies/gaps/page.py
"""

import pathlib

import numpy as np
import pandas as pd
from scipy.stats import beta

HERE = pathlib.Path(__file__).resolve().parent
GAPS = {"none": "no gaps", "random": "5 % at random", "slow": "a channel at a fifth", "lost": "a channel lost"}
REPLICATES, SEED = 1000, 4006


def share(rows):
    """The share of episodes with an alarm over environments, with its Clopper-Pearson interval."""
    k, n = rows.alarms.sum(), rows.episodes.sum()
    low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
    high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
    return f"{k / n:.3f} [{low:.3f}, {high:.3f}]"


def fall(rows):
    """The mean fall over anomalies of all environments, with the interval of a bootstrap over them."""
    rng, values = np.random.default_rng(SEED), rows.fall.to_numpy()
    means = rng.choice(values, size=(REPLICATES, len(values))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def table(head, rows):
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def by_detector(data, cell, gaps, count):
    """A row for each detector, in the order of the file; `count` says of how much it is."""
    for detector, rows in data.groupby("detector", sort=False):
        found = [cell(rows[rows.gap == gap]) for gap in gaps]
        yield [f"`{detector}`", str(count(rows)), *found]


def environments(rows):
    """How many environments rows are of."""
    return rows.env.nunique()


def anomalies(rows):
    """How many anomalies rows are of; the same one in two environments counts twice."""
    return len(rows[["env", "anomaly"]].drop_duplicates())


def main():
    alarms, areas = pd.read_csv(HERE / "false_alarms.csv"), pd.read_csv(HERE / "auroc.csv")
    parts = {
        "FALSE ALARMS": table(["detector", "environments", *GAPS.values()], by_detector(alarms, share, GAPS, environments)),
        "FALL": table(
            ["detector", "anomalies", *list(GAPS.values())[1:]], by_detector(areas, fall, list(GAPS)[1:], anomalies)
        ),
    }
    path = HERE / "README.md"
    text = path.read_text()
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        before, rest = text.split(begin)
        text = before + begin + content + end + rest.split(end)[1]
    path.write_text(text)


if __name__ == "__main__":
    main()
