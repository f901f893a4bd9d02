"""Writes `cells.csv` from the results of the campaign, if its folder is given, and the tables of `README.md` from `cells.csv`.

offnominal bench campaigns/new-scores.toml --out runs/new-scores
python3 results/new-scores/page.py runs/new-scores
"""

import pathlib
import sys

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
CELLS = HERE / "cells.csv"
METRICS = {"auroc_matched": "AUROC matched", "d20": "found in 20 steps"}
ALONE = ["ensemble-dm", "flow-density", "whiteness", "scan", "contraction"]
VIEWS, WITH = "largest(residual-views)", "largest(residual-views+{})"
REPLICATES, SEED = 2000, 4100


def keep(folder):
    """The cells of a finished campaign: alarms at the conformal threshold."""
    rows = pd.read_csv(pathlib.Path(folder) / "results.csv")
    is_rate = rows.metric.isin(["d20", "false_alarm_rate"]) & (rows.threshold == "conformal")
    rows = rows[is_rate | (rows.metric == "auroc_matched")]
    rows = rows[["env", "anomaly", "strength", "detector", "metric", "value"]]
    rows.sort_values(["env", "anomaly", "strength", "metric"], kind="stable").to_csv(
        CELLS, index=False, float_format="%.4f", lineterminator="\n"
    )


def interval(values):
    """A mean over cells with the interval of a bootstrap over anomalies of all environments, whose strengths stay together."""
    rng, units = np.random.default_rng(SEED), values.groupby(level=["env", "anomaly"]).agg(["sum", "count"]).to_numpy()
    drawn = rng.integers(len(units), size=(REPLICATES, len(units)))
    sums = units[drawn].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    return values.mean(), low, high


def table(head, rows):
    """A table of Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def plain(values):
    """A mean with its interval."""
    return "{:.2f} [{:.2f}, {:.2f}]".format(*interval(values))


def signed(values):
    """A difference with its interval."""
    return "{:+.3f} [{:+.3f}, {:+.3f}]".format(*interval(values))


def means(values, rates):
    """Each detector in each environment."""
    for detector in values.columns.get_level_values("detector").unique():
        by_env = [
            " / ".join(f"{values[metric][detector].xs(env, level='env').mean():.2f}" for metric in METRICS)
            for env in values.index.unique("env")
        ]
        overall = [plain(values[metric][detector]) for metric in METRICS]
        yield [f"`{detector}`", *by_env, *overall, f"{rates[detector]:.3f}"]


def differences(values, of, beside):
    """What detectors gain over another one, cell by cell."""
    for name in of:
        gains = [values[metric][name] - values[metric][beside] for metric in METRICS]
        tiny = gains[0].xs("tiny", level="strength", drop_level=False)
        yield [f"`{name}`", signed(tiny), *map(signed, gains)]


def by_environment(values, of, beside):
    """What detectors gain in alarms within 20 steps, environment by environment."""
    for name in of:
        gains = values["d20"][name] - values["d20"][beside]
        envs = values.index.unique("env")
        yield [f"`{name}`", *(signed(gains.xs(env, level="env", drop_level=False)) for env in envs)]


def main():
    if len(sys.argv) > 1:
        keep(sys.argv[1])
    rows = pd.read_csv(CELLS)
    found = rows[(rows.anomaly != "none") & rows.metric.isin(METRICS)]
    cells = ["env", "anomaly", "strength"]
    values = found.pivot_table(index=cells, columns=["metric", "detector"], values="value", sort=False).dropna()
    rates = rows[(rows.metric == "false_alarm_rate") & (rows.anomaly == "none")].groupby("detector").value.mean()
    head = ["detector", *values.index.unique("env"), *METRICS.values(), "false alarms"]
    gain = ["detector", "AUROC matched, tiny", *METRICS.values()]
    fused = [WITH.format(name) for name in ALONE[1:]]
    parts = {
        "MEANS": table(head, means(values, rates)),
        "ALONE": table(gain, differences(values, ALONE, "residual-views")),
        "VIEW": table(gain, differences(values, fused, VIEWS)),
        "ENVIRONMENTS": table(["detector", *values.index.unique("env")], by_environment(values, fused, VIEWS)),
    }
    page = (HERE / "README.md").read_text(encoding="utf-8")
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        page = page[: page.index(begin) + len(begin)] + f"\n{text}\n" + page[page.index(end) :]
    (HERE / "README.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
