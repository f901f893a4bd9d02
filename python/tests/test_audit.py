"""The audit from Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import offnominal


def test_an_audit_is_the_file_that_it_writes(tmp_path: Path) -> None:
    found = offnominal.audit(
        "sap-goal0", "tqc", depth="glance", anomalies=["obs-offset"], require="success >= 1.1", out=tmp_path,
        seed=3, progress=False,
    )  # fmt: skip
    assert found == json.loads((tmp_path / "audit.json").read_text())
    assert [r["met"] for r in found["requirements"]] == [False]
    assert [fault["anomaly"] for fault in found["faults"]] == ["obs-offset"]
    badge = json.loads((tmp_path / "badge.json").read_text())
    assert badge["schemaVersion"] == 1 and badge["color"] == "orange"


def balance(obs: np.ndarray) -> int:
    """Pushes the cart to the side to which the pole falls."""
    return int(obs[2] + 0.5 * obs[3] > 0)


def test_any_callable_in_any_environment_of_gymnasium_is_audited(tmp_path: Path) -> None:
    found = offnominal.audit(
        "gymnasium:CartPole-v1", balance, depth="glance", anomalies=["obs-offset", "act-delay"], out=tmp_path, jobs=2,
        progress=False,
    )  # fmt: skip
    assert found["policy"]["name"].startswith("balance-")
    by_name = {detector["name"]: detector for detector in found["detectors"]}
    assert by_name["clock"]["auroc_matched"]["value"] == pytest.approx(0.5)
    assert by_name[found["choice"]["recommended"]]["of_nothing"]["value"] == pytest.approx(0.5)
    assert (tmp_path / "audit.html").exists() and found["failures"]["counts_failures"]


def test_what_makes_no_sense_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="budget in seconds: expected 30 to 604800, found 1"):
        offnominal.audit("sap-goal0", "tqc", budget="1s", out=tmp_path, progress=False)
    with pytest.raises(ValueError, match="expected one of auroc_matched"):
        offnominal.audit("sap-goal0", "tqc", require="auroc >= 1", out=tmp_path, progress=False)
