"""Tables and figures from tidy rows: what the pages of the studies are made with.

A row is one number: the columns that say what it is of, and `value`, `low`, `high`. `Rows` chooses among them and sums
them up; `table` and the functions after it write Markdown; `boxes` and `curves` draw SVG. Needs pyarrow and SciPy, and for figures
Matplotlib.

The 95 % interval of a mean over cells is the envelope of two: that between clusters (environment and anomaly; mean ± t s with
the cluster-robust standard error), and the mean of the cells' own limits. With fewer than three clusters only the second is
known. That of a median takes the order statistics of the clusters' medians.
"""

import csv
import json
import math
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAN = math.nan
ANY = (-math.inf, math.inf)
SHARE = (0.0, 1.0)
#: What is to be known where some tables are older than the exact bounds of equal values.
OLDER = (
    "Some tables are older than the exact bounds that a cell gets in which all episodes gave the same number; there such a cell has an "
    "interval of no width.\n"
)


def read(path):
    """The rows of a table, CSV or Parquet, as dictionaries; what can be a number is one."""
    path = pathlib.Path(path)
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        return parquet.read_table(path).to_pylist()
    with path.open(newline="") as file:
        return [{key: number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def number(text):
    """A cell of CSV as a number, if it is one; else the text, without the mark that keeps spreadsheets from computing it."""
    try:
        return float(text)
    except ValueError:
        return text.removeprefix("'")


class Rows(list):
    """Some of the rows of a table."""

    def only(self, *tests, **values):
        """Those with these values (a collection: one of them) that pass all tests."""
        rows = self
        for key, value in values.items():
            rows = rows._with(key, value if isinstance(value, list | tuple) else [value])
        return Rows(row for row in rows if all(test(row) for test in tests)) if tests else rows

    def _with(self, key, values):
        """Those that have one of some values in a column, found by an index that is kept."""
        kept = self.__dict__.setdefault("kept", {})
        if key not in kept:
            index = kept[key] = {}
            for row in self:
                index.setdefault(row[key], Rows()).append(row)
        found = [kept[key][value] for value in values if value in kept[key]]
        return found[0] if len(found) == 1 else Rows(row for rows in found for row in rows)

    def metric(self, metric, rule=""):
        """Those of a metric, at an alarm rule if it needs one."""
        return self.only(metric=metric, threshold=rule)

    def values(self, key):
        """The different values of a column, in order of appearance."""
        return list(dict.fromkeys(row[key] for row in self))

    def points(self, metric, rule=""):
        """(value, low, high, cluster) of a metric in every cell."""
        return [
            (r["value"], r["low"], r["high"], (r["env"], r["policy"], r["anomaly"])) for r in self.metric(metric, rule)
        ]

    def mean(self, metric, rule="", within=SHARE):
        """Mean over the cells, with its interval."""
        return mean(self.points(metric, rule), within)

    def median(self, metric, rule=""):
        """Median over the cells, with its interval."""
        return median(self.points(metric, rule))

    def against(self, other, metric, rule=""):
        """Differences of a metric to that of other rows in the same cells, as points."""
        others = {cell(r): r["value"] for r in other.metric(metric, rule)}
        own = self.metric(metric, rule)
        return [
            (r["value"] - others[cell(r)], NAN, NAN, cell(r)[:3]) for r in own if cell(r) in others
        ]


def cell(row):
    """Where a number is of."""
    return row["env"], row["policy"], row["anomaly"], row["strength"]


def mean(points, within=ANY):
    """Mean of the finite values with its interval, clipped to a range; None without any."""
    points = [p for p in points if math.isfinite(p[0])]
    if not points:
        return None
    value = sum(p[0] for p in points) / len(points)
    known = [p for p in points if math.isfinite(p[1]) and math.isfinite(p[2])]
    ends = [between_clusters(points, value)]
    if known:
        ends.append((sum(p[1] for p in known) / len(known), sum(p[2] for p in known) / len(known)))
    ends = [end for end in ends if not math.isnan(end[0])] or [(NAN, NAN)]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    return value, clip(low, within), clip(high, within)


def clip(x, within):
    """A number within a range; NaN stays."""
    return x if math.isnan(x) else min(max(x, within[0]), within[1])


def between_clusters(points, value):
    """The interval that the spread between clusters gives; NaN for fewer than three."""
    from scipy.stats import t

    residuals = {}
    for x, _, _, cluster in points:
        residuals[cluster] = residuals.get(cluster, 0.0) + x - value
    n = len(residuals)
    if n < 3:
        return NAN, NAN
    error = math.sqrt(n / (n - 1) * sum(r * r for r in residuals.values())) / len(points)
    reach = t.ppf(0.975, n - 1) * error
    return value - reach, value + reach


def median(points):
    """Median with the interval of the clusters' medians, where infinity means "not reached"; None without any."""
    from scipy.stats import binom

    clusters = {}
    for x, _, _, cluster in points:
        if not math.isnan(x):
            clusters.setdefault(cluster, []).append(x)
    if not clusters:
        return None
    value = middle([x for values in clusters.values() for x in values])
    medians = sorted(middle(values) for values in clusters.values())
    n = len(medians)
    ranks = [r for r in range(1, n + 1) if binom.cdf(r - 1, n, 0.5) <= 0.025]
    low, high = (medians[ranks[-1] - 1], medians[n - ranks[-1]]) if ranks else (0.0, math.inf)
    return value, min(low, value), max(high, value)


def middle(values):
    """The median of numbers, also of infinite ones."""
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return low if low == high else 0.5 * (low + high)


def share(n, of):
    """A share of counts with its exact interval (Clopper and Pearson); None of nothing."""
    from scipy.stats import beta

    if of == 0:
        return None
    low = 0.0 if n == 0 else beta.ppf(0.025, n, of - n + 1)
    high = 1.0 if n == of else beta.ppf(0.975, n + 1, of - n)
    return n / of, low, high


def two(x):
    """Two decimals, as published tables have them."""
    return "–" if math.isnan(x) else "∞" if math.isinf(x) else f"{x:.2f}"


def estimate(found):
    """A value with its interval, two decimals."""
    return "–" if found is None else f"{two(found[0])} [{two(found[1])}, {two(found[2])}]"


def signed(found):
    """A difference with its interval."""
    return "–" if found is None else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*found)


def percent(x):
    """A share in per cent."""
    return f"{100 * x:.1f} %"


def code(names):
    """Names as code, with commas between."""
    return ", ".join(f"`{name}`" for name in names)


def table(head, rows):
    """A table of text."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def table_of(items, columns):
    """A table with a row per item; a column is a title and what makes the cell of an item."""
    return table([title for title, _ in columns], [[cell(item) for _, cell in columns] for item in items])


class Suite:
    """The results that `offnominal bench --suite` left in a folder, environment by environment."""

    def __init__(self, folder, order):
        """Reads the environments of a list that are there, in its order."""
        self.folder = pathlib.Path(folder)
        there = [env for env in order if (self.folder / f"{env}.json").is_file()]
        self.environments = [json.loads((self.folder / f"{env}.json").read_text()) for env in there]
        self.missing = [env for env in order if env not in there]
        self.rows = Rows(row for env in there for row in read(self.folder / f"{env}.parquet"))
        self.diagnoses = Rows()
        for env in there:
            if (file := self.folder / f"{env}.diagnosis.parquet").is_file():
                self.diagnoses.extend(read(file))

    def detectors(self):
        """The detectors, in the order of the campaigns."""
        return list(dict.fromkeys(name for env in self.environments for name in env["detectors"]))

    def everywhere(self):
        """Those of them that were run in every environment, so that their means are over the same cells."""
        return [name for name in self.detectors() if all(name in env["detectors"] for env in self.environments)]

    def left_out(self):
        """A sentence that names the others."""
        some = [name for name in self.detectors() if name not in self.everywhere()]
        return f" Not in the table, because not run in every environment: {code(some)}." if some else ""

    def anomalies(self, policy):
        """The rows of anomalies under a policy."""
        return self.rows.only(lambda row: row["anomaly_class"] != "none", policy=policy)

    def control(self, policy):
        """The rows of nominal episodes that are judged as if they were anomalous."""
        return self.rows.only(policy=policy, anomaly_class="none")

    def coverage(self, **values):
        """What was counted of alarms in fresh nominal episodes."""
        return Rows(row for env in self.environments for row in env["coverage"]).only(**values)

    def measured(self, strengths, *policies):
        """A sentence that says how many of the requested cells were measured, with the way to the page on strengths."""
        requested = self.rows.only(lambda row: row["anomaly_class"] != "none", policy=policies)
        cells = {cell(row) for row in requested}
        done = {cell(row) for row in requested if math.isfinite(row["value"])}
        what = f"environment, {'policy, ' if len(policies) > 1 else ''}anomaly and strength"
        there, of = len(self.environments), len(self.environments) + len(self.missing)
        few = "" if len(done) == len(cells) else "; in the others no magnitude has that strength, or none was known"
        return (
            f"{there} of {of} environments {'has' if there == 1 else 'have'} results. Of {len(cells)} cells of {what} that were requested "
            f"there {len(done)} were measured{f'{few} ([strengths]({strengths}))' if few else ''}."
        )

    def commands(self):
        """The commands that made the results, one a line."""
        return "\n".join(env["made"]["command"] for env in self.environments)

    def lacking(self):
        """Sentences that name environments without results, and what is missing in those that have some."""
        missing = f"\nNot run yet, or without a policy or strengths: {code(self.missing)}." if self.missing else ""
        lacks = [env for env in self.environments if env["missing"]]
        return missing + "".join(f"\nIn {env['env']} there is no {' and no '.join(env['missing'])}." for env in lacks)


def within(cells):
    """The share of episodes with an alarm of some counts, with its exact interval, in words."""
    found = share(sum(c["alarms"] for c in cells), sum(c["watched"] for c in cells))
    return "–" if found is None else f"{percent(found[0])} [{100 * found[1]:.1f}, {100 * found[2]:.1f}]"


def sentences(path):
    """The parts of a file of Markdown, each named by the comment above it and followed by an empty line."""
    parts = re.split(r"^<!-- (\w+) -->\n", path.read_text(), flags=re.MULTILINE)[1:]
    return types.SimpleNamespace(**{name: text.removesuffix("\n") for name, text in zip(parts[::2], parts[1::2])})


def write(path, text):
    """Writes a page; with `--check` says whether it is as it was written, by the exit code."""
    path = ROOT / path
    if "--check" not in sys.argv:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path.relative_to(ROOT)} is old: python3 {pathlib.Path(sys.argv[0]).resolve().relative_to(ROOT)} writes it")


def figure(path, width=7.0, height=3.0):
    """A figure of Matplotlib and its axes; `save` writes it with the same bits each time."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": path, "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plot

    return plot.subplots(figsize=(width, height), layout="constrained")


def save(drawn, path):
    """Writes a figure as SVG."""
    drawn.savefig(ROOT / path, metadata={"Date": None})


def boxes(path, title, groups, axis=(0.3, 1.0), reference=0.5):
    """Distributions: whiskers from 5 to 95 %, boxes from 25 to 75 %, a line at the median, a triangle at the mean."""
    drawn, axes = figure(path, height=0.6 + 0.24 * len(groups))
    names, values = [name for name, _ in groups], [values for _, values in groups]
    axes.boxplot(values, orientation="horizontal", whis=(5, 95), showfliers=False, showmeans=True, tick_labels=names)
    axes.axvline(reference, linewidth=0.6, linestyle=":", color="grey")
    axes.set(title=title, xlim=axis)
    axes.invert_yaxis()
    save(drawn, path)


def curves(path, title, labels, lines, logarithmic=False, limits=None):
    """Lines with their intervals; a line is its name and its points (x, value, low, high)."""
    drawn, axes = figure(path)
    for name, points in lines:
        x, value, low, high = zip(*points)
        (line,) = axes.plot(x, value, marker=".", label=name)
        axes.fill_between(x, low, high, alpha=0.15, color=line.get_color(), linewidth=0)
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1], ylim=limits)
    if logarithmic:
        axes.set_xscale("log")
    axes.legend(fontsize=7)
    save(drawn, path)
