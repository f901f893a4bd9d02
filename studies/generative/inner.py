"""Writes the training rollouts of published splits as files of their own, on which settings are chosen.

python3 studies/generative/inner.py DATA OUT

DATA is the folder of π0's JSON lines. OUT gets `seen100.jsonl`, `unseen100.jsonl` and so on, for the seeds 100 and 101.
"""

import json
import pathlib
import random
import sys

SEEDS = [100, 101]
TASKS = range(10)


def training(lines, seed, unseen):
    """The rollouts that ActProbe's split with this seed learns from, in the order of the files."""
    tasks = list(TASKS)
    random.Random(seed + 1000).shuffle(tasks)
    left_out = tasks[:3] if unseen else []
    rng, kept = random.Random(seed), []
    for task in TASKS:
        for success in (True, False):
            found = [line for line in lines if line["task_id"] == task and line["success"] == success]
            if task in left_out:
                continue
            rng.shuffle(found)
            kept += found[: int(0.7 * len(found))]
    return [line for line in lines if any(line is other for other in kept)]


def main():
    data, out = map(pathlib.Path, sys.argv[1:])
    lines = [json.loads(line) for task in TASKS for line in (data / f"task_{task}.jsonl").open()]
    out.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for kind in ("seen", "unseen"):
            kept = training(lines, seed, kind == "unseen")
            (out / f"{kind}{seed}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept))


if __name__ == "__main__":
    main()
