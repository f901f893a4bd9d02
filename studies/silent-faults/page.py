"""Writes the tables of `README.md` from `found.csv` and `tuning.csv`.

python page.py
"""

from pathlib import Path

import faults
import flight
import pandas as pd
from sensors import STEP_SECS

HERE = Path(__file__).parent
GROUPS = ["filter", "sensor"]
STEPS = {"driving": STEP_SECS, "car-lanekeep": STEP_SECS, "px4": 1 / flight.RATE_HZ}
HEAD = ["fault", "found", "median delay, s", "named", "first in the diagnosis", "kind"]


def table(head: list[str], rows: list[list[str]]) -> str:
    """Makes a table of Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def share(row: pd.Series, name: str) -> str:
    """Shows a share with its interval."""
    return f"{row[f'{name}_share']:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"


def delay(row: pd.Series) -> str:
    """Shows the median delay, if it is known."""
    return "–" if pd.isna(row["median_delay"]) else f"{row['median_delay'] * STEPS[row['system']]:.2f}"


def often(text: object) -> str:
    """Shows what was said most often."""
    return "" if pd.isna(text) else str(text)


def line(row: pd.Series) -> list[str]:
    """Makes the row of a fault, or of recordings without one."""
    said = [often(row["first"]), often(row["family"])]
    if row["group"] == "nominal":
        return ["*none: false alarms*", share(row, "found"), "", "", *said]
    return [row["fault"], share(row, "found"), delay(row), share(row, "named"), *said]


def counted(rows: pd.DataFrame, group: str) -> str:
    """Counts the faults of a group that are found in most recordings, and those that are found and named in most."""
    of_group = rows[rows["group"] == group]
    found, named = (of_group[f"{name}_share"] > 0.5 for name in ("found", "named"))
    return f"{found.sum()} / {named.sum()}"


def summary(data: pd.DataFrame, keys: list[str]) -> list[list[str]]:
    """Makes a row for each system and setting: false alarms, and how many faults of each group are found and named."""
    lines = []
    for key, rows in data.groupby(keys, sort=False, dropna=False):
        nominal = rows[rows["group"] == "nominal"].iloc[0]
        names = [f"`{part}`" if isinstance(part, str) else "none" for part in key]
        lines.append([*names, share(nominal, "found"), *(counted(rows, group) for group in GROUPS)])
    return lines


def sizes() -> str:
    """Lists the faults with their sizes."""
    rows = []
    for name, fault in faults.FAULTS.items():
        of_flight = flight.FAULTS[name]
        first = " and " if fault.all_first else ", "
        rows.append([name, fault.summary, first.join(fault.named), of_flight.summary, first.join(of_flight.named)])
    return table(["fault", "in the worlds", "named by", "in the flight", "named by"], rows)


def replaced(text: str, parts: dict[str, str]) -> str:
    """Puts tables between their marks."""
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, rest = text.split(begin)
        text = before + begin + content + "\n" + end + rest.split(end)[1]
    return text


def main() -> None:
    """Reads the tables and writes the page."""
    found, tuning = pd.read_csv(HERE / "found.csv"), pd.read_csv(HERE / "tuning.csv")
    head = [
        "system",
        "detector",
        "false alarms",
        "filter faults: found / and named",
        "sensor faults: found / and named",
    ]
    tried = [*head[:2], "rule", "left out", *head[2:]]
    parts = {"SIZES": sizes(), "SUMMARY": table(head, summary(found, ["system", "detector"]))}
    parts["TUNING"] = table(tried, summary(tuning, ["system", "detector", "rule", "left_out"]))
    for (system, detector), rows in found.groupby(["system", "detector"], sort=False):
        parts[f"{system} {detector}"] = table(HEAD, [line(row) for _, row in rows.iterrows()])
    page = HERE / "README.md"
    page.write_text(replaced(page.read_text(), parts))


if __name__ == "__main__":
    main()
