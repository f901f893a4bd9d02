"""Asks detectors for alarms on recordings of real machines and of plants: `python judge.py --set ur3 --data FOLDER --out FILE.csv`.

The threshold is the k-th smallest of the largest scores of the calibration recordings, k = ⌈(n + 1)(1 − α)⌉, for ours and for
rivals alike. Found is a faulty recording with an alarm from its onset on. Of streams, only how well scores order rows is asked: the area
under precision and recall.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from rivals import RIVALS, Recording, Scorer
from scipy.stats import beta, t
from sets import Division, Stream, cmapss, cwru, nab, rfly, skab, tep, ur3
from sklearn.metrics import average_precision_score
from vus.metrics import get_metrics
from vus.utils.slidingWindows import find_length

from offnominal import detectors

ALPHA = 0.05

#: Ours, with their defaults; a clock, which knows nothing but the length.
OURS: dict[str, Callable[[], detectors.Detector]] = {
    "clock": detectors.Clock,
    "mewma": detectors.Mewma,
    "dpca": detectors.Dpca,
    "residual-views": detectors.ResidualViews,
    "panel": detectors.Panel,
}


def ours(make: Callable[[], detectors.Detector]) -> Callable[[list[Recording]], Scorer]:
    """A detector of this package; a recording is an episode of observations without actions."""

    def episode(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
        rows = np.concatenate([recording[:1], recording]) - reference
        return rows.astype(np.float32), np.zeros((len(recording), 0), np.float32)

    def fit(train: list[Recording]) -> Scorer:
        nonlocal reference
        reference = np.concatenate(train).mean(axis=0)
        fitted = make().fit([episode(r) for r in train], progress=False)
        return lambda r: np.asarray(fitted.score(episode(r)))

    reference = np.zeros(1)
    return fit


def threshold(largest: np.ndarray) -> float:
    """The conformal threshold of the calibration recordings' largest scores; of fewer than 19 the largest, for α = 1 / (n + 1)."""
    k = int(np.ceil((len(largest) + 1) * (1 - ALPHA)))
    return float(np.sort(largest)[min(k, len(largest)) - 1])


def share(hits: list[bool]) -> tuple[float, float, float]:
    """A share with its exact interval (Clopper and Pearson)."""
    n, k = len(hits), sum(hits)
    low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
    high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
    return k / n, float(low), float(high)


def rows_of(
    part: Division | Stream, fit: Callable[[list[Recording]], Scorer]
) -> Iterator[tuple[str, float, float, float]]:
    """Metrics of a detector in a division or a stream: name, value, interval."""
    if isinstance(part, Stream):
        yield from ((name, value, float("nan"), float("nan")) for name, value in of_stream(part, fit))
        return
    division, score = part, fit(part.train)
    limit = threshold(np.array([score(r).max() for r in division.calibration]))
    yield "false_alarm_rate", *share([bool(score(r).max() > limit) for r in division.nominal])
    delays = [first(score(r)[onset:] > limit) for r, onset in division.faulty]
    yield "detection_rate", *share([delay is not None for delay in delays])
    leads = [0 if delay is None else len(r) - onset - delay for delay, (r, onset) in zip(delays, division.faulty)]
    yield "lead_median", float(np.median(leads)), float("nan"), float("nan")


def of_stream(stream: Stream, fit: Callable[[list[Recording]], Scorer]) -> Iterator[tuple[str, float]]:
    """How well scores order rows, whatever the threshold; then alarms at the threshold, row by row and by incident."""
    scores, labels = fit([stream.train])(stream.rows), stream.labels.astype(int)
    yield "aupr", float(average_precision_score(labels, scores))
    yield "vus_pr", float(get_metrics(scores, labels, metric="vus", slidingWindow=find_length(stream.rows[:, 0]))["VUS_PR"])
    alarms = scores > held_out_threshold(stream.train, fit)
    yield "true_alarms", float(np.sum(alarms & (labels == 1)))
    yield "false_alarms", float(np.sum(alarms & (labels == 0)))
    yield "anomalous", float(labels.sum())
    yield "nominal", float(np.sum(labels == 0))
    starts, ends = (np.flatnonzero(np.diff(labels, prepend=0, append=0) == step) for step in (1, -1))
    yield "incidents", float(len(starts))
    yield "found", float(sum(alarms[a:b].any() for a, b in zip(starts, ends)))


