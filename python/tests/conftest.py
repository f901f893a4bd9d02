"""What all tests share."""

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Whatever is written without a path does not go into the repository."""
    monkeypatch.chdir(tmp_path)
