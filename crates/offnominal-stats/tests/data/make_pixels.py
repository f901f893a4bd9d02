"""Makes scikit_learn_pixels.json: pixel metrics of small images, with ties and ignored pixels, by scikit-learn.

Labels: 0 known, 1 unknown, 2 ignored. Scores are single-precision numbers.
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.metrics import average_precision_score, f1_score, jaccard_score, roc_auc_score, roc_curve


def fpr95(labels, scores):
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    return fpr[np.argmax(tpr >= 0.95)]


def best(metric, labels, scores):
    return max(metric(labels, scores >= t) for t in np.unique(scores))


def case(labels, scores):
    labels, scores = np.asarray(labels), np.asarray(scores, dtype=np.float32)
    y, s = labels[labels < 2], scores[labels < 2]
    want = [roc_auc_score(y, s), average_precision_score(y, s), fpr95(y, s), best(jaccard_score, y, s), best(f1_score, y, s)]
    return {"scores": [float(v) for v in scores], "labels": [int(v) for v in labels], "want": [float(v) for v in want]}


def cases():
    rng = np.random.default_rng(0)
    yield case([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    yield case([0, 1, 2], [0.5, 0.5, 0.9])
    yield case([1, 0, 0], [-0.0, 0.0, -1e-30])
    for n in (6, 40, 150):
        for levels in (2, 7, 10**6):
            for share in (0.05, 0.4):
                labels = rng.choice(3, n, p=[0.9 - share, share, 0.1])
                labels[:2] = [0, 1]
                yield case(labels, rng.integers(0, levels, n) / levels - 0.3 + 0.2 * (labels == 1))


json.dump({"made_with": {"scikit-learn": sklearn.__version__, "numpy": np.__version__}, "cases": list(cases())}, sys.stdout)
