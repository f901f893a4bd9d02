"""How much a detector could know: a classifier that is told the fault, in the cells where all detectors are poor.

    python3 studies/oracle/run.py [--below AUROC] [--cell ENV/ANOMALY/STRENGTH,…]

A cell is poor if no detector of `studies/vector` has a time-matched AUROC of --below there (default .8). In each poor cell the
classifier learns from 200 episodes with that fault at that strength and their nominal twins (gradient boosting of trees,
scikit-learn's defaults but for 300 rounds of 31 leaves), and is judged on 100 others by the same time-matched AUROC. It sees, at
each step:

- the observation before the step, the action, and the change of the observation;
- the error of a regression of that change on observation and action (quadratic, fitted on the nominal twins of the training
  episodes), exponentially weighted means of the error with the rates .3, .1 and .03, and of its square with the rate .1;
- the mean of the error since the episode began.

No detector has this: it is a bound on what can be asked of one, from below, because another classifier may do better. The
interval is that of a bootstrap over episodes (1,000 replicates). Rows that are there are not made again. `page.py` makes
`README.md`. Needs the Python package, scikit-learn and pandas.
"""

import argparse
import csv
import pathlib

import numpy as np
import pandas
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import offnominal

HERE = pathlib.Path(__file__).resolve().parent
VECTOR = HERE.parent / "vector"
FOUND = HERE / "found.csv"
BASELINES = ["clock", "random"]
TRAIN, TEST = 200, 100
SEEDS = {TRAIN: 6001, TEST: 6002}
REPLICATES = 1000
RATES = [0.3, 0.1, 0.03]


def poor_cells(below):
    """Cells in which every detector is below."""
    tables = [pandas.read_parquet(path) for path in sorted(VECTOR.glob("*.parquet"))]
    rows = pandas.concat(tables, ignore_index=True)
    rows = rows[(rows.policy == "tqc") & (rows.metric == "auroc_matched") & (rows.anomaly_class != "none")]
    rows = rows[~rows.detector.isin(BASELINES)].dropna(subset=["value"])
    cells = []
    for cell, own in rows.groupby(["env", "anomaly", "strength"]):
        if own.value.max() < below:
            cells.append(cell)
    return cells


def played(env, anomaly, strength, episodes):
    """Disturbed episodes, each with its twin and the steps that both have after the onset."""
    found = offnominal.collect(env, "tqc", episodes=episodes, seed=SEEDS[episodes], anomaly=anomaly, strength=strength)
    pairs = []
    for i, twin in enumerate(found.twins):
        if twin is None:
            continue
        labels = np.asarray(found[i].labels, dtype=bool)
        both = min(len(labels), len(found[twin].actions))
        pairs.append((found[i], found[twin], np.flatnonzero(labels[:both])))
    return pairs


def means(values, rate):
    """Exponentially weighted means along the steps, without the bias of their start."""
    out, total, weight = np.empty_like(values), np.zeros(values.shape[1]), 0.0
    for t, value in enumerate(values):
        total, weight = (1 - rate) * total + value, (1 - rate) * weight + 1
        out[t] = total / weight
    return out


def features(episode, model):
    """What the classifier sees at each step."""
    obs = np.asarray(episode.observations, dtype=np.float64)
    actions = np.asarray(episode.actions, dtype=np.float64)
    change = np.diff(obs, axis=0)
    error = change - model.predict(np.hstack([obs[:-1], actions]))
    since = np.cumsum(error, axis=0) / np.arange(1, len(error) + 1)[:, None]
    past = [means(error, rate) for rate in RATES]
    return np.hstack([obs[:-1], actions, change, error, *past, means(error**2, RATES[1]), since]).astype(np.float32)


def regression(pairs):
    """The change of the observation by observation and action, in nominal episodes."""
    inputs, changes = [], []
    for _, twin, _ in pairs:
        obs = np.asarray(twin.observations, dtype=np.float64)
        inputs.append(np.hstack([obs[:-1], np.asarray(twin.actions, dtype=np.float64)]))
        changes.append(np.diff(obs, axis=0))
    inputs, changes = np.vstack(inputs), np.vstack(changes)
    keep = np.random.default_rng(0).permutation(len(inputs))[:20_000]
    return make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge(1e-2)).fit(inputs[keep], changes[keep])


def matched(pairs):
    """Steps after the onset against those of the twins at the same times."""
    positive, negative = (np.concatenate(side) for side in zip(*pairs))
    labels = np.repeat([1, 0], [len(positive), len(negative)])
    return roc_auc_score(labels, np.concatenate([positive, negative]))


def judged(env, anomaly, strength):
    """The AUROC of the classifier, with its interval."""
    train, test = played(env, anomaly, strength, TRAIN), played(env, anomaly, strength, TEST)
    model = regression(train)
    sides = [np.vstack([features(pair[side], model)[pair[2]] for pair in train]) for side in (0, 1)]
    labels = np.repeat([1, 0], [len(side) for side in sides])
    trees = HistGradientBoostingClassifier(max_iter=300, random_state=0).fit(np.vstack(sides), labels)
    of = [tuple(trees.decision_function(features(pair[side], model))[pair[2]] for side in (0, 1)) for pair in test]
    of = [pair for pair in of if len(pair[0])]
    rng = np.random.default_rng(0)
    drawn = [matched([of[i] for i in rng.integers(len(of), size=len(of))]) for _ in range(REPLICATES)]
    return matched(of), *np.quantile(drawn, [0.025, 0.975])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--below", type=float, default=0.8)
    parser.add_argument("--cell", default="")
    asked = parser.parse_args()
    cells = poor_cells(asked.below)
    if asked.cell:
        cells = [cell for cell in cells if "/".join(cell) in asked.cell.split(",")]
    there = set()
    if FOUND.exists():
        with FOUND.open(newline="") as file:
            there = {(row["env"], row["anomaly"], row["strength"]) for row in csv.DictReader(file)}
    for env, anomaly, strength in cells:
        if (env, anomaly, strength) in there:
            continue
        found, low, high = judged(env, anomaly, strength)
        is_new = not FOUND.exists()
        with FOUND.open("a", newline="") as file:
            writer = csv.writer(file)
            if is_new:
                writer.writerow(["env", "anomaly", "strength", "oracle", "low", "high"])
            numbers = [f"{x:.4f}" for x in (found, low, high)]
            writer.writerow([env, anomaly, strength, *numbers])
        print(env, anomaly, strength, *numbers, flush=True)


if __name__ == "__main__":
    main()
