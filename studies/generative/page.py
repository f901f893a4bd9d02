"""Writes the tables of `README.md` from `all.csv`, `splits.csv`, `ten.csv` and `crossed.csv`.

python3 studies/generative/page.py
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tidy

HERE = pathlib.Path(__file__).resolve().parent
BASELINES = ["clock", "task-prior", "random"]
PROTOCOLS = ["whole", "task-max 0.25", "task-max 0.5", "task-max 0.75", "task-min 0.25", "episode 0.25"]
WEIGHTINGS = ["landmark pairs", "landmark cells", "landmark tasks"]


def table(head, rows):
    """A table of Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


class Results:
    """The rows of a file, found by split, detector and metric."""

    def __init__(self, name):
        self.rows = tidy.Rows(tidy.read(HERE / f"{name}.csv"))

    def detectors(self, split):
        """In the order of the file."""
        return self.rows.only(split=split).values("detector")

    def show(self, split, detector, metric, versus="", digits=3, sign=""):
        """A value with its interval; a dash if there is none."""
        of = self.rows.only(split=split, detector=detector, metric=metric, versus=versus)
        if not of:
            return "–"
        value, low, high = (format(of[0][column], f"{sign}.{digits}f") for column in ("value", "low", "high"))
        return f"{value} [{low}, {high}]"


def leaks(found, split):
    """What each protocol gives to rows that see nothing of the policy."""
    for protocol in [*PROTOCOLS, "landmark pairs"]:
        yield [
            protocol.replace("landmark pairs", "*landmark, by pairs*"),
            *(found.show(split, row, protocol) for row in BASELINES),
        ]


def signals(found):
    """Each detector of `all.csv` at the same task and step, and whole."""
    for detector in found.detectors("all"):
        yield [
            f"`{detector}`",
            *(found.show("all", detector, metric) for metric in WEIGHTINGS),
            found.show("all", detector, "landmark pairs, new tasks"),
            found.show("all", detector, "whole"),
        ]


def probes(found, split):
    """Each detector of a split, and how far it is from ActProbe."""
    for detector in found.detectors(split):
        yield [
            f"`{detector}`",
            found.show(split, detector, "landmark pairs"),
            found.show(split, detector, "landmark pairs", "actprobe", sign="+"),
            found.show(split, detector, "landmark pairs, new tasks", "actprobe", sign="+"),
            found.show(split, detector, "landmark tasks", "actprobe", sign="+"),
            found.show(split, detector, "task-max 0.25"),
        ]


def alarms(found, split):
    """Alarms of each detector, at equal false alarms and with a promise."""
    for detector in found.detectors(split):
        yield [
            f"`{detector}`",
            found.show(split, detector, "detected"),
            found.show(split, detector, "lead", digits=1),
            found.show(split, detector, "false alarms"),
            found.show(split, detector, "detected by promise"),
        ]


def probabilities(found):
    """Brier score and bias where the score is a probability."""
    for split in ["folds:5", "tasks:5"]:
        for detector in ["task-prior", "actprobe", "hazard", "odds(hazard,actprobe)"]:
            yield [
                split,
                f"`{detector}`",
                found.show(split, detector, "brier"),
                found.show(split, detector, "bias", sign="+"),
            ]


def main():
    everything, splits, ten, crossed = (Results(name) for name in ("all", "splits", "ten", "crossed"))
    head = ["detector", "landmark, by pairs", "less `actprobe`, by pairs", "new tasks", "by tasks", "task-max ¼"]
    early = ["detector", "detected", "lead, steps", "false alarms", "detected"]
    parts = {
        "LEAKS": table(["protocol", "`clock`", "`task-prior`", "`random`"], leaks(everything, "all")),
        "SIGNALS": table(
            ["detector", "by pairs", "by cells", "by tasks", "by pairs, new tasks", "whole"], signals(everything)
        ),
        "SEEN": table(head, probes(splits, "seen:0,1,2")),
        "UNSEEN": table(head, probes(splits, "unseen:0,1,2")),
        "TEN SEEN": table(head, probes(ten, "seen:0,1,2,3,4,5,6,7,8,9")),
        "TEN UNSEEN": table(head, probes(ten, "unseen:0,1,2,3,4,5,6,7,8,9")),
        "FOLDS": table(head, probes(crossed, "folds:5")),
        "TASKS": table(head, probes(crossed, "tasks:5")),
        "ALARMS": table(early, alarms(splits, "seen:0,1,2")),
        "FOLD ALARMS": table(early, alarms(crossed, "folds:5")),
        "PROBABILITIES": table(["split", "detector", "Brier", "bias"], probabilities(crossed)),
    }
    page = HERE / "README.md"
    text = page.read_text()
    for name, body in parts.items():
        pattern = re.compile(f"<!-- {name} -->\n.*?<!-- /{name} -->", re.S)
        assert pattern.search(text), f"README.md has no place for {name}"
        text = pattern.sub(lambda _, name=name, body=body: f"<!-- {name} -->\n{body}\n<!-- /{name} -->", text)
    tidy.write(page, text)


if __name__ == "__main__":
    main()
