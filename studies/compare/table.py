"""The table of `README.md` that compares `trials.csv` with `step.csv`: python3 studies/compare/table.py

The interval of a ratio takes both means as independent and normal (delta method).
"""

import csv
from pathlib import Path

HERE = Path(__file__).parent


def rows(name):
    with (HERE / name).open(newline="") as file:
        return list(csv.DictReader(file))


def ratio(ours, theirs):
    """One mean over the other, with its 95 % interval."""
    a, b = (float(row["trials"]) for row in (ours, theirs))
    spread = [(float(row["trials_high"]) - float(row["trials_low"])) / 2 for row in (ours, theirs)]
    half = a / b * ((spread[0] / a) ** 2 + (spread[1] / b) ** 2) ** 0.5
    return f"{a / b:.3f} [{a / b - half:.3f}, {a / b + half:.3f}]"


def main():
    step = {(row["most"], row["old"], row["new"]): row for row in rows("step.csv")}
    ours = {method: {} for method in ("planned", "betting")}
    for row in rows("trials.csv"):
        if row["method"] in ours:
            ours[row["method"]][row["most"], row["old"], row["new"]] = row
    print("| N | OLD, NEW | STEP: trials, decided | planned: trials, decided | ratio | betting: trials, decided | ratio |")
    print("|---|---|---|---|---|---|---|")
    for case, theirs in step.items():
        if case[1] == case[2]:
            continue
        cells = [f"{float(theirs['trials']):.1f}, {float(theirs['decided']):.3f}"]
        for method in ours:
            own = ours[method][case]
            cells += [f"{float(own['trials']):.1f}, {float(own['decided']):.3f}", ratio(own, theirs)]
        print(f"| {case[0]} | {case[1]}, {case[2]} | {' | '.join(cells)} |")
    print()
    print("| N | rate of both | STEP | planned | betting |")
    print("|---|---|---|---|---|")
    for case, theirs in step.items():
        if case[1] != case[2]:
            continue
        own = [ours[method][case] for method in ours]
        shares = [f"{float(r['decided']):.4f} [{float(r['decided_low']):.4f}, {float(r['decided_high']):.4f}]" for r in own]
        print(f"| {case[0]} | {case[1]} | {float(theirs['decided']):.4f} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
