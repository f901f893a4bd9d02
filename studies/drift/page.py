"""The tables of `README.md`, from `false_alarms.csv` and `delays.csv`: means over replicates with 95 % t intervals.

    python3 studies/drift/page.py

Needs SciPy and pandas.
"""

import pathlib

import numpy as np
import pandas as pd
from scipy.stats import t

HERE = pathlib.Path(__file__).resolve().parent
MONITORS = ["fixed", "follows", "refit", "stated"]


def interval(values):
    """Mean and 95 % t interval."""
    values = np.asarray(values, float)
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return values.mean(), values.mean() - half, values.mean() + half


def told(found, digits):
    """An interval as text."""
    value, low, high = (f"{x:.{digits}f}" for x in found)
    return f"{value} [{low}, {high}]"


def main():
    """Both tables."""
    print("| environment | drift | when |", " | ".join(MONITORS), "|\n|---|---|---|---|---|---|---|")
    shares = pd.read_csv(HERE / "false_alarms.csv")
    for (env, drift), case in shares.groupby(["env", "drift"], sort=False):
        for when in ("ramp", "plateau", "end"):
            row = case[case.when == when]
            cells = [
                told(np.clip(interval(row[row.monitor == name].share), 0, 1), 3) if (row.monitor == name).any() else ""
                for name in MONITORS
            ]
            print("|", env, "|", drift, "|", when, "|", " | ".join(cells), "|")
    print(
        "\n| environment | drift | before |",
        " | ".join(MONITORS),
        "| before, found |\n|---|---|---|---|---|---|---|---|",
    )
    delays = pd.read_csv(HERE / "delays.csv")
    for (env, drift), case in delays.groupby(["env", "drift"], sort=False):
        table = case.pivot(index="replicate", columns="monitor", values="mean_delay")
        detected = case.pivot(index="replicate", columns="monitor", values="detected")
        cells = [told(interval(table["before"]), 1)]
        for name in MONITORS:
            low_log = interval(np.log(table[name] / table["before"]))
            cells.append(told([np.exp(x) for x in low_log], 2) + f", {detected[name].mean():.2f}")
        print("|", env, "|", drift, "|", " | ".join(cells), "|", f"{detected['before'].mean():.2f}", "|")


if __name__ == "__main__":
    main()
