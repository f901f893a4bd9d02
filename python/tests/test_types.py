"""The types that the package promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def mypy(*arguments):
    pytest.importorskip("mypy")
    found = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_package_and_examples_pass_the_type_checker():
    mypy("mypy", "--cache-dir", str(Path(sys.prefix) / "mypy"), "--no-error-summary")


@pytest.mark.skipif("RUN_SLOW_TESTS" not in os.environ, reason="slow tier")
def test_the_stub_is_what_the_engine_exports():
    mypy("mypy.stubtest", "offnominal._engine", "--ignore-missing-stub")
