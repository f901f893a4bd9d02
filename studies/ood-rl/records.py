"""Records of the suite: one policy in one variant, judged by one measure, out of the rows of its results."""

import math
import pathlib

import tidy

#: The sentences of the page.
TEXT = tidy.sentences(pathlib.Path(__file__).with_name("text.txt"))

#: The measure in which the tables of the publication are made again.
MAIN = "mean-sd"
#: What makes a policy disagree with itself, with its name in the publication; those from the prior ensemble on are not in it.
METHODS = {
    "dropout": "MC-Dropout",
    "dropconnect": "MC-DropConnect",
    "ensemble": "Ensemble",
    "prior": "Prior ensemble",
    "augmented-dropout": "MC-Dropout, augmented",
    "augmented-dropconnect": "MC-DropConnect, augmented",
    "augmented-ensemble": "Ensemble, augmented",
}
#: The names of metrics in records.
METRICS = {"auroc_global": "auroc", "auroc_matched": "auroc_matched", "return": "mean_return"}
MEASURES = ["mean-sd", "max-sd", "greedy-sd", "best-sd", "centred-sd", "relative-sd", "vote-entropy", "entropy",
            "mutual-information", "raw-sd"]


class Records(tidy.Rows):
    """Some of the records."""

    def of(self, env, method, measure):
        """Those of an environment and a method, by one measure."""
        return self.only(env=env, method=method, detector=measure)

    def only(self, *tests, **values):
        """As that of rows."""
        return Records(super().only(*tests, **values)) if tests else super().only(**values)

    def _with(self, key, values):
        found = super()._with(key, values)
        return found if isinstance(found, Records) else Records(found)

    def trials(self, env, method, anomaly, magnitude):
        """Those of one variant over the trials."""
        return self.of(env, method, MAIN).only(lambda r: abs(r["magnitude"] - magnitude) < 1e-9, anomaly=anomaly)

    def methods(self, env):
        """The methods whose policies played in an environment."""
        there = self.only(env=env).values("method")
        return [method for method in METHODS if method in there]

    def measures(self):
        """The measures of disagreement."""
        there = self.values("detector")
        return [measure for measure in MEASURES if measure in there]

    def variants(self, env):
        """The variants of an environment: anomaly and magnitude, in the order of the suite."""
        own = self.only(lambda row: row["anomaly"] != "none", env=env)
        return list(dict.fromkeys((row["anomaly"], row["magnitude"]) for row in own))


def records(path):
    """The records of a table of results."""
    found = {}
    keys = ["env", "method", "trial", "anomaly", "magnitude", "detector"]
    for row in tidy.read(path):
        own = found.setdefault(tuple(row[key] for key in keys), row | dict.fromkeys(METRICS.values()))
        if name := METRICS.get(row["metric"]):
            own[name], own[f"{name}_low"], own[f"{name}_high"] = row["value"], row["low"], row["high"]
    return Records(found.values())


def mean_sd(values):
    """Mean and sample standard deviation (n − 1); the latter is 0 for a single value."""
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1))


def numbers(rows, key="auroc"):
    """A number of the records that have it."""
    return [row[key] for row in rows if row[key] is not None]


def by_trial(rows, key):
    """The mean of a number over the records of each trial, in the order of the trials."""
    trials = {}
    for row in rows:
        trials.setdefault(row["trial"], []).append(row)
    found = [numbers(trials[trial], key) for trial in sorted(trials)]
    return [mean_sd(values)[0] for values in found if values]


def share(value):
    """Three decimals without the zero before them; a dash where there is nothing."""
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def spread(values):
    """Mean ± deviation."""
    if not values:
        return "–"
    mean, sd = mean_sd(values)
    return share(mean) if len(values) == 1 else f"{share(mean)} ± {share(sd)}"


def words(anomaly, magnitude):
    """A variant in words."""
    name = anomaly.removeprefix("dyn-").removeprefix("img-").replace("-", " ")
    unit = "severity " if anomaly.startswith("img-") else ""
    return f"{name} {unit}{f'{magnitude:.4f}'.rstrip('0').rstrip('.')}"


def table(head, rows):
    """A table; all columns but the first to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)
