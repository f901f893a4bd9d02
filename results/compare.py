"""Shows that two forms of the same results hold the same numbers.

    python3 results/compare.py OLD NEW

OLD and NEW are folders, or REVISION:FOLDER of this repository, as in `affe066:results/vector`. Tables of OLD have a
column per metric, or are tidy as those of NEW; names of detectors may be former ones. Every number of either side must
be on the other, with the same bits.
Needs pyarrow for Parquet.
"""

import csv
import io
import math
import pathlib
import struct
import subprocess
import sys

RULES = ["3sigma", "q95", "max", "conformal", "band", "cusum", "martingale"]
VALUES = ["value", "low", "high"]
# Columns that say nothing that tables of both forms hold.
IGNORED = {"modality"}
# Detectors that had another name, by the name of today.
FORMER = {"residual-views": "offnominal", "patch-fusion": "offnominal"}
# Columns and metrics of ood-rl that have other names in tidy tables.
RENAMED = {"measure": "detector"}
OOD_RL = {"mean_return": "return", "auroc": "auroc_global", "aupr": "aupr_global", "fpr95": "fpr95_global",
          "youden": "youden_threshold"}
COUNTS = ["episodes", "seeds", "seed", "trial", "positives", "negatives"]


def files(place):
    """The tables of a folder or of a revision of it, by name without ending."""
    revision, colon, folder = place.partition(":")
    if not colon:
        return {p.stem: (p.name, p.read_bytes()) for p in sorted(pathlib.Path(place).iterdir()) if is_table(p.name)}
    names = git("ls-tree", "--name-only", f"{revision}:{folder}").decode().split()
    return {pathlib.Path(n).stem: (n, git("show", f"{revision}:{folder}/{n}")) for n in names if is_table(n)}


def is_table(name):
    return name.endswith((".csv", ".parquet"))


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


def lines(name, data):
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(data.decode())))
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(data)).to_pylist()


def bits(value):
    """A number as its bits, not a number if there is none."""
    number = float(value) if value not in ("", None) else math.nan
    return "NaN" if math.isnan(number) else struct.pack(">d", number)


def key_of(line, columns):
    def one(column):
        value = line[column]
        if column == "magnitude":
            return bits(value)
        if column in COUNTS:
            return int(value)
        if column == "detector":
            return FORMER.get(value, value)
        return str(value).lower() if column in ("null", "fails") else value

    return tuple(sorted((RENAMED.get(c, c), one(c)) for c in columns if c not in IGNORED))


def numbers(name, data):
    """The numbers of a table: key, metric, rule and part (value, low or high) to bits; what is missing is left out."""
    found, n_lines = {}, 0
    for line in lines(name, data):
        n_lines += 1
        for key, number in tidy(line) if "metric" in line else wide(line):
            if number != "NaN":
                if key in found:
                    raise SystemExit(f"{name}: {key} is there twice")
                found[key] = number
    return found, n_lines


def tidy(line):
    columns = [c for c in line if c not in VALUES and c not in ("metric", "threshold")]
    key = key_of(line, columns)
    for part in VALUES:
        yield (key, line["metric"], line.get("threshold", ""), part), bits(line[part])


def wide(line):
    last = "negatives" if "method" in line else "episodes"
    header = list(line)
    keys = header[: header.index(last) + 1]
    if "method" in line:
        returns = ["mean_return", "return_low", "return_high"]
        keys = [k for k in keys if k not in returns]
    else:
        returns = []
    key = key_of(line, keys)
    for column in returns + header[header.index(last) + 1 :]:
        metric, part = column, "value"
        for end in ("low", "high"):
            if column.endswith("_" + end):
                metric, part = column[: -len(end) - 1], end
        rule = next((r for r in RULES if metric.endswith("_" + r)), "")
        metric = metric.removesuffix("_" + rule) if rule else metric
        metric = OOD_RL.get(metric, metric) if "method" in line else metric
        yield (key, metric, rule, part), bits(line[column])


def compare(old, new):
    there, here = files(old), files(new)
    if there.keys() != here.keys():
        raise SystemExit(f"the tables differ: {sorted(there.keys() ^ here.keys())}")
    total = 0
    for name in there:
        (a, n_old), (b, n_new) = numbers(*there[name]), numbers(*here[name])
        differ = [k for k in a.keys() | b.keys() if a.get(k) != b.get(k)]
        if differ:
            raise SystemExit(f"{name}: {len(differ)} of {len(a)} numbers differ, such as {differ[0]}")
        total += len(a)
        print(f"{name}: {n_old} lines, {n_new} rows, {len(a)} numbers equal")
    print(f"{old} and {new}: {len(there)} tables, {total} numbers, all equal")


if __name__ == "__main__":
    compare(*sys.argv[1:])
