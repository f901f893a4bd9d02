"""The types that the package promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def mypy(*arguments):
    pytest.importorskip("mypy")
    found = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT / "python")}
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_package_and_examples_pass_the_type_checker():
    mypy("mypy", "--cache-dir", str(Path(sys.prefix) / "mypy"), "--no-error-summary")


#: Wrong calls, each with the error that the type checker must find; an error that it does not find is one of its own.
WRONG = """
from offnominal import Monitor, commands, detectors, logs, risk
from offnominal.detectors import Knn, MlpDm, PeDm

Knn(kk="x")  # type: ignore[call-arg]
Knn(k="x")  # type: ignore[arg-type]
PeDm(score="best")  # type: ignore[arg-type]
MlpDm(training={"epoch": 3})  # type: ignore[arg-type]
detectors.Cusum(inner=3)  # type: ignore[arg-type]
logs.read("a.csv", 3)  # type: ignore[arg-type]
commands.fit(logs="a.csv")  # type: ignore[call-arg]
commands.score("a.monitor", logs="b.csv", page="c.html")  # type: ignore[call-arg]
risk.estimate("pendulum", "random", method="best")  # type: ignore[arg-type]
risk.budget(p=0.1, delta="small")  # type: ignore[arg-type]
risk.stress("pendulum", "random", strategies=["climb", "fall"])  # type: ignore[list-item]
rows: list[int] = logs.read("a.csv")[0].secs  # type: ignore[assignment]
found: Monitor = PeDm(members=3, score="analytic", training={"epochs": 5}).fit([])
"""


def test_wrong_options_are_found_by_the_type_checker(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    cache = ("--cache-dir", str(Path(sys.prefix) / "mypy"))
    mypy("mypy", "--strict", *cache, "--no-error-summary", str(tmp_path / "wrong.py"))


@pytest.mark.skipif("RUN_SLOW_TESTS" not in os.environ, reason="slow tier")
def test_the_stub_is_what_the_engine_exports():
    mypy("mypy.stubtest", "offnominal._engine", "--ignore-missing-stub")
