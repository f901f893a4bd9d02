"""Writes the tables of `NOTE.md` and `README.md` and the figure from the CSV files beside it.

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
SETS = {"pi0": "π0, LIBERO-10", "groot": "GR00T, RoboCasa", "pi05": "π0.5, RoboCasa"}
AT = "physics_info.state.end_effector_position_absolute"
#: Signals of the note, with their names in each set; ActProbe's names, or those of the coordinates.
FIELD = {
    "clock": {},
    "task-prior": {},
    "random": {},
    "reversals of height": {"groot": f"reversals({AT}[2])", "": "reversals(eef_z)"},
    **{name: {} for signal in ("chunk_mse", "denoising_curvature", "action_jerk", "action_norm", "gripper_oscillation")
       for name in (signal, f"mean({signal})")},
    "height": {"groot": f"{AT}[2]", "": "eef_z"},
    "gripper's opening": {"groot": "physics_info.state.gripper_qpos[0]", "": "gripper_qpos_mean"},
    "mean(eef_speed_3d)": {},
    "mean(eef_z_vel)": {},
    "mean(gripper_qpos_vel)": {},
}  # fmt: skip
#: Rows of the table of signals of `README.md`.
SIGNALS = [*BASELINES, "chunk_mse", "max(chunk_mse)", "mean(chunk_mse)", "ewma(chunk_mse)", "sum(chunk_mse)", "chunk_mse_mmd",
           "mean(chunk_mse_mmd)", "-action_norm", "-mean(action_norm)", "mean(action_jerk)", "mean(denoising_curvature)"]  # fmt: skip
LEARNED = ["clock", "task-prior", "mean(chunk_mse)", "actprobe", "hazard", "odds(hazard,actprobe)",
           "hazard(chunk_mse,denoising_curvature)"]  # fmt: skip
FIGURE = "studies/generative/clock.svg"
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
    """Some detectors of π0 at the same task and step, and whole."""
    for detector in SIGNALS:
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


def everywhere(found, split, detectors):
    """Detectors by their names in each set: over whole rollouts, at a quarter, and at the same task and step."""
    for label, names in detectors.items():
        row = [f"`{label}`" if not names else label]
        for key, results in found.items():
            detector = names.get(key, names.get("", label))
            row += [results.show(split, detector, metric) for metric in ("whole", "task-max 0.25", "landmark pairs")]
        yield row


def bounds():
    """Other forms and fewer failures, by pairs."""
    rows = tidy.Rows(tidy.read(HERE / "bounds.csv")).only(metric="pairs")
    for detector in rows.values("detector"):
        found = {row["set"]: row for row in rows.only(detector=detector)}
        cell = lambda row: f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        yield [detector, *(cell(found[key]) if key in found else "–" for key in SETS)]


def draw(found):
    """From whole rollouts (circles) to the same task and step (dots with intervals)."""
    drawn, axes = tidy.figure(FIGURE, height=3.6)
    axes.remove()
    panels = drawn.subplots(1, len(found), sharey=True)
    labels = [label for label in FIELD if label != "random"]
    for axes, (key, results) in zip(panels, found.items(), strict=True):
        for y, label in enumerate(labels):
            detector = FIELD[label].get(key, FIELD[label].get("", label))
            whole, same = (results.rows.only(detector=detector, metric=m) for m in ("whole", "landmark pairs"))
            if not whole:
                continue
            x, (value, low, high) = whole[0]["value"], (same[0][column] for column in ("value", "low", "high"))
            axes.plot([x, value], [y, y], color="lightgrey", linewidth=1, zorder=0)
            axes.plot(x, y, "o", markerfacecolor="white", color="tab:red", markersize=4)
            axes.errorbar(value, y, xerr=[[value - low], [high - value]], fmt=".", color="tab:blue", linewidth=1)
        axes.axvline(0.5, linewidth=0.6, linestyle=":", color="grey")
        axes.set(title=SETS[key], xlim=(0.3, 1.02), xlabel="AUC")
    panels[0].set_yticks(range(len(labels)), labels, fontsize=7)
    panels[0].invert_yaxis()
    tidy.save(drawn, FIGURE)


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
    everything, splits, ten, crossed = (Results(name) for name in ("pi0", "splits", "ten", "crossed"))
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
    fill("README.md", parts)
    sets = {key: Results(key) for key in SETS}
    folds = {key: Results(f"{key}-folds") for key in SETS}
    columns = [f"{of.split(',')[0]}: {metric}" for of in SETS.values() for metric in ("whole", "¼", "same step")]
    parts = {
        "FIELD": table(["signal", *columns], everywhere(sets, "all", FIELD)),
        "LEARNED": table(["detector", *columns], everywhere(folds, "folds:5", dict.fromkeys(LEARNED, {}))),
        "BOUNDS": table(["detector", *SETS.values()], bounds()),
    }
    if "--check" not in sys.argv:
        draw(sets)
    fill("NOTE.md", parts)


def fill(name, parts):
    """Writes tables between the comments that name them."""
    page = HERE / name
    text = page.read_text()
    for name, body in parts.items():
        pattern = re.compile(f"<!-- {name} -->\n.*?<!-- /{name} -->", re.S)
        assert pattern.search(text), f"{page.name} has no place for {name}"
        text = pattern.sub(lambda _, name=name, body=body: f"<!-- {name} -->\n{body}\n<!-- /{name} -->", text)
    tidy.write(page, text)


if __name__ == "__main__":
    main()
