"""The notebooks are stored without outputs, and run from their first to their last cell."""

import json
import os
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
slow = pytest.mark.skipif(os.environ.get("RUN_SLOW_TESTS") != "1", reason="slow tier")


def code(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(notebook):
    assert len(NOTEBOOKS) == 3
    for cell in code(notebook):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        compile("".join(cell["source"]), notebook.name, "exec")


@slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    for needed in ("ipykernel", "matplotlib"):
        pytest.importorskip(needed, reason=f"{needed} is not installed")
    text = nbformat.read(notebook, as_version=4)
    client = nbclient.NotebookClient(text, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
