"""The audit from Python."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_what_makes_no_sense_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="budget in seconds: expected 30 to 604800, found 1"):
        offnominal.audit("sap-goal0", "tqc", budget_secs=1, out=tmp_path, progress=False)
    with pytest.raises(ValueError, match="expected one of auroc_matched"):
        offnominal.audit("sap-goal0", "tqc", require="auroc >= 1", out=tmp_path, progress=False)
