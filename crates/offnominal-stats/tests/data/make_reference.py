"""Makes scikit_learn.json: ranking metrics of small cases, with many ties, by scikit-learn."""

import json
import sys

import numpy as np
import sklearn
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve


def fpr95(labels, scores):
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    return float(fpr[np.argmax(tpr >= 0.95)])


def case(labels, scores):
    want = [roc_auc_score(labels, scores), average_precision_score(labels, scores), fpr95(labels, scores)]
    return {"scores": [float(s) for s in scores], "labels": [int(y) for y in labels], "want": [float(w) for w in want]}


def cases():
    rng = np.random.default_rng(0)
    yield case([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    yield case([0, 1], [0.5, 0.5])
    yield case([0, 1], [-0.0, 0.0])
    yield case([1, 0], [-1e300, 1e-300])
    yield case([1] * 20 + [0] * 20, list(range(20)) + [0.5] * 10 + [30.0] * 10)
    for n in (5, 20, 60, 200):
        for levels in (2, 5, 50, 10**9):
            for share in (0.1, 0.5):
                labels = (rng.random(n) < share).astype(int)
                labels[:2] = [0, 1]
                yield case(labels, rng.integers(0, levels, n) / levels - 0.3 + 0.2 * labels)


json.dump({"made_with": {"scikit-learn": sklearn.__version__, "numpy": np.__version__}, "cases": list(cases())}, sys.stdout)
