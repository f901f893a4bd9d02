"""Makes components.json: metrics of components of small images, by formulas on labels of scipy.

The formulas are those of SegmentMeIfYouCan (Chan et al. 2021, section 4, and its evaluation code): 8-connected components;
small true ones become ignored, then small predicted ones are dropped; sIoU leaves out what a prediction covers of other true
components; a false positive is a predicted component whose PPV is below the threshold. AUPRO is that of Bergmann et al.
(2020) over all true components, with a point at every distinct score.

Labels: 0 known, 1 unknown, 2 ignored. Scores are single-precision numbers.
"""

import json
import sys

import numpy as np
import scipy
from scipy.ndimage import gaussian_filter, label

EIGHT = np.ones((3, 3), int)


def components(labels, scores, threshold, least_predicted, least_truth):
    """The sIoU of each true component, and the PPV of each predicted one."""
    real, n = label(labels == 1, EIGHT)
    ignored = labels == 2
    for k in range(1, n + 1):
        if (real == k).sum() < least_truth:
            ignored |= real == k
            real[real == k] = 0
    predicted, m = label((scores >= threshold) & ~ignored, EIGHT)
    for k in range(1, m + 1):
        if (predicted == k).sum() < least_predicted:
            predicted[predicted == k] = 0
    siou = []
    for k in np.unique(real[real > 0]):
        one = real == k
        hat = np.isin(predicted, np.unique(predicted[one & (predicted > 0)]))
        others = hat & (real > 0) & ~one
        siou.append((one & hat).sum() / ((one | hat) & ~others).sum())
    ppv = [(real[predicted == k] > 0).mean() for k in np.unique(predicted[predicted > 0])]
    return siou, ppv


def mean_f1(siou, ppv):
    found = []
    for tau in np.linspace(0.25, 0.75, 11):
        tp, fn, fp = (siou >= tau).sum(), (siou < tau).sum(), (ppv < tau).sum()
        found.append(2 * tp / (2 * tp + fn + fp))
    return np.mean(found)


def aupro(images, limit=0.3):
    """Trapezoids below the mean overlap over the false positive rate, cut at the limit."""
    masks, known = [], np.concatenate([s[y == 0] for y, s in images])
    for y, s in images:
        real, n = label(y == 1, EIGHT)
        masks += [s[real == k] for k in range(1, n + 1)]
    at = np.unique(np.concatenate([s.ravel() for _, s in images]))[::-1]
    fpr = np.array([0] + [(known >= t).mean() for t in at])
    pro = np.array([0] + [np.mean([(m >= t).mean() for m in masks]) for t in at])
    end = np.interp(limit, fpr, pro)
    keep = fpr < limit
    return np.trapezoid(np.append(pro[keep], end), np.append(fpr[keep], limit)) / limit


def image(rng):
    shape = (24, 32)
    field = gaussian_filter(rng.normal(size=shape), 2)
    labels = (field > np.quantile(field, 0.88)).astype(int)
    labels[rng.random(shape) < 0.02] = 1
    labels[gaussian_filter(rng.normal(size=shape), 2) > 0.22] = 2
    noise = gaussian_filter(rng.normal(size=shape), 1.2)
    scores = (1.2 * field / field.std() + noise / noise.std()).astype(np.float32)
    return labels, np.round(scores * 16) / np.float32(16)


def case(rng, least):
    images = [image(rng) for _ in range(4)]
    pairs = [components(y, s, 1.5, *least) for y, s in images]
    siou, ppv = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    want = {"siou": siou.mean(), "ppv": ppv.mean(), "f1": mean_f1(siou, ppv), "aupro": aupro(images)}
    flat = [{"labels": y.ravel().tolist(), "scores": s.ravel().astype(float).tolist()} for y, s in images]
    return {"width": 32, "threshold": 1.5, "least": least, "images": flat, "want": {k: float(v) for k, v in want.items()}}


rng = np.random.default_rng(0)
cases = [case(rng, least) for least in ([1, 1], [3, 2], [12, 6])]
json.dump({"made_with": {"scipy": scipy.__version__, "numpy": np.__version__}, "cases": cases}, sys.stdout)
