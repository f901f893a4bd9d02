"""Makes the files of recorded outcomes beside it: the seed is a constant, no policy was run.

The JSON files have the form in which `lerobot-eval` of LeRobot 0.4.4 writes `eval_info.json`; the logs of inspect-robots are
its own, of its policies `random` and `scripted` (`inspect-robots run --task cubepick-reach --epochs 5`).
"""

import csv
import json
import random
from pathlib import Path

HERE = Path(__file__).parent
RNG = random.Random(7)


def correlated(p, q, n):
    """Outcomes of two policies that share half of their luck."""
    pairs = []
    for _ in range(n):
        luck = RNG.random()
        pairs.append([(luck if RNG.random() < 0.5 else RNG.random()) < rate for rate in (p, q)])
    return zip(*pairs)


def one_task(name, successes):
    reward = [float(s) for s in successes]
    episodes = [
        {"episode_ix": i, "sum_reward": r, "max_reward": r, "success": s, "seed": 1000 + i}
        for i, (s, r) in enumerate(zip(successes, reward))
    ]
    mean = sum(reward) / len(reward)
    aggregated = {"avg_sum_reward": mean, "avg_max_reward": mean, "pc_success": 100 * mean, "eval_s": 9.5, "eval_ep_s": 0.19}
    write(name, {"per_episode": episodes, "aggregated": aggregated})


def tasks(name, by_task):
    metrics = [
        {"sum_rewards": [float(s) for s in done], "max_rewards": [float(s) for s in done], "successes": done, "video_paths": []}
        for done in by_task
    ]
    per_task = [{"task_group": "libero_spatial", "task_id": i, "metrics": m} for i, m in enumerate(metrics)]
    every = [s for done in by_task for s in done]
    share = {"avg_sum_reward": sum(every) / len(every), "pc_success": 100 * sum(every) / len(every), "n_episodes": len(every)}
    write(name, {"per_task": per_task, "per_group": {"libero_spatial": share}, "overall": share})


def write(name, document):
    (HERE / name).write_text(json.dumps(document, indent=2))


def table(name, header, rows):
    with (HERE / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


old, new = correlated(0.60, 0.72, 50)
one_task("lerobot-old.json", old)
one_task("lerobot-new.json", new)
both = [list(correlated(p, q, 20)) for p, q in ((0.5, 0.9), (0.6, 0.7), (0.8, 0.8))]
tasks("lerobot-tasks-old.json", [list(pair[0]) for pair in both])
tasks("lerobot-tasks-new.json", [list(pair[1]) for pair in both])

rows = []
for policy, rates in {"act": (0.3, 0.5), "diffusion": (0.85, 0.9), "smolvla": (0.45, 0.5)}.items():
    for task, rate in zip(("towel", "cups"), rates):
        rows += [[policy, task, seed, int(RNG.random() < rate)] for seed in range(20)]
table("trials.csv", ["policy", "task", "seed", "success"], rows)

rows = []
for policy, rates in {"old": (0.9, 0.6, 0.55), "new": (0.6, 0.55, 0.1)}.items():
    for condition, rate in zip(("nominal", "blur", "glare"), rates):
        rows += [[policy, condition, seed, int(RNG.random() < rate)] for seed in range(40)]
table("perturbed.csv", ["policy", "condition", "seed", "success"], rows)

rows = []
for policy, steps in {"old": 2, "new": 3}.items():
    rows += [[policy, trial, min(4, RNG.randrange(steps, steps + 2)) / 4] for trial in range(30)]
table("scores.csv", ["policy", "seed", "score"], rows)
