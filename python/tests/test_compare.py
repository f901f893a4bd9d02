"""Two policies on the same seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offnominal


def test_a_trained_policy_is_better_and_a_second_call_continues(tmp_path: Path) -> None:
    found = offnominal.compare("random", "tqc", env="sap-goal0", metric="success", out=tmp_path / "run", progress=False)
    assert found["verdict"] == "better" and found["pairs"] == 25 < found["most"]
    assert found == offnominal.compare("random", "tqc", env="sap-goal0", metric="success", jobs=1, progress=False)
    journal = (tmp_path / "run" / "pairs.jsonl").read_text()
    again = offnominal.compare("random", "tqc", env="sap-goal0", metric="wins", out=tmp_path / "run", progress=False)
    assert again["metric"] == "wins" and (tmp_path / "run" / "pairs.jsonl").read_text().startswith(journal)


def test_callables_in_an_environment_of_gymnasium_are_compared() -> None:
    def left(_: Any) -> int:
        return 0

    def upright(obs: Any) -> int:
        return int(obs[2] + obs[3] > 0)

    options: dict[str, Any] = {
        "env": "gymnasium:CartPole-v1",
        "metric": "return",
        "return_range": (0, 500),
        "block": 10,
    }
    found = offnominal.compare(left, upright, episodes=60, require="better", progress=False, **options)
    judged = next(c for c in found["comparisons"] if c["quantity"] == "return")
    assert found["verdict"] == "better" and judged["difference"]["method"] == "betting-sequence"
    assert judged["difference"]["low"] > 0 and judged["new"]["value"] > 5 * judged["old"]["value"]
    worse = offnominal.compare(upright, left, episodes=60, progress=False, **options)
    assert worse["verdict"] == "worse"
    low, high = (
        next(c for c in r["comparisons"] if c["quantity"] == "return")["difference"]["value"] for r in (found, worse)
    )
    assert np.isclose(low, -high)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="margin: expected a number above 0 and below 1, found 2"):
        offnominal.compare("random", "random", env="cartpole", metric="failure", margin=2.0, progress=False)
    with pytest.raises(ValueError, match="require no-worse: expected a margin"):
        offnominal.compare("random", "random", env="cartpole", require="no-worse", progress=False)


def test_recorded_outcomes_are_compared_without_an_environment(tmp_path: Path) -> None:
    table = tmp_path / "trials.csv"
    rows = [f"{policy},{seed},{int(seed % 10 < good)}" for policy, good in (("a", 3), ("b", 9)) for seed in range(40)]
    table.write_text("\n".join(["policy,seed,success", *rows]))
    found = offnominal.compare(table, out=tmp_path / "run", progress=False)
    assert found["verdict"] == "better" and found["decides"][0]["matched"] == "seed"
    assert (tmp_path / "run" / "compare.html").exists()
    counts = offnominal.compare("25/50", "29/50", "45/50", level=0.9, progress=False)
    assert [row["verdict"] for row in counts["decides"]] == ["undecided", "better"]
    with pytest.raises(ValueError, match="metric: expected it with --env"):
        offnominal.compare("25/50", "29/50", metric="success", progress=False)
