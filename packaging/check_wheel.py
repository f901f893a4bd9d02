"""Builds the wheel, installs it where there is no Rust, and uses it: import, the README's example, the command, the demo.

    python3 packaging/check_wheel.py --out target/wheels                    # builds the wheel
    python3 packaging/check_wheel.py --out target/wheels --wheel FILE.whl   # checks one that is there
    python3 packaging/check_wheel.py --out target/wheels --sdist            # builds from the source distribution

What it measures is written to measured.json in the output folder. Needs maturin, and a way to fetch what the package
depends on.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: A wheel that is larger has brought something along by mistake, such as data that nobody reads.
LARGEST_MB = 19.0
#: What a clean process keeps of the environment: how packages are fetched, and nothing of Rust.
KEPT = re.compile(r"(PIP_|SSL_|.*_proxy$|.*_PROXY$|REQUESTS_CA_BUNDLE$|SYSTEMROOT$|TEMP$|LANG$)")
PLACES = "/usr/bin:/bin"
INCLUDED = re.compile(r'include_(?:str|bytes)!\("([^"]+)"\)')
#: Files that are compiled for tests of the repository only.
ONLY_TESTS = {"tests.rs", "references.rs"}


def run(command, **options):
    """Runs a command and returns what it printed; what it says of an error is shown."""
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"check_wheel: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def newest(folder, pattern):
    return max(folder.glob(pattern), key=lambda file: file.stat().st_mtime)


def built(out, extra):
    """The wheel of this machine, from the repository."""
    run(["maturin", "build", "--release", "--compression-level", "9", "--out", out, *extra], cwd=ROOT)
    return newest(out, "*.whl")


def from_source(out, extra, compiles):
    """Unpacks the source distribution far from the repository; the wheel that it makes, if it is to be compiled.

    In any case cargo must find every crate in it, and every file that the code includes must be there.
    """
    run(["maturin", "sdist", "--out", out], cwd=ROOT)
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(newest(out, "*.tar.gz"), folder, filter="data")
        (sources,) = Path(folder).iterdir()
        run(["cargo", "metadata", "--locked", "--format-version", "1"], cwd=sources)
        for file in sources.glob("crates/*/src/**/*.rs"):
            code = file.read_text().split("#[cfg(test)]")[0]
            only_tests = file.name in ONLY_TESTS or "tests" in file.relative_to(sources).parts
            for path in INCLUDED.findall("" if only_tests else code):
                if not (file.parent / path).exists():
                    sys.exit(f"check_wheel: {file.relative_to(sources)} includes {path}, which is not in the sources")
        if compiles:
            run(["maturin", "build", "--release", "--compression-level", "9", "--out", out, *extra], cwd=sources)
    return newest(out, "*.whl") if compiles else None


class Clean:
    """A virtual environment with the wheel in it, and a process environment without Rust and without a home."""

    def __init__(self, folder, wheel):
        """Makes it, from the interpreter that runs this."""
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if KEPT.match(name)}
        self.environment = kept | {"PATH": PLACES, "HOME": str(folder)}
        for tool in ("cargo", "rustc"):
            if found := shutil.which(tool, path=PLACES):
                sys.exit(f"check_wheel: expected no Rust in {PLACES}, found {found}")
        run([sys.executable, "-m", "venv", folder / "venv"], env=self.environment)
        pip = ["-m", "pip", "install", "--quiet", "--only-binary=:all:"]
        self.python(*pip, f"offnominal[mujoco] @ {wheel.resolve().as_uri()}")

    def python(self, *arguments):
        return run([self.folder / "venv/bin/python", *arguments], env=self.environment, cwd=self.folder)

    def command(self, *arguments):
        return run([self.folder / "venv/bin/offnominal", *arguments], env=self.environment, cwd=self.folder)


def example():
    """The first block of Python in the README."""
    return re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)[1]


def use(clean):
    """Uses the installed package; returns what was measured."""
    version = clean.python("-c", "import offnominal; print(offnominal.__version__)").strip()
    said = clean.command("--version").strip()
    if said != f"offnominal {version}":
        sys.exit(f"check_wheel: expected the command to say offnominal {version}, found {said!r}")
    clean.python("-c", example())
    # MuJoCo is the package's, so nothing is fetched; the policies are those of the wheel.
    for env, policy in [("mjc-cartpole-swingup", "tqc"), ("hopper", "hopper-td3-1")]:
        found = json.loads(clean.command("evaluate", "--env", env, "--policy", policy, "--episodes", "2", "--json"))
        if found["episodes"] != 2:
            sys.exit(f"check_wheel: expected 2 episodes in {env}, found {found}")
    if (cache := clean.folder / ".cache/offnominal").exists():
        sys.exit(f"check_wheel: expected the library of the package mujoco, found one fetched to {cache}")
    began = time.monotonic()
    clean.command("demo", "--quiet", "--out", "demo")
    return {"version": version, "demo_secs": round(time.monotonic() - began, 1)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, required=True)
    source = arguments.add_mutually_exclusive_group()
    source.add_argument("--wheel", type=Path)
    source.add_argument("--sdist", action="store_true")
    arguments.add_argument("extra", nargs="*", help="arguments of maturin, after --")
    given = arguments.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    wheel = given.wheel
    if not wheel:
        wheel = from_source(out, given.extra, given.sdist) or built(out, given.extra)
    measured = {"wheel": wheel.name, "build_secs": round(time.monotonic() - began, 1)}
    measured["wheel_mb"] = round(wheel.stat().st_size / 1e6, 1)
    if measured["wheel_mb"] > LARGEST_MB:
        sys.exit(f"check_wheel: {wheel.name}: expected at most {LARGEST_MB} MB, found {measured['wheel_mb']}")
    with tempfile.TemporaryDirectory() as folder:
        measured |= use(Clean(Path(folder), wheel))
    (out / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    print(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
