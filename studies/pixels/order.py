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


def verdict(low, high):
    """Whether the second method of a pair is better, as the statement says."""
    return "yes" if low > 0 else "no" if high < 0 else "undecided"


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
    return "\n".join(lines) + "\n"


def said(folder):
    """The paper's statements, each as differences of methods that should follow one another: `statements.py` makes them."""
    lines = ["", "## Statements of the paper", ""]
    lines += ["Differences of AUROC with 95 % intervals that resample images, those of both methods together."]
    lines += ["", "| network | statement | second less first | holds |", "|---|---|---|---|"]
    for row in csv.DictReader((folder / "statements.csv").read_text().splitlines()):
        value, low, high = (float(row[key]) for key in ("difference", "low", "high"))
        pair = f"`{row['first']}` < `{row['second']}`"
        lines.append(f"| {row['network']} | {row['statement']}: {pair} | {value:+.3f} [{low:+.3f}, {high:+.3f}] | {verdict(low, high)} |")
    verdicts = [line.rsplit(" | ", 1)[1].rstrip(" |") for line in lines if line.startswith(("| pspnet", "| deeplab", "| both"))]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in ("yes", "no", "undecided"))
    return "\n".join([*lines, "", f"Of {len(verdicts)} differences: {counts}."]) + "\n"


def removed(folder):
    """What opening the maps brings to each method, over sets and networks."""
    found = {}
    for row in csv.DictReader((folder / "boundaries.csv").read_text().splitlines()):
        found.setdefault((row["method"], int(row["square"])), []).append([float(row[key]) for key in ("difference", "low", "high")])
    lines = ["", "## Without the boundaries of classes", ""]
    lines += ["The AUROC that an erosion and a dilation of the score map bring, over both networks and five sets."]
    lines += ["", "| method | square | mean | least and most | better, worse (interval apart from 0), of |", "|---|---|---|---|---|"]
    for (method, square), rows_of in sorted(found.items()):
        gains = [row[0] for row in rows_of]
        better, worse = sum(row[1] > 0 for row in rows_of), sum(row[2] < 0 for row in rows_of)
        mean = sum(gains) / len(gains)
        lines.append(f"| `{method}` | {square} | {mean:+.4f} | {min(gains):+.3f}, {max(gains):+.3f} | {better}, {worse}, {len(gains)} |")
    return "\n".join(lines) + "\n"


def write(folder):
    text = page(read(folder))
    text += said(folder) if (folder / "statements.csv").exists() else ""
    text += removed(folder) if (folder / "boundaries.csv").exists() else ""
    (folder / "order.md").write_text(text)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
