"""What forks gain over counting, by replicates, against an independent truth.

    python results/risk/gains.py FORK TRUTH [--replicates 200]

FORK is the folder of `risk fork`; its roots do not depend on one another, so that equal parts of them are replicates.
TRUTH is the folder of `risk estimate --method plain` with another seed. Prints JSON: the mean of the replicates beside
the truth, the gain in variance times cost over plain episodes with a 95 % interval by a bootstrap over replicates, and
how often the interval of a replicate, by betting, holds the truth.

The variance of counting is p (1 - p) per episode with p of the truth; the cost is steps, in those of a plain episode.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np

BETS = [2.0 ** (2 * i - 8) for i in range(17)]


def capital(values, zeros, m, side):
    """Logarithm of the mean capital of gamblers if the mean were m, as in the program."""
    most = 0.99 / m if side > 0 else 0.99 / (1 - m)
    bets = np.array([side * min(bet, most) for bet in BETS])
    gains = np.log1p(bets[:, None] * (values[None, :] - m)).sum(1) if len(values) else np.zeros(len(bets))
    total = gains + zeros * np.log1p(-bets * m)
    return np.logaddexp.reduce(total) - math.log(len(bets))


def covers(values, n, p, level=0.95):
    """Whether the interval by betting of n terms, of which these are not zero, holds p."""
    limit = math.log(2 / (1 - level))
    return capital(values, n - len(values), p, 1) < limit and capital(values, n - len(values), p, -1) < limit


def read(folder):
    """Blocks of roots: number of roots, steps, plain steps, totals over chances."""
    lines = (Path(folder) / "roots.jsonl").read_text().splitlines()
    blocks = [json.loads(line) for line in lines]
    blocks = [block.get("block", block) for block in blocks]
    return sorted((block for block in blocks if "totals" in block), key=lambda block: block["number"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("fork")
    arguments.add_argument("truth")
    arguments.add_argument("--replicates", type=int, default=200)
    given = arguments.parse_args()
    truth = json.loads((Path(given.truth) / "risk.json").read_text())["risk"]["risk"]
    fork = json.loads((Path(given.fork) / "fork.json").read_text())
    blocks, p = read(given.fork), truth["value"]
    each = len(blocks) // given.replicates
    if each == 0:
        raise SystemExit(f"{given.fork}: expected at least {given.replicates} blocks of roots, found {len(blocks)}")
    draws = fork["draws"] // len(blocks)
    method = fork["run"]["method"]
    bound = 1 / (method["rate"] * method["plain_share"]) if method["name"] == "thinned" else 1.0
    plain = sum(b["plain_steps"] for b in blocks) / sum(b["roots"] for b in blocks)
    estimates, costs, held = [], [], 0
    for r in range(given.replicates):
        part = blocks[r * each : (r + 1) * each]
        terms = [total / chance for block in part for chance, total in block["totals"]]
        estimates.append(sum(terms) / (draws * each))
        costs.append(sum(block["steps"] for block in part) / plain)
        held += covers(np.array(terms) / bound, draws * each, p / bound)
    estimates, costs = np.array(estimates), np.array(costs)

    def gain(which):
        """Variance of counting at the cost of these replicates over their own."""
        return p * (1 - p) / costs[which].mean() / estimates[which].var(ddof=1)

    rng, n = np.random.default_rng(1), given.replicates
    spread = [gain(rng.integers(0, n, n)) for _ in range(2000)]
    low, high = np.quantile(spread, [0.025, 0.975])
    totals = np.array([total / chance for block in blocks for chance, total in block["totals"]])
    # Roots of which nearly all copies fail: their failures were decided before an importance rose.
    whole = np.array([total > 0.7 for block in blocks for _, total in block["totals"]])
    error = estimates.std(ddof=1) / math.sqrt(n)
    found = {
        "replicates": n,
        "draws_each": draws * each,
        "experiments_each": sum(b["roots"] for b in blocks) / n,
        "episodes_worth_each": float(costs.mean()),
        "truth": {key: truth[key] for key in ("value", "low", "high", "n")},
        "mean": float(estimates.mean()),
        "standard_error": float(error),
        "gain": {"value": float(gain(np.arange(n))), "low": float(low), "high": float(high)},
        "failed_roots": len(totals),
        "roots_that_fail_whole": {
            "roots": int(whole.sum()),
            "share_of_the_estimate": float(totals[whole].sum() / totals.sum()),
            "share_of_the_second_moment": float((totals[whole] ** 2).sum() / (totals**2).sum()),
        },
        "within_a_factor_of_3": float(np.mean((estimates > p / 3) & (estimates < 3 * p))),
        "intervals_that_hold_the_truth": held / n,
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
