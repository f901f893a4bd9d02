#!/usr/bin/env python3
"""Compares the order of methods in `results/pixels` with what the paper says of it, and writes `order.md` beside it.

    python3 agents/pixels/order.py results/pixels

The paper's values are only in figures; its text says which method is better than which on which set (section 7.2). Each
of its statements is looked up here: in AUROC of exact pixels, of the method on the network that was modified for it.
"""

import csv
import pathlib
import sys

# Which network a method is judged on, as in the paper's Table 1.
MODIFICATION = {
    "max-softmax": "none", "odin": "none", "entropy": "none",
    "mahalanobis": "dim-reduce", "confidence": "confidence", "var-sum": "dropout", "mutual-information": "dropout",
}
SETS = {"street": "streets", "three-wheeler": "IDD", "rooms": "SUN", "normal-noise": "normal", "perlin": "Perlin"}
METHODS = list(MODIFICATION)


def read(folder):
    """AUROC of exact pixels, by network, set and method."""
    found = {}
    for name in ("pspnet", "deeplab"):
        for modification in ("none", "dim-reduce", "dropout", "confidence"):
            path = folder / f"{name}-{modification}.csv"
            if not path.exists():
                continue
            for row in csv.DictReader(open(path)):
                wanted = MODIFICATION.get(row["method"]) == modification and row["mode"] == "exact"
                if wanted and row["metric"] == "auroc":
                    found[name, row["data"], row["method"]] = [float(row[key]) for key in ("value", "low", "high")]
    return found


def statements():
    """What the paper says: text, network, set, and methods in increasing order."""
    yield "SUN: Max Softmax < ODIN < Mahalanobis", "pspnet", "rooms", ["max-softmax", "odin", "mahalanobis"]
    yield "IDD: Mahalanobis < Max Softmax < ODIN", "pspnet", "three-wheeler", ["mahalanobis", "max-softmax", "odin"]
    for data in ("rooms", "three-wheeler", "normal-noise", "perlin"):
        yield f"{SETS[data]}: Confidence < Max Softmax", "pspnet", data, ["confidence", "max-softmax"]
    for data in ("rooms", "three-wheeler"):
        yield f"{SETS[data]}: VarSum < Mutual Information", "pspnet", data, ["var-sum", "mutual-information"]
    for data in ("normal-noise", "perlin"):
        yield f"{SETS[data]}: Mutual Information < VarSum", "pspnet", data, ["mutual-information", "var-sum"]
    order = ["odin", "mutual-information"]
    yield "IDD: ODIN < Mutual Information, the best", "deeplab", "three-wheeler", order
    for data in ("rooms", "three-wheeler", "normal-noise", "perlin"):
        yield f"{SETS[data]}: VarSum < Max Softmax (VarSum worst or nearly)", "deeplab", data, ["var-sum", "max-softmax"]


def number(estimate):
    return "–" if estimate is None else "{:.3f} [{:.3f}, {:.3f}]".format(*estimate)


def verdict(values):
    """Whether they increase, and whether intervals of neighbours are apart."""
    pairs = list(zip(values, values[1:]))
    if all(a[0] < b[0] for a, b in pairs):
        return "yes" if all(a[2] < b[1] for a, b in pairs) else "yes, intervals overlap"
    return "no" if any(b[2] < a[1] for a, b in pairs) else "no, intervals overlap"


def page(found):
    lines = ["# Order of the methods, beside what the paper says", ""]
    lines += ["AUROC of exact pixels with 95 % intervals that resample pictures; written by `agents/pixels/order.py`."]
    for network in ("pspnet", "deeplab"):
        lines += ["", f"## {network}", "", "| method | " + " | ".join(SETS) + " |", "|---" * (len(SETS) + 1) + "|"]
        for method in METHODS:
            row = [number(found.get((network, data, method))) for data in SETS]
            if any(cell != "–" for cell in row):
                lines.append(f"| `{method}` ({MODIFICATION[method]}) | " + " | ".join(row) + " |")
    lines += ["", "## Statements of the paper", "", "| network | statement | here | holds |", "|---|---|---|---|"]
    for text, network, data, methods in statements():
        values = [found.get((network, data, method)) for method in methods]
        if None not in values:
            here = ", ".join(f"{value[0]:.3f}" for value in values)
            lines.append(f"| {network} | {text} | {here} | {verdict(values)} |")
    better = [
        (data, found.get(("pspnet", data, "confidence")), found.get(("deeplab", data, "confidence")))
        for data in ("normal-noise", "perlin")
    ]
    for data, a, b in better:
        if a and b:
            text = f"{SETS[data]}: Confidence on PSPNet < on DeepLabV3+"
            lines.append(f"| both | {text} | {a[0]:.3f}, {b[0]:.3f} | {verdict([a, b])} |")
    return "\n".join(lines) + "\n"


def write(folder):
    (folder / "order.md").write_text(page(read(folder)))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
