"""What missing numbers cost a monitor: false alarms of nominal episodes, and AUROC at tiny anomalies.

    python3 studies/gaps/run.py [--env ENV,…] [--detector DETECTOR,…] [--jobs N]

Each detector is fitted on 100 nominal episodes, and its threshold is set by 100 others, all without gaps, with alpha = .05. Then
the same fresh episodes are watched without gaps and with each kind of gap:

- random: each number of an observation is missing with probability .05, independently.
- slow: one channel is read at every fifth step only; the episode with number i takes channel i modulo the number of channels.
- lost: one such channel is never read after the tenth step.

`false_alarms.csv` has the share of 300 nominal episodes with an alarm, with its Clopper-Pearson interval. `auroc.csv` has, for
each anomaly at the strength `tiny`, the time-matched AUROC over 30 episodes and their nominal twins, and how far it falls with
gaps, with the interval of a paired bootstrap over episodes (1,000 replicates). Rows that are there are not made again. `page.py`
makes the tables of `README.md`. Needs the Python package, SciPy and pandas.
"""

import argparse
import csv
import multiprocessing
import pathlib
import zlib

import numpy as np
from scipy.stats import beta, rankdata

import offnominal

HERE = pathlib.Path(__file__).resolve().parent
ENVS = ["sap-goal0", "sap-goal2", "mjc-cartpole-swingup", "mjc-reacher3d", "car-lanekeep", "urm-reach"]
DETECTORS = ["residual-views", "residual-window", "ensemble-dm", "e-process", "mlp-dm", "pe-dm", "knn"]
GAPS = ["none", "random", "slow", "lost"]
ALPHA = 0.05
SHARE = 0.05
EVERY = 5
LOST_FROM = 10
TRAIN, CALIBRATION, FRESH, ANOMALOUS = 100, 100, 300, 30
REPLICATES = 1000
# Seeds of what is played, and of the gaps.
SEEDS = {"train": 4001, "calibration": 4002, "fresh": 4003, "anomalous": 4004}
GAP_SEED = 4005


def with_gaps(observations, gap, i):
    """The observations of episode i with NaN where nothing is read."""
    seen = np.array(observations, dtype=np.float32)
    steps, channels = seen.shape
    rng = np.random.default_rng([GAP_SEED, i])
    if gap == "random":
        seen[rng.random(seen.shape) < SHARE] = np.nan
    if gap == "slow":
        seen[np.arange(steps) % EVERY != 0, i % channels] = np.nan
    if gap == "lost":
        seen[LOST_FROM:, i % channels] = np.nan
    return seen


def watched(watch, episode, gap, i):
    """Scores of an episode, and whether there was an alarm."""
    watch.reset()
    seen, scores, alarm = with_gaps(episode.observations, gap, i), [], False
    for obs, action in zip(seen, episode.actions):
        scores.append(watch.step(obs, action))
    scores.append(watch.step(seen[-1]))
    verdicts = [verdict for verdict in scores if verdict is not None]
    alarm = any(verdict.is_alarm for verdict in verdicts)
    return np.array([verdict.score for verdict in verdicts]), alarm


def clopper_pearson(k, n):
    """The 95 % interval of a share."""
    low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
    high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
    return low, high


def auroc(positive, negative):
    """The area under the curve; ties count one half."""
    ranks = rankdata(np.concatenate([positive, negative]))
    n, m = len(positive), len(negative)
    return (ranks[:n].sum() - n * (n + 1) / 2) / (n * m)


def matched(pairs):
    """Steps after the onset against those of the twin at the same times, over all episodes."""
    return auroc(np.concatenate([p for p, _ in pairs]), np.concatenate([n for _, n in pairs]))


def anomalous(env, anomaly):
    """Disturbed episodes with their twins, and the first step that is disturbed."""
    found = offnominal.collect(env, "tqc", episodes=ANOMALOUS, seed=SEEDS["anomalous"], jobs=1, anomaly=anomaly, strength="tiny")
    twins = found.twins
    return [(found[i], found[twin]) for i, twin in enumerate(twins) if twin is not None]


