"""The claim of NOTE.md by counting, in plain Python and without Offnominal.

python3 studies/generative/check.py DATA SET [SIGNAL]

DATA is the folder `benchmarks` of ActProbe, SET is `groot_robocasa` or `pi0_libero`, SIGNAL is `chunk_mse` if nothing is said.
Files of `data.sha256` are read, and no others.
"""

import hashlib
import itertools
import json
import pathlib
import sys

LIST = pathlib.Path(__file__).with_name("data.sha256")


def rollouts(data, name, signal):
    """Task, failure and the signal of each step; 0 where it is not there yet."""
    for digest, path in (line.split() for line in LIST.read_text().splitlines()):
        if not path.startswith(name) or not path.endswith(".jsonl"):
            continue
        content = (pathlib.Path(data) / path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest, f"{path} is another file than ours"
        for line in content.splitlines():
            found = json.loads(line)
            yield path, not found["success"], [step.get(signal, 0) for step in found["steps"]]


def wins(failed, succeeded):
    """The number of pairs in which the failed one is larger, where a tie is one half, and of all pairs."""
    pairs = list(itertools.product(failed, succeeded))
    return sum((a > b) + (a == b) / 2 for a, b in pairs), len(pairs)


def whole(scored):
    """As published: the largest score of the whole rollout, any task against any other."""
    largest = {fails: [max(scores) for _, f, scores in scored if f == fails] for fails in (True, False)}
    won, n = wins(largest[True], largest[False])
    return won / n


def landmark(scored):
    """Failed against succeeded rollouts of the same task that run at the same step."""
    cells = {}
    for task, fails, scores in scored:
        for step, score in enumerate(scores):
            cells.setdefault((task, step), {True: [], False: []})[fails].append(score)
    found = [wins(cell[True], cell[False]) for cell in cells.values()]
    return sum(won for won, _ in found) / sum(n for _, n in found)


def main():
    data, name, signal = (sys.argv[1:] + ["chunk_mse"])[:3]
    found = list(rollouts(data, name, signal))
    mean = lambda values: [total / n for n, total in enumerate(itertools.accumulate(values), 1)]
    length = lambda fails: [len(scores) for _, f, scores in found if f == fails]
    print(f"{len(found)} rollouts of {len({task for task, *_ in found})} tasks, {len(length(True))} failed")
    print(f"steps: {sum(length(True) + length(False))}; longest success {max(length(False))}; shortest failure {min(length(True))}")
    for name, score in (("clock", lambda values: range(len(values))), (signal, list), (f"mean({signal})", mean)):
        scored = [(task, fails, score(values)) for task, fails, values in found]
        print(f"{name}: whole {whole(scored):.3f}, same task and step {landmark(scored):.3f}")


if __name__ == "__main__":
    main()
