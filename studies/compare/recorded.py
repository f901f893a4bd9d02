"""After how many trials STEP and `compare --episodes N` decide on the outcomes that were published with STEP.

    python3 studies/compare/recorded.py CLONE OFFNOMINAL > studies/compare/recorded.csv

CLONE is as for `step.py`; its recordings are read where they lie. OFFNOMINAL is the program. Both tests are one-sided with
error 0.05, which is `--level 0.9`. A recording is cut off at N trials; an empty field is a comparison without a decision.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

#: The recordings, and whether the first column is the policy with more successes, as its scripts say it.
RECORDINGS = {
    "TRI_FOLD_RED_TOWEL": False,
    "TRI_CLEAN_SPILL_v4": True,
    "PU_HARDWARE_POLICY_SUPPLEMENT": False,
    "PU_HARDWARE_DISTRIBUTION_SUPPLEMENT": True,
    "TRI_SIM_SPOON_ON_TOWEL": True,
    "TRI_SIM_EGGPLANT_IN_BASKET": True,
    "TRI_SIM_STACK_CUBE": True,
}


def main(clone, program):
    sys.path.insert(0, clone)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["recording", "trials", "old", "new", "most", "step", "planned"])
    for name, is_exchanged in RECORDINGS.items():
        pairs = np.load(f"{clone}/tests/eval_data/{name}.npy").astype(int)
        pairs = pairs[:, ::-1] if is_exchanged else pairs
        for most in (50, 100, 200):
            cut = pairs[:most]
            found = [step(cut, most), planned(cut, most, program)]
            writer.writerow([name, len(pairs), *pairs.mean(axis=0).round(3), most, *found])


def step(pairs, most):
    from sequentialized_barnard_tests import Decision, Hypothesis
    from sequentialized_barnard_tests.step import StepTest

    test = StepTest(Hypothesis.P0LessThanP1, n_max=most, alpha=0.05, random_seed=42)
    test.load_existing_policy()
    for n, (old, new) in enumerate(pairs, 1):
        if test.step(int(old), int(new)).decision == Decision.AcceptAlternative:
            return n
    return None


def planned(pairs, most, program):
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "trials.csv"
        rows = [f"old,{old}\nnew,{new}\n" for old, new in pairs]
        table.write_text("".join(["policy,success\n", *rows]))
        command = [program, "compare", table, "--level", "0.9", "--episodes", str(most), "--json", "--quiet", "--out", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        return json.loads(done.stdout)["decides"][0]["decided_after"]


if __name__ == "__main__":
    main(*sys.argv[1:])
