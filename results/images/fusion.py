"""What the present `patch-fusion` is worth beside its version in the tables of the environments.

    for E in sap-goal0 sap-goal1 sap-goal2 urm-reach urm-pnp mjc-reacher3d mjc-half-cheetah mjc-cartpole-swingup car-lanekeep; do
      offnominal bench --suite images --env $E --detector patch-fusion --seeds 1 --out runs/fusion; done
    python3 results/images/fusion.py runs/fusion

writes `fusion.csv`: for each cell of both, which have the same episodes and magnitudes, the time-matched AUROC of the version in
the tables, of the present one, and of `pred-ae` and `patch-dynamics` in the tables. Without a folder, it prints the means over
the cells of each environment and kind of anomaly. Needs pandas.
"""

import pathlib
import sys

import pandas

HERE = pathlib.Path(__file__).resolve().parent
KEYS = ["env", "anomaly", "strength", "magnitude", "episodes"]


def cells(file: pathlib.Path, detector: str, name: str) -> pandas.DataFrame:
    """The AUROC of a detector in each cell of a table that could be judged."""
    rows = pandas.read_parquet(file)
    is_cell = (rows.detector == detector) & (rows.metric == "auroc_matched") & (rows.anomaly != "none")
    return rows[is_cell].dropna(subset=["value"]).rename(columns={"value": name})[[*KEYS, name]]


def joined(old: pathlib.Path, new: pathlib.Path) -> pandas.DataFrame:
    """The cells of one environment that both tables have."""
    both = cells(old, "patch-fusion", "before").merge(cells(new, "patch-fusion", "now"), on=KEYS)
    for detector in ["pred-ae", "patch-dynamics"]:
        both = both.merge(cells(old, detector, detector), on=KEYS)
    return both


def main() -> None:
    """Joins, if there is a folder, and prints."""
    if len(sys.argv) > 1:
        new = sorted(pathlib.Path(sys.argv[1]).glob("*.parquet"))
        table = pandas.concat([joined(HERE / file.name, file) for file in new])
        table.to_csv(HERE / "fusion.csv", index=False, float_format="%.4f")
    table = pandas.read_csv(HERE / "fusion.csv")
    table["kind"] = table.anomaly.str.split("-").str[0].eq("cam").map({True: "camera", False: "the paper's"})
    print(table.groupby(["kind", "env"])[["before", "now", "pred-ae", "patch-dynamics"]].mean().round(3).to_string())
    print(table.groupby("kind")[["before", "now", "pred-ae", "patch-dynamics"]].mean().round(3).to_string())


if __name__ == "__main__":
    main()
