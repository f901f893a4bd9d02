"""What the fourth part of `patch-fusion` changed.

    python studies/images/fusion.py

prints the means of `fusion.csv` over the cells of each environment and kind of anomaly: the time-matched AUROC before
the fourth part and with it, of `pred-ae` and of `patch-dynamics`. The cells have the same episodes and magnitudes; `now`,
`pred-ae` and `patch-dynamics` are in the tables of the environments too, `before` is from tables of the version before
(`offnominal bench --suite images --detector patch-fusion --seeds 1`). Needs pandas.
"""

import pathlib

import pandas

COLUMNS = ["before", "now", "pred-ae", "patch-dynamics"]


def main() -> None:
    """Prints the means."""
    table = pandas.read_csv(pathlib.Path(__file__).with_suffix(".csv"))
    table["kind"] = table.anomaly.str.split("-").str[0].eq("cam").map({True: "camera", False: "the paper's"})
    print(table.groupby(["kind", "env"])[COLUMNS].mean().round(3).to_string())
    print(table.groupby("kind")[COLUMNS].mean().round(3).to_string())


if __name__ == "__main__":
    main()
