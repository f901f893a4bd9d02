"""Writes README.md: the classifier that is told the fault, beside the best detector of `studies/vector` and ours."""

import pandas
from run import BASELINES, FOUND, HERE, TEST, TRAIN, VECTOR

OURS = "residual-views"


def detectors():
    """The best detector and ours, in each cell."""
    tables = [pandas.read_parquet(path) for path in sorted(VECTOR.glob("*.parquet"))]
    rows = pandas.concat(tables, ignore_index=True)
    rows = rows[(rows.policy == "tqc") & (rows.metric == "auroc_matched") & ~rows.detector.isin(BASELINES)].dropna(
        subset=["value"]
    )
    best = rows.loc[rows.groupby(["env", "anomaly", "strength"]).value.idxmax()]
    cells = ["env", "anomaly", "strength"]
    ours = rows[rows.detector == OURS].set_index(cells).value
    return best.set_index(cells), ours


def main():
    found = pandas.read_csv(FOUND).sort_values(["env", "anomaly", "strength"])
    best, ours = detectors()
    lines = [
        "# What could be known",
        "",
        "In some cells of the vector benchmark no detector finds much. Is there anything to find?",
        f"A classifier that is told the fault learns from {TRAIN} episodes with it and their nominal twins,",
        f"and is judged on {TEST} others by time-matched AUROC (`run.py` says what it sees).",
        "No detector has this; where the classifier is poor too, the fault hardly shows in what a monitor reads.",
        "",
        "Written by `page.py` from `found.csv`, which `python3 studies/oracle/run.py` makes.",
        "Intervals are 95 %, of a bootstrap over episodes.",
        "",
        "| environment | anomaly | told the fault | best detector | `residual-views` |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in found.itertuples():
        cell = (row.env, row.anomaly, row.strength)
        told = f"{row.oracle:.2f} [{row.low:.2f}, {row.high:.2f}]"
        top = f"{best.value[cell]:.2f} `{best.detector[cell]}`"
        lines.append(f"| {row.env} | {row.anomaly}, {row.strength} | {told} | {top} | {ours[cell]:.2f} |")
    hopeless = (found.high < 0.8).sum()
    lines += [
        "",
        f"In {hopeless} of {len(found)} cells the whole interval of the classifier is below .8:",
        "there the detectors lack information, not method.",
        "",
    ]
    (HERE / "README.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
