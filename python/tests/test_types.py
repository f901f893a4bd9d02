"""The types that the package promises."""

import subprocess
import sys
from pathlib import Path

import pytest

import offnominal

ROOT = Path(__file__).parents[2]


def mypy(*arguments):
    pytest.importorskip("mypy")
    found = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_package_and_examples_pass_the_type_checker():
    mypy("mypy", "--cache-dir", str(Path(offnominal.__file__).parents[1] / "mypy"), "--no-error-summary")


def test_the_stub_is_what_the_engine_exports():
    mypy("mypy.stubtest", "offnominal._engine", "--ignore-missing-stub")
