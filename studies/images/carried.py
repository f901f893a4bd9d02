"""Tables of a new run of the suite `images`, with the rows of detectors that were not run again.

    python studies/images/carried.py RUN

RUN is the output folder of `offnominal bench --suite images`. For each environment in it the table takes the place of the one
here. Detectors that only the table here has keep their rows, if everything that both runs computed with the same
detector is equal bit for bit; otherwise the script stops. Numbers that the run before did not compute are empty.
`patch-fusion` has changed since and is not compared. Needs pandas and pyarrow.
"""

import json
import pathlib
import sys

import pandas
import pyarrow
import pyarrow.compute
from pyarrow import parquet

HERE = pathlib.Path(__file__).resolve().parent
CHANGED, NAN = {"patch-fusion"}, float("nan")
KEYS = ["anomaly", "strength", "magnitude", "detector", "episodes", "metric", "threshold"]
ORDER = [
    "clock", "random", "knn-efficientnet", "pred-ae", "prednet", "ldm", "lrdm", "rssm-ppm",
    "frame-knn-own", "patch-knn-own", "patch-dynamics", "patch-fusion",
]  # fmt: skip


def carried(env: str, old: pandas.DataFrame, new: pandas.DataFrame) -> pandas.Series:
    """Which rows of the old table are of detectors that the new one lacks, after the comparison of the others."""
    both = old[~old.detector.isin(CHANGED)].merge(new, on=KEYS, suffixes=("", "_new"))
    for column in ["value", "low", "high"]:
        found = both[f"{column}_new"]
        differs = ~((both[column] == found) | (both[column].isna() & found.isna()))
        if differs.any():
            raise SystemExit(f"{env}: expected the numbers of the run before, found others:\n{both[differs].head()}")
    print(f"{env}: {len(both)} numbers of {both.detector.nunique()} detectors are equal")
    return ~old.detector.isin(new.detector.unique())


def filled(kept: pyarrow.Table, new: pyarrow.Table) -> pyarrow.Table:
    """Kept rows, and for each of their detectors an empty one for every number of the new table that it lacks."""
    rows, there = new.filter(pyarrow.compute.equal(new["detector"], "clock")).to_pylist(), kept.to_pylist()
    key = ["anomaly", "strength", "metric", "threshold"]
    for detector in sorted(set(kept["detector"].to_pylist())):
        known = {tuple(row[k] for k in key) for row in there if row["detector"] == detector}
        lacks = [row for row in rows if tuple(row[k] for k in key) not in known]
        there += [row | {"detector": detector, "value": NAN, "low": NAN, "high": NAN} for row in lacks]
    return pyarrow.Table.from_pylist(there, schema=new.schema)


def main() -> None:
    """Takes every environment of the run over."""
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        env, about = file.stem, json.loads(file.read_text())
        table, here = parquet.read_table(file.with_suffix(".parquet")), HERE / f"{env}.parquet"
        if here.exists():
            old = parquet.read_table(here)
            kept = carried(env, old.to_pandas(), table.to_pandas())
            table = pyarrow.concat_tables([table, filled(old.filter(kept.to_numpy()), table)])
        there = set(table["detector"].to_pylist())
        about["detectors"] = [detector for detector in ORDER if detector in there]
        about["missing"] = [what for what in about["missing"] if what.split()[1] not in there]
        names = ",".join(about["detectors"])
        about["made"]["command"] = f"offnominal bench --suite images --env {env} --detector {names} --seeds 1"
        parquet.write_table(table, here, compression="none")
        (HERE / f"{env}.json").write_text(json.dumps(about, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
