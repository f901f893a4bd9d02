"""What bounds the landmark AUC of detectors that learn from these signals: other forms, more signals, fewer failures.

python3 studies/generative/bounds.py DATA

DATA is the folder `benchmarks` that `run.sh` reads, whose pickles are read by the engine and not executed. Needs scikit-learn.
Each rollout is scored once, by a model that learned from four fifths of the others (seed 0), and is compared with rollouts of
its own task and fifth only. Nothing is chosen: each form has the one setting below. Writes `bounds.csv`.
"""

import csv
import json
import pathlib
import sys
import tempfile

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from offnominal import rollouts

HERE = pathlib.Path(__file__).resolve().parent
SETS = {"pi0": "pi0_libero", "groot": "groot_robocasa", "pi05": "pi05_robocasa"}
FOLDS = 5
#: Rollouts that must run at a step for it to have its own scale.
FEWEST = 15
FORMS = {
    "logistic": lambda: LogisticRegression(C=1e-3, max_iter=200),
    "trees": lambda: HistGradientBoostingClassifier(
        max_iter=60, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=200, l2_regularization=10, random_state=0
    ),
}


def so_far(values):
    """The mean of each column up to each step."""
    return np.cumsum(values, 0) / np.arange(1, len(values) + 1)[:, None]


def history(values):
    """Mean and deviation so far, and the mean of the last five steps."""
    mean = so_far(values)
    deviation = np.sqrt(np.maximum(so_far(values**2) - mean**2, 0))
    recent = [values[max(0, t - 4) : t + 1].mean(0) for t in range(len(values))]
    return np.hstack([mean, deviation, recent])


class Steps:
    """All steps of all rollouts of a set, one after another."""

    def __init__(self, name, data, out):
        listed = (HERE / "data.sha256").read_text().split()[1::2]
        files = [data / path for path in listed if path.startswith(SETS[name]) and not path.endswith(".npy")]
        found = rollouts.signals(files, out=out, progress=False)
        lines = [json.loads(line) for line in pathlib.Path(found["file"]).read_text().splitlines()]
        self.signals = found["signals"]
        lengths = [len(line["steps"]) for line in lines]
        self.rollout = np.repeat(np.arange(len(lines)), lengths)
        self.step = np.concatenate([np.arange(n) for n in lengths])
        self.success = np.array([line["success"] for line in lines])
        tasks = sorted({line["task"] for line in lines})
        self.task = np.array([tasks.index(line["task"]) for line in lines])
        self.begins = np.cumsum(lengths)[:-1]
        of = lambda line: np.array([[step[name] for name in self.signals] for step in line["steps"]])
        self.values = [of(line) for line in lines]
        self.hidden = [np.array([step.get("embedding", []) for step in line["steps"]], np.float32) for line in lines]

    def inputs(self, names, form):
        """Features of every step, of these signals or all."""
        places = [self.signals.index(name) for name in names] or slice(None)
        return np.vstack([form(values[:, places]) for values in self.values])

    def folds(self, rng):
        """A fifth for each rollout, even within task and outcome."""
        fold = np.zeros(len(self.task), int)
        for task in range(self.task.max() + 1):
            for success in (True, False):
                of = np.flatnonzero((self.task == task) & (self.success == success))
                fold[rng.permutation(of)] = (np.arange(len(of)) + rng.integers(FOLDS)) % FOLDS
        return fold

    def standard(self, x, train, by_task):
        """In deviations from the training rollouts that run at the step, of the task or of all."""
        key = self.task[self.rollout] * by_task * 1000 + self.step
        z, scale = np.zeros_like(x), None
        for k in np.unique(key):
            at = key == k
            own = at & train
            if own.sum() >= FEWEST:
                scale = x[own].mean(0), x[own].std(0) + 1e-9, k // 1000
            if scale is not None and scale[2] == k // 1000:
                z[at] = np.clip((x[at] - scale[0]) / scale[1], -4, 4)
        return z

    def scores(self, fold, inputs, form, by_task, kept):
        """The score of each step by a model that has not seen its fifth, nor rollouts that are not kept."""
        cell, fails = self.task[self.rollout] * 1000 + self.step, ~self.success[self.rollout]
        scores = np.zeros(len(cell))
        for k in range(FOLDS):
            train = (fold != k)[self.rollout] & kept[self.rollout]
            x = self.standard(inputs(train), train, by_task)
            n = [np.bincount(cell[train & (fails == which)], minlength=cell.max() + 1)[cell] for which in (False, True)]
            # Every pair of a failure and a success at the same step counts once, as in the area.
            weight = np.where(fails, *n)
            use = train & (n[0] > 0) & (n[1] > 0)
            model = form().fit(x[use], fails[use], weight[use] / weight[use].mean())
            test = (fold == k)[self.rollout]
            scores[test] = model.decision_function(x[test])
        return scores

    def area(self, scores, fold):
        """By pairs within task and fifth."""
        parts = list(zip(self.task.tolist(), fold.tolist(), strict=True))
        return rollouts.landmark_auc(np.split(scores, self.begins), self.success, parts, replicates=2000)


def plans(steps):
    """What is tried: its name, inputs by training steps, form, whether scales are of the task, share of failures."""
    chunk = steps.inputs(["action_norm", "chunk_mse"], so_far)
    every, more = steps.inputs([], so_far), steps.inputs([], history)
    yield "logistic, two signals", lambda train: chunk, "logistic", False, 1.0
    yield "logistic, all signals", lambda train: every, "logistic", False, 1.0
    yield "logistic, all signals, history", lambda train: more, "logistic", False, 1.0
    for share in (0.25, 0.5, 1.0):
        label = "trees, all signals, history"
        yield label if share == 1 else f"{label}, {share:.0%} of failures", lambda train: more, "trees", False, share
    if steps.hidden[0].size:
        hidden = np.vstack([so_far(values) for values in steps.hidden])
        reduced = lambda train: PCA(16, random_state=0).fit(hidden[train]).transform(hidden)
        yield "logistic, hidden states", reduced, "logistic", True, 1.0
        both = lambda train: np.hstack([reduced(train), steps.inputs(["chunk_mse", "denoising_curvature"], so_far)])
        yield "logistic, hidden states, two signals", both, "logistic", True, 1.0


def main():
    data, rows = pathlib.Path(sys.argv[1]), []
    for name in SETS:
        with tempfile.TemporaryDirectory() as out:
            steps = Steps(name, data, out)
        rng = np.random.default_rng(0)
        fold, luck = steps.folds(rng), rng.random(len(steps.task))
        for label, inputs, form, by_task, share in plans(steps):
            kept = steps.success | (luck < share)
            found = steps.area(steps.scores(fold, inputs, FORMS[form], by_task, kept), fold)
            for metric, area in (("pairs", found.pairs), ("cells", found.cells), ("tasks", found.tasks)):
                rows.append([name, label, metric, *(round(x, 4) for x in (area.value, area.low, area.high))])
            print(name, label, rows[-3][3:], flush=True)
    with (HERE / "bounds.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["set", "detector", "metric", "value", "low", "high"], *rows])


if __name__ == "__main__":
    main()
