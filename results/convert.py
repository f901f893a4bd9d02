"""Converts wide tables of results to tidy ones: a row per number, as Parquet.

    python3 results/convert.py results/vector results/images results/ood-rl

Each `ENV.csv` with a column per metric, and `results.csv` of ood-rl, becomes a `.parquet` file of the same name, and
the CSV file is removed. In each `ENV.json` command and versions become the provenance `made`. Files that have the new
form already stay. Needs pyarrow.
"""

import csv
import json
import math
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

RULES = ["3sigma", "q95", "max", "conformal"]
KEYS = ["env", "policy", "anomaly_class", "anomaly", "strength", "magnitude", "detector", "seeds", "episodes"]
OOD_RL_KEYS = ["env", "method", "trial", "anomaly", "magnitude", "null", "fails", "episodes", "positives", "negatives"]
# Metric, and the columns of value, low and high.
OOD_RL = [
    ("return", ["mean_return", "return_low", "return_high"]),
    ("auroc_global", ["auroc", "auroc_low", "auroc_high"]),
    ("aupr_global", ["aupr", None, None]),
    ("fpr95_global", ["fpr95", None, None]),
    ("auroc_matched", ["auroc_matched", None, None]),
    ("youden_threshold", ["youden", None, None]),
]
TYPES = {
    **dict.fromkeys(["seeds", "episodes", "trial", "positives", "negatives"], pa.uint64()),
    **dict.fromkeys(["magnitude", "value", "low", "high"], pa.float64()),
    **dict.fromkeys(["null", "fails"], pa.bool_()),
}


def real(text):
    """A number; what is missing is none."""
    return float(text) if text else math.nan


def metric_of(column):
    """`d20_conformal` is the metric d20 at the rule conformal."""
    for rule in RULES:
        if column.endswith("_" + rule):
            return column[: -len(rule) - 1], rule
    return column, ""


def suite(table, modality):
    """The rows of an environment of a suite, and their columns."""
    header = table[0].keys()
    metrics = [c for c in header if c not in KEYS and not c.endswith(("_low", "_high"))]
    columns = KEYS[:1] + ["modality"] + KEYS[1:] + ["metric", "threshold", "value", "low", "high"]
    rows = []
    for line in table:
        key = {k: typed(k, line[k]) for k in KEYS} | {"modality": modality}
        for column in metrics:
            metric, threshold = metric_of(column)
            numbers = [real(line[column + end]) for end in ["", "_low", "_high"]]
            rows.append(key | {"metric": metric, "threshold": threshold} | dict(zip(["value", "low", "high"], numbers)))
    return rows, columns


def ood_rl(table):
    """The rows of the suite ood-rl, and their columns."""
    columns = OOD_RL_KEYS + ["detector", "metric", "value", "low", "high"]
    rows = []
    for line in table:
        key = {k: typed(k, line[k]) for k in OOD_RL_KEYS} | {"detector": line["measure"]}
        for metric, places in OOD_RL:
            numbers = [real(line[p]) if p else math.nan for p in places]
            if not math.isnan(numbers[0]):
                rows.append(key | {"metric": metric} | dict(zip(["value", "low", "high"], numbers)))
    return rows, columns


def typed(column, text):
    kind = TYPES.get(column)
    if kind == pa.uint64():
        return int(text)
    if kind == pa.float64():
        return real(text)
    if kind == pa.bool_():
        return {"true": True, "false": False}[text]
    return text


def write(path, rows, columns):
    fields = [pa.field(c, TYPES.get(c, pa.string()), nullable=False) for c in columns]
    arrays = [pa.array([row[f.name] for row in rows], f.type) for f in fields]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(table, path, compression="none", use_dictionary=True, store_schema=False, row_group_size=len(rows))


def convert(path):
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    if "metric" in table[0]:
        return
    if "method" in table[0]:
        rows, columns = ood_rl(table)
    else:
        rows, columns = suite(table, "image" if path.parent.name == "images" else "vector")
    to = path.with_suffix(".parquet")
    write(to, rows, columns)
    path.unlink()
    print(f"{to}: {len(table)} lines, {len(rows)} rows, {to.stat().st_size} bytes")


def provenance(path):
    """Puts command and versions of an environment together, where the engine looks for them; its settings are not known."""
    environment = json.loads(path.read_text())
    if "made" in environment:
        return
    versions = {name.lower(): version for name, version in environment["versions"]}
    seed = min(row["seed"] for row in environment["coverage"])
    made = {"command": environment["command"], "engine": versions["offnominal"]}
    if simulated(environment["env"]):
        made["mujoco"] = versions.get("mujoco", "3.17.0")
    made |= {"seed": seed, "config": ""}
    new = {}
    for field, value in environment.items():
        if field == "command":
            new["made"] = made
        elif field != "versions":
            new[field] = value
    path.write_text(json.dumps(new, indent=2, ensure_ascii=False))


def simulated(env):
    """Whether MuJoCo simulates the environment; 3.17.0 is the only version that ever did."""
    return env.startswith(("mjc-", "urm-", "urr-"))


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            provenance(path)
        for path in sorted(pathlib.Path(folder).glob("*.csv")):
            convert(path)
