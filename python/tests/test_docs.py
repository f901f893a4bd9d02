"""The blocks of the documentation do what they say: each page is run from its first to its last block in a folder of its own.

| block                     | what happens to it                                                             |
|---------------------------|--------------------------------------------------------------------------------|
| ``python``                | runs, all of a page in one interpreter                                          |
| ``sh``                    | runs in bash; a command that fails fails the page                               |
| ``python file: jump.py``  | is written to that file, for later blocks; so is ``toml file: …``               |
| ``… slow``                | runs in the slow tier only, as does every block of its page that comes after it |
| ``… no-run: REASON``      | does not run; its commands are parsed by `crates/offnominal/tests/it/tidy/docs.rs` |
| ``text``                  | alone, right after a block that runs: what it printed, line by line; ``…`` is what is left out |
| ``text``, ``json``        | else an output, or an example of data                                           |
"""

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

import offnominal  # noqa: F401

ROOT = Path(__file__).parents[2]
SLOW = os.environ.get("RUN_SLOW_TESTS") == "1"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
#: What a page may read of the repository.
READ = ["agents", "label-maps", "strengths", "crates", "python", "studies", "bench"]


@dataclass
class Block:
    page: Path
    line: int
    language: str
    rest: str
    body: str
    #: The block of text right after one that runs.
    shown: str = ""

    @property
    def is_run(self):
        return self.language in ("python", "sh") and not self.rest.startswith(("no-run", "file:"))

    @property
    def file(self):
        return self.rest.removeprefix("file:").strip() if self.rest.startswith("file:") else None

    @property
    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page):
    text = page.read_text(encoding="utf-8")
    found = []
    for fence in FENCE.finditer(text):
        language, _, rest = fence["info"].strip().partition(" ")
        found.append(Block(page, text.count("\n", 0, fence.start()) + 1, language, rest.strip(), fence["body"]))
        if language == "text" and not rest and len(found) > 1 and found[-2].is_run:
            found[-2].shown = fence["body"]
    return found


def of_docstring(module):
    """The blocks in the documentation of a module."""
    return of_text(sys.modules[module].__doc__)


def of_text(text):
    """The blocks after ``::``."""
    for found in re.finditer(r"::\n\n((?:    [^\n]*\n|\n)+)", text):
        yield textwrap.dedent(found[1])


def script(chosen):
    """One program for all Python of a page; each block is at its line, so errors name it."""
    steps = []
    for block in chosen:
        if block.file:
            steps.append(f"__import__('pathlib').Path({block.file!r}).write_text({block.body!r})")
        elif block.language == "python":
            padded = "\n" * block.line + block.body
            steps.append(f"python({padded!r}, {block.place!r}, {block.shown!r})")
        else:
            steps.append(f"run({block.body!r}, {block.place!r}, {block.shown!r})")
    return PROLOGUE + "\n".join(steps) + "\n"


#: Variables of the shell last for a page. A page may show a command that finds something not acceptable (exit code 1).
PROLOGUE = r"""
import contextlib, io, pathlib, re, subprocess, sys
own = {"__name__": "__page__"}
failed = pathlib.Path("failed")
def compare(shown, printed, place):
    # How long it took is the only number that differs from run to run.
    plain = lambda text: re.sub(r"[0-9.]+ s \([0-9.]+ per second\)", "… s", text)
    lines = plain(printed).splitlines()
    for line in filter(str.strip, plain(shown).splitlines()):
        wanted = re.compile(".*".join(map(re.escape, line.rstrip().split("…"))))
        if not any(wanted.fullmatch(found.rstrip()) for found in lines):
            sys.exit(f"{place}: expected a line {line!r}, found\n{printed[-8000:]}")
def python(body, place, shown):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(body, place, "exec"), own)
    compare(shown, printed.getvalue(), place)
def run(body, place, shown):
    body = f"[ ! -f variables ] || . ./variables\nset -a\n{body}\nexport -p > variables"
    done = subprocess.run(["bash", "-c", body], text=True, capture_output=True, stdin=subprocess.DEVNULL)
    if failed.exists():
        sys.exit(f"{place}: {failed.read_text()}{done.stdout[-2000:]}{done.stderr[-4000:]}")
    compare(shown, done.stdout + done.stderr, place)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with what a page may read, and the commands that it calls."""
    for name in READ:
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "bin").mkdir()
    for name, (what, most) in {"offnominal": ("-m offnominal", 1), "python3": ("", 0), "python": ("", 0)}.items():
        command = tmp_path / "bin" / name
        # The engine itself asks an interpreter (-c) what is installed.
        wrong = f'[ $code -le {most} ] || [ "$1" = -c ] || echo "{name} $* ended with exit code $code" >> "{tmp_path}/failed"'
        command.write_text(f'#!/bin/sh\n"{sys.executable}" {what} "$@"; code=$?\n{wrong}\nexit $code\n')
        command.chmod(0o755)
    return tmp_path


def run(text, folder):
    environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "Agg"}
    environment["MINARI_DATASETS_PATH"] = str(folder / "minari")
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr


def chosen(page):
    """The blocks of a page that run in this tier."""
    found = []
    for block in blocks(page):
        if block.rest == "slow" and not SLOW:
            break
        if block.file or block.is_run:
            found.append(block)
    return found


RUN = [page for page in PAGES if any(block.is_run for block in chosen(page))]


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, folder):
    if page == ROOT / "docs/reference/python.md":
        pytest.importorskip("h5py")
    run(script(chosen(page)), folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_what_it_is(page):
    for block in blocks(page):
        what = f"{block.place}: found ```{block.language} {block.rest}".strip()
        assert block.language in ("python", "sh", "text", "toml", "json", "mermaid", "c", "cpp"), f"{what}, expected a language"
        known = not block.rest or block.rest == "slow" or block.file or re.fullmatch(r"no-run: .+", block.rest)
        assert known, f"{what}, expected nothing, slow, file: NAME, or no-run: REASON"
        if block.language == "json":
            assert list(json_values(block.body)), what
        if block.language == "python":
            compile(block.body, block.place, "exec")


def json_values(text):
    """One value after another."""
    decoder, at = json.JSONDecoder(), 0
    while rest := text[at:].lstrip():
        value, length = decoder.raw_decode(rest)
        yield value
        at = len(text) - len(rest) + length


def test_the_blocks_of_the_packages_docstring_run(folder):
    found = list(of_docstring("offnominal"))
    assert found
    for body in found:
        run(body, folder)


@pytest.mark.parametrize("module", ["cluster", "carla", "sb3"])
def test_the_blocks_of_other_docstrings_are_python(module):
    text = (ROOT / "python/offnominal" / f"{module}.py").read_text(encoding="utf-8")
    found = list(of_text(ast.get_docstring(ast.parse(text), clean=False)))
    assert found
    for body in found:
        compile(body, module, "exec")
