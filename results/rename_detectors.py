"""Gives the detectors `offnominal` of results their names of today: `residual-views`, and `patch-fusion` for images.

    python3 results/rename_detectors.py results

Ids in tables and settings change, numbers stay: `results/compare.py` shows it. Files that have the new ids already
stay. Needs pyarrow.
"""

import json
import pathlib
import re
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

OLD, VECTOR, IMAGE = "offnominal", "residual-views", "patch-fusion"


def renamed(text, new):
    """Replaces the id where it stands alone or begins the name of a score, as in `offnominal@20`."""
    return new + text[len(OLD) :] if text == OLD or text.startswith(OLD + "@") else text


def table(path, new):
    old = pq.read_table(path)
    columns = []
    for name in old.column_names:
        column = old[name]
        if name in ("detector", "metric"):
            words = pc.unique(column).to_pylist()
            names = {word: renamed(word, new) for word in words}
            column = pa.chunked_array([pa.array([names[v.as_py()] for v in column], pa.string())])
        columns.append(column)
    made = pa.Table.from_arrays(columns, schema=old.schema)
    if not made.equals(old):
        rows = made.num_rows
        pq.write_table(made, path, compression="none", use_dictionary=True, store_schema=False, row_group_size=rows)
        print(path)


def csv(path, new):
    text = path.read_text()
    made = re.sub(rf"(?m)(^|,){OLD}(?=,|@|$)", rf"\g<1>{new}", text)
    if made != text:
        path.write_text(made)
        print(path)


def settings(value, new):
    """The same JSON with the new id, also in the list of detectors of a command."""
    if isinstance(value, dict):
        return {key: settings(item, new) for key, item in value.items()}
    if isinstance(value, list):
        return [settings(item, new) for item in value]
    if isinstance(value, str):
        return re.sub(rf"(?<=,){OLD}(?=,|$)", new, renamed(value, new))
    return value


def document(path, new):
    text = path.read_text()
    made = json.dumps(settings(json.loads(text), new), indent=2, ensure_ascii=False)
    if made != text:
        path.write_text(made)
        print(path)


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    for folder, new in [("vector", VECTOR), ("images", IMAGE), ("shift", VECTOR), ("ood-rl", VECTOR)]:
        for path in sorted((root / folder).rglob("*")):
            change = {".parquet": table, ".csv": csv, ".json": document}.get(path.suffix)
            if change:
                change(path, new)
