"""The trials that STEP needs in the cases of `trials.csv`: its own public code, run beside ours.

    python3 studies/compare/step.py CLONE > studies/compare/step.csv

CLONE is a checkout of github.com/TRI-ML/sequentialized_barnard_tests, whose licence is CC BY-NC 4.0: it is run here, and no
part of it is in this repository. Its policies for 50 and 200 trials are in it; the one for 100 is made by

    python scripts/synthesize_general_step_policy.py -n 100 -a 0.05 -up False

Needs NumPy, SciPy and what CLONE needs. The seed is a constant.
"""

import csv
import sys

import numpy as np

SEED = 1
RUNS = 10_000
COLUMNS = ["method", "most", "old", "new", "trials", "trials_low", "trials_high", "decided", "runs"]


def main(clone, ours="studies/compare/trials.csv"):
    sys.path.insert(0, clone)
    from sequentialized_barnard_tests import Decision, Hypothesis
    from sequentialized_barnard_tests.step import StepTest

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    rng = np.random.default_rng(SEED)
    with open(ours, newline="") as file:
        cases = [row for row in csv.DictReader(file) if row["method"] == "planned"]
    for row in cases:
        most, old, new = int(row["most"]), float(row["old"]), float(row["new"])
        test = StepTest(Hypothesis.P0LessThanP1, n_max=most, alpha=0.05)
        # Its constructor looks for the policy before it has what that needs.
        test.load_existing_policy()
        if test.policy is None:
            raise SystemExit(f"expected a policy of STEP for {most} trials in {clone}, found none")
        trials, decided = [], 0
        for _ in range(RUNS):
            test.reset()
            test.rng = rng
            pairs = rng.random((most, 2)) < (old, new)
            n = first(test, pairs, Decision.AcceptAlternative)
            decided += n is not None
            trials.append(most if n is None else n)
        mean, half = np.mean(trials), 1.96 * np.std(trials) / RUNS**0.5
        found = [f"{x:.3f}" for x in (mean, mean - half, mean + half)]
        writer.writerow(["STEP", most, row["old"], row["new"], *found, decided / RUNS, RUNS])
        sys.stdout.flush()


def first(test, pairs, accepted):
    for n, (old, new) in enumerate(pairs, 1):
        if test.step(old, new).decision == accepted:
            return n
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
