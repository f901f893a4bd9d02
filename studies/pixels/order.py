#!/usr/bin/env python3
"""Compares the order of methods in `studies/pixels` with what the paper says of it, and writes `order.md` beside it.

    python3 studies/pixels/order.py studies/pixels

The paper's values are only in figures; its text says which method is better than which on which set (section 7.2). Each
of its statements is looked up here: in AUROC of exact pixels, of the method on the network that was modified for it.
"""

import csv
import pathlib
import sys

# Which networks a method is judged on: first that of the paper's Table 1; the others are for comparison.
NETWORKS = {
    "max-softmax": ["none"], "odin": ["none"], "entropy": ["none"],
    "mahalanobis": ["dim-reduce", "none"], "confidence": ["confidence"],
    "var-sum": ["dropout"], "mutual-information": ["dropout"],
    "max-logit": ["none"], "energy": ["none"], "standardised-max-logit": ["none"], "feature-knn": ["none"], "vim": ["none"],
    "outlier-head": ["none"], "feature-knn+outlier-head": ["none"],
    "mahalanobis-code2019": ["dim-reduce", "none"], "aleatoric-entropy-code2019": ["dropout"],
}
SETS = {"street": "streets", "three-wheeler": "IDD", "rooms": "SUN", "normal-noise": "normal", "perlin": "Perlin"}


def read(folder):
    """AUROC of exact pixels, by network, modification, set and method."""
    found = {}
    for name in ("pspnet", "deeplab"):
        for modification in ("none", "dim-reduce", "dropout", "confidence"):
            path = folder / f"{name}-{modification}.csv"
            for row in csv.DictReader(path.read_text().splitlines()) if path.exists() else []:
                if row["mode"] == "exact" and row["metric"] == "auroc":
                    key = name, modification, row["data"], row["method"]
                    found[key] = [float(row[column]) for column in ("value", "low", "high")]
    return found


def of(found, network, data, method):
    """A method on the first of its networks that was judged."""
    all_of = (found.get((network, modification, data, method)) for modification in NETWORKS[method])
    return next((estimate for estimate in all_of if estimate), None)


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
    yield "IDD: ODIN < Mutual Information", "deeplab", "three-wheeler", order
    for other in ("var-sum", "mahalanobis", "confidence"):
        text = f"IDD: Mutual Information is the best: {other} < Mutual Information"
        yield text, "deeplab", "three-wheeler", [other, "mutual-information"]
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


def rows(found, network):
    """A line for each method on each of its networks that was judged."""
    for method, modifications in NETWORKS.items():
        for modification in modifications:
            row = [found.get((network, modification, data, method)) for data in SETS]
            if any(row):
                yield f"| `{method}` | {modification} | " + " | ".join(map(number, row)) + " |"


def page(found):
    lines = ["# Order of the methods, beside what the paper says", ""]
    lines += ["AUROC of exact pixels with 95 % intervals that resample images; written by `studies/pixels/order.py`."]
    for network in ("pspnet", "deeplab"):
        lines += ["", f"## {network}", "", "| method | network | " + " | ".join(SETS) + " |"]
        lines += ["|---" * (len(SETS) + 2) + "|", *rows(found, network)]
    lines += ["", "## Statements of the paper", "", "| network | statement | here | holds |", "|---|---|---|---|"]
    for text, network, data, methods in statements():
        values = [of(found, network, data, method) for method in methods]
        if None not in values:
            here = ", ".join(f"{value[0]:.3f}" for value in values)
            lines.append(f"| {network} | {text} | {here} | {verdict(values)} |")
    for data in ("normal-noise", "perlin"):
        values = [of(found, network, data, "confidence") for network in ("pspnet", "deeplab")]
        if None not in values:
            text = f"{SETS[data]}: Confidence on PSPNet < on DeepLabV3+"
            lines.append(f"| both | {text} | {values[0][0]:.3f}, {values[1][0]:.3f} | {verdict(values)} |")
    return "\n".join(lines) + "\n"


def write(folder):
    (folder / "order.md").write_text(page(read(folder)))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