def judged(watch, both, gap, i):
    """Scores after the onset of an episode, and of its twin at the same steps."""
    disturbed, twin = both
    labels = np.asarray(disturbed.labels, dtype=bool)
    scores = [watched(watch, episode, gap, i)[0] for episode in (disturbed, twin)]
    n = min(len(scores[0]), len(scores[1]), len(labels))
    after = labels[:n]
    return scores[0][:n][after], scores[1][:n][after]


def falls(whole, gapped, rng):
    """How far the AUROC falls, with the interval of a paired bootstrap over episodes."""
    drawn = []
    for _ in range(REPLICATES):
        take = rng.integers(len(whole), size=len(whole))
        drawn.append(matched([whole[i] for i in take]) - matched([gapped[i] for i in take]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return matched(whole) - matched(gapped), low, high


def add(path, row):
    """Appends a row, whole."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def known(path, keys):
    """Which rows are there."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {tuple(row[key] for key in keys) for row in csv.DictReader(file)}


def false_alarms(watch, env, detector):
    """Rows of the share of nominal episodes with an alarm."""
    fresh = offnominal.collect(env, "tqc", episodes=FRESH, seed=SEEDS["fresh"], jobs=1)
    for gap in GAPS:
        alarms = sum(watched(watch, fresh[i], gap, i)[1] for i in range(len(fresh)))
        low, high = clopper_pearson(alarms, len(fresh))
        yield {
            "env": env, "detector": detector, "gap": gap, "episodes": len(fresh), "alarms": alarms,
            "share": f"{alarms / len(fresh):.4f}", "low": f"{low:.4f}", "high": f"{high:.4f}",
        }  # fmt: skip


def aurocs(watch, env, detector):
    """Rows of the AUROC of each anomaly."""
    for anomaly in offnominal.Environment(env).anomalies():
        try:
            pairs = anomalous(env, anomaly)
        except ValueError as why:
            # Its magnitude at `tiny` is not known, or there is none; anything else is an error.
            if "tiny" not in str(why):
                raise
            continue
        found = {gap: [judged(watch, both, gap, i) for i, both in enumerate(pairs)] for gap in GAPS}
        for gap in GAPS:
            rng = np.random.default_rng([GAP_SEED, zlib.crc32(f"{env} {anomaly} {gap}".encode())])
            fall, low, high = falls(found["none"], found[gap], rng) if gap != "none" else (0.0, 0.0, 0.0)
            yield {
                "env": env, "detector": detector, "anomaly": anomaly, "gap": gap, "episodes": len(pairs),
                "auroc": f"{matched(found[gap]):.4f}", "fall": f"{fall:.4f}", "low": f"{low:.4f}", "high": f"{high:.4f}",
            }  # fmt: skip


def cell(task):
    """One detector in one environment."""
    env, detector = task
    play = {name: (100, SEEDS[name]) for name in ("train", "calibration")}
    episodes = {name: offnominal.collect(env, "tqc", episodes=n, seed=seed, jobs=1) for name, (n, seed) in play.items()}
    watch = offnominal.alarms.fit(
        episodes["train"], episodes["calibration"], detector, alpha=ALPHA, diagnosis=False, seed=1, progress=False
    )
    return list(false_alarms(watch, env, detector)), list(aurocs(watch, env, detector))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--env", default=",".join(ENVS))
    arguments.add_argument("--detector", default=",".join(DETECTORS))
    arguments.add_argument("--jobs", type=int, default=1)
    given = arguments.parse_args()
    shares, areas = HERE / "false_alarms.csv", HERE / "auroc.csv"
    done = known(areas, ["env", "detector"])
    tasks = [(env, d) for env in given.env.split(",") for d in given.detector.split(",") if (env, d) not in done]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for task, (first, second) in zip(tasks, pool.imap(cell, tasks)):
            for path, rows in ((shares, first), (areas, second)):
                for row in rows:
                    add(path, row)
            print(*task, *(f"{row['gap']} {row['share']}" for row in first), flush=True)


if __name__ == "__main__":
    main()
