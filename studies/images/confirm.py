"""Does the lead of `patch-fusion` over `pred-ae` hold with 40 test episodes and a fresh seed?

    offnominal bench studies/images/confirm.toml --out runs/confirm       # needs a build with `deep`, and half an hour
    python studies/images/confirm.py runs/confirm/results.csv

keeps the time-matched AUROC of the campaign as `confirm.csv`, and prints the mean of each detector at each strength and the
mean difference with a 95 % interval, for which anomalies are drawn anew. Without a file it only prints. Needs numpy and pandas.
"""

import pathlib
import sys

import numpy
import pandas

FILE = pathlib.Path(__file__).with_suffix(".csv")


def main() -> None:
    """Keeps what it is given, and prints."""
    if len(sys.argv) > 1:
        rows = pandas.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
        rows[rows.metric == "auroc_matched"].to_csv(FILE, index=False, lineterminator="\n")
    table = pandas.read_csv(FILE, keep_default_na=False)
    table = table[table.anomaly != "none"]
    print(table.pivot_table(index="detector", columns="strength", values="value").round(3).to_string())
    cells = table.pivot_table(index=["anomaly", "strength"], columns="detector", values="value")
    lead = (cells["patch-fusion"] - cells["pred-ae"]).groupby("anomaly").mean().to_numpy()
    rng = numpy.random.default_rng(1)
    again = [lead[rng.integers(0, len(lead), len(lead))].mean() for _ in range(4000)]
    low, high = numpy.quantile(again, [0.025, 0.975])
    print(f"patch-fusion less pred-ae: {lead.mean():+.3f} [{low:+.3f}, {high:+.3f}]")


if __name__ == "__main__":
    main()
