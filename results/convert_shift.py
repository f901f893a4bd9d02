"""Converts wide tables of `shift` and of `pixels` to tidy ones: a row per number.

    python3 results/convert_shift.py results

`shift/ENV/results.csv` and `toplines.csv`, with a column per score, become `.parquet` files, and the CSV files are
removed. `shift/ENV/answers.csv` gets the columns and the words of today. `pixels/networks.csv` gets a row per number.
Values stay as they are. Files that have the new form already stay. Needs pyarrow.
"""

import csv
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

KEYS = {"env": "env", "agent": "policy", "kind": "algorithm", "sigma": "sigma", "body": "body"}
FIXED = {
    "difference": "difference",
    "home": "nominal_return",
    "median": "median_return",
    "mean": "mean_return",
    "fell": "fall_rate",
    "episodes": "episodes",
}
TYPES = {"sigma": pa.float64(), "body": pa.uint64(), "value": pa.float64()}
COLUMNS = [*KEYS.values(), "metric", "value"]
ANSWERS = {"policies": "algorithm", "question": "metric", "by": "score"}
# Questions and scores as they were, and as they are.
WORDS = {
    "log slope of the drop": "log slope of the return gap",
    "rank correlation with the drop": "rank correlation with the return gap",
    "lead over the internal model in rank correlation": "advantage over the internal model in rank correlation",
    "correlation of home and target": "correlation of nominal and target return",
    "return below 0.5 of that at home": "return below 0.5 of the nominal return",
    "return below 0.8 of that at home": "return below 0.8 of the nominal return",
    "home": "nominal return",
}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def numbers(table):
    """The rows of a wide table: the fixed numbers of each line, then its scores by name."""
    scores = sorted(column for column in table[0] if column not in KEYS and column not in FIXED)
    for line in table:
        key = {new: line[old] for old, new in KEYS.items()}
        key |= {"sigma": float(key["sigma"]), "body": int(key["body"])}
        for column in [*FIXED, *scores]:
            if line[column]:
                yield key | {"metric": FIXED.get(column, column), "value": float(line[column])}


def to_parquet(path):
    rows = list(numbers(read(path)))
    fields = [pa.field(c, TYPES.get(c, pa.string()), nullable=False) for c in COLUMNS]
    arrays = [pa.array([row[f.name] for row in rows], f.type) for f in fields]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    to = path.with_suffix(".parquet")
    pq.write_table(table, to, compression="none", use_dictionary=True, store_schema=False, row_group_size=len(rows))
    path.unlink()
    print(f"{to}: {len(rows)} rows, {to.stat().st_size} bytes")


def rewrite(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    print(f"{path}: {len(rows)} rows")


def answers(path):
    table = read(path)
    if "question" in table[0]:
        columns = [ANSWERS.get(column, column) for column in table[0]]
        rows = [[WORDS.get(v, v) if c in ("question", "by") else v for c, v in line.items()] for line in table]
        rewrite(path, columns, rows)


def networks(path):
    table = read(path)
    if "mean_iou" in table[0]:
        rows = []
        for line in table:
            rows.append([line["network"], "mean_iou", line["mean_iou"], line["low"], line["high"], line["level"]])
            rows.append([line["network"], "parameters", line["parameters"], "", "", ""])
        rewrite(path, ["network", "metric", "value", "low", "high", "level"], rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in sorted([*folder.glob("shift/*/results.csv"), *folder.glob("shift/*/toplines.csv")]):
        to_parquet(path)
    for path in sorted(folder.glob("shift/*/answers.csv")):
        answers(path)
    networks(folder / "pixels" / "networks.csv")


main()
