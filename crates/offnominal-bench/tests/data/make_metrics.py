"""Makes metrics.csv, scores with ties in shuffled rows, and metrics.json, its metrics by scikit-learn."""

import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

here = Path(__file__).parent
rng = np.random.default_rng(1)


def metrics(labels, scores):
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    return np.array([roc_auc_score(labels, scores), average_precision_score(labels, scores), fpr[np.argmax(tpr >= 0.95)]])


rows, local, pooled = [], [], []
for episode in range(8):
    length, onset = rng.integers(15, 40), rng.integers(2, 12)
    labels = (np.arange(length) >= onset).astype(int) if episode < 7 else np.zeros(length, int)
    scores = np.round(rng.normal(size=length) + 0.8 * labels, 1)
    rows += [f"ep-{episode},{t},{scores[t]!r},{labels[t]},{t * 0.05:.2f}" for t in range(length)]
    pooled.append((labels, scores))
    if labels.any():
        local.append(metrics(labels, scores))

rows = [row.replace("np.float64(", "").replace(")", "") for row in rows]
rng.shuffle(rows)
(here / "metrics.csv").write_text("episode,step,score,label,secs\n" + "\n".join(rows) + "\n")
names = ["auroc", "aupr", "fpr95"]
found = dict(zip([f"{n}_global" for n in names], metrics(*map(np.concatenate, zip(*pooled))).tolist()))
found |= dict(zip([f"{n}_local" for n in names], np.mean(local, axis=0).tolist()))
text = {"made_with": {"scikit-learn": sklearn.__version__, "numpy": np.__version__}, "metrics": found}
(here / "metrics.json").write_text(json.dumps(text, indent=2) + "\n")
