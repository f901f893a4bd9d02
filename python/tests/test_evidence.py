"""Results with their inputs as one file, and its check."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import offnominal
from offnominal import risk


def holds(found: Any) -> dict[str, bool | None]:
    return {check["what"]: check["holds"] for check in found["checks"]}


def test_an_estimate_comes_out_the_same_and_a_changed_one_is_found(tmp_path: Path) -> None:
    risk.estimate("driving", "random", episodes=30, seed=1, out=tmp_path / "run", progress=False)
    made = offnominal.evidence(run=tmp_path / "run", out=tmp_path / "evidence.zip")
    assert made["signed_by"] is None and made["command"] == (
        "offnominal risk estimate --env driving --policy random --episodes 30 --seed 1"
    )
    found = offnominal.verify(tmp_path / "evidence.zip", sample=10, progress=False)
    assert holds(found) == {"files": True, "signature": None, "version": True, "once more": True}
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(tmp_path / "evidence.zip") as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name) + (b" " if name == "results/risk.json" else b""))
    assert holds(offnominal.verify(changed, progress=False))["files"] is False


def test_an_audit_is_made_again_in_a_process_of_its_own(tmp_path: Path) -> None:
    offnominal.audit("sap-goal0", "tqc", depth="glance", seed=3, out=tmp_path / "audit", progress=False)
    offnominal.evidence(run=tmp_path / "audit", out=tmp_path / "audit.zip")
    found = offnominal.verify(tmp_path / "audit.zip", sample=2, sample_seed=1, progress=False)
    assert holds(found)["once more"] is True and found["recomputed"]["n"] == 2, found


def test_the_command_of_the_package_makes_an_audit_again(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "offnominal", *words], cwd=tmp_path, text=True, capture_output=True)

    assert run("audit", "--env", "sap-goal0", "--policy", "tqc", "--depth", "glance", "--out", "a").returncode == 0
    assert run("evidence", "a", "--out", "a.zip").returncode == 0
    found = run("verify", "a.zip", "--sample", "2", "--sample-seed", "1")
    assert found.returncode == 0 and "cells came out with the same bits" in found.stdout, found.stdout


@pytest.mark.parametrize("name", ["offnominal/__main__.py", "offnominal/__init__.py", "shlex.py", "sitecustomize.py"])
def test_no_module_of_a_bundle_runs_in_the_place_of_an_installed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    mark = tmp_path / "mark"
    files = {
        "results/audit.json": "{}",
        "results/s/cells/a/done.json": "{}",
        f"inputs/{name}": f"open({str(mark)!r}, 'w')\n",
    }
    line = "offnominal audit --env sap-goal0 --policy tqc --depth glance --seed 1 --out runs/a"
    manifest = {
        "format": 1,
        "kind": "audit",
        "made": {"command": line, "engine": offnominal.__version__, "seed": 1, "config": "x"},
        "outside": [],
        "files": {file: hashlib.sha256(text.encode()).hexdigest() for file, text in files.items()},
    }
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as bundle:
        for file, text in {"evidence.json": json.dumps(manifest), **files}.items():
            bundle.writestr(file, text)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([".", *sys.path[1:]]))
    found = offnominal.verify(tmp_path / "x.zip", sample=1, sample_seed=1, progress=False)
    assert holds(found)["files"] is True and "once more" in holds(found), found
    assert not mark.exists()


def test_what_is_no_result_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected the results of audit, bench"):
        offnominal.evidence(run=tmp_path, out=tmp_path / "x.zip")