def held_out_threshold(train: Recording, fit: Callable[[list[Recording]], Scorer]) -> float:
    """The largest score of the rows that are learned from, each quarter by a fit on the others; the stream is scored as a whole."""
    quarters = np.array_split(np.arange(len(train)), 4)
    largest = []
    for quarter in quarters:
        others = [train[: quarter[0]], train[quarter[-1] + 1 :]]
        largest.append(fit([part for part in others if len(part)])(train)[quarter].max())
    return threshold(np.array(largest))


def first(alarms: np.ndarray) -> int | None:
    """The row of the first alarm."""
    found = np.flatnonzero(alarms)
    return int(found[0]) if len(found) else None


def main() -> None:
    """Writes a tidy row for each number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--set",
        choices=["ur3", "ur3-cold", "cmapss", "tep", "skab", "nab", "rfly", "cwru"],
        required=True,
        help="ur3-cold: without temperatures",
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the files of the set")
    parser.add_argument(
        "--seeds", type=int, default=10, help="random divisions; of tep, runs of each fault from 101 on"
    )
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    sets: dict[str, Iterator[Division | Stream]] = {
        "ur3": ur3(asked.data, True, asked.seeds),
        "ur3-cold": ur3(asked.data, False, asked.seeds),
        "cmapss": cmapss(asked.data, asked.seeds),
        "tep": tep(asked.data, range(101, 101 + asked.seeds)),
        "skab": skab(asked.data),
        "nab": nab(asked.data),
        "rfly": rfly(asked.data),
        "cwru": cwru(asked.data, asked.seeds),
    }
    fits = {name: ours(make) for name, make in OURS.items()} | RIVALS
    rows = [
        {
            "set": asked.set,
            "division": division.name,
            "detector": name,
            "metric": metric,
            "value": value,
            "low": low,
            "high": high,
        }
        for division in sets[asked.set]
        for name, fit in fits.items()
        for metric, value, low, high in rows_of(division, fit)
    ]
    table = pd.DataFrame(rows)
    table.to_csv(asked.out, index=False, float_format="%.4g")
    print(means(table).round(2).to_markdown())


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Means over divisions made alike, or of streams, and by how much `panel` is above each, paired, with a 95 % interval."""
    is_stream = "aupr" in set(table["metric"])
    kind = "" if is_stream else table["division"].str.replace(r"(random|strength)-.*", r"\1", regex=True)
    of = {"index": "detector", "columns": ["metric", "kind"], "values": "value", "sort": False}
    found = table.assign(kind=kind).pivot_table(**of)
    found.columns = [" ".join(column).strip() for column in found.columns]
    if is_stream:
        found = pooled(found)
    metric = "vus_pr" if is_stream else "detection_rate" if "ur3" in table["set"].iloc[0] else "lead_median"
    values = table[(table["metric"] == metric) & (table["division"] != "time")]
    values = values.pivot_table(index="division", columns="detector", values="value")
    if len(values) < 2:
        return found
    ahead = values.rsub(values["panel"], axis=0)
    half = t.ppf(0.975, len(ahead) - 1) * ahead.sem()
    found["ahead"] = [f"{x:+.3f} ± {h:.3f}" for x, h in zip(ahead.mean()[found.index], half[found.index])]
    return found


def pooled(found: pd.DataFrame) -> pd.DataFrame:
    """Of all rows together: F1, share of nominal rows with an alarm, share of anomalous rows without; and of all incidents."""
    true, false = found["true_alarms"], found["false_alarms"]
    return found[["aupr", "vus_pr"]].assign(
        f1=2 * true / (true + false + found["anomalous"]),
        far=false / found["nominal"],
        mar=1 - true / found["anomalous"],
        incidents_found=found["found"] / found["incidents"],
    )


if __name__ == "__main__":
    main()
