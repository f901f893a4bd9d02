"""Packs the binary of a target with everything that it reads at run time, and the C library: one archive that is unpacked
and runs.

    cargo build --release --target x86_64-unknown-linux-gnu
    cargo build --release -p offnominal-monitor-c --target x86_64-unknown-linux-gnu
    python3 packaging/archive.py --target x86_64-unknown-linux-gnu --out dist

Inside are bin/, share/offnominal/agents/ (where the program looks for its data), share/man/, share/bash-completion/,
share/zsh/, share/fish/, the C library as `packaging/c_library.py` lays it out, and the licences. Beside the archive stands
its SHA-256. The manual comes from the program itself, so it is there only if this machine can run it.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import c_library

ROOT = Path(__file__).resolve().parent.parent


def cargo_target():
    known = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return Path(json.loads(known.stdout)["target_directory"])


def data_files():
    """What the program reads at run time, as its own list says."""
    text = (ROOT / "crates/offnominal-engine/src/data.rs").read_text()
    return re.findall(r'"([^"]+)"', re.search(r"FILES: &\[&str\] =\s*&\[(.*?)\];", text, re.S)[1])


def manual(program, folder):
    """Completions and man pages; none if this machine cannot run the program."""
    try:
        subprocess.run([program, "--version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print(f"archive: {program} does not run here, so the archive has no manual")
        return
    subprocess.run([program, "manual", folder / "share"], check=True)


def lay_out(program, target, folder):
    (folder / "bin").mkdir(parents=True)
    shutil.copy2(program, folder / "bin")
    for file in data_files():
        place = folder / "share/offnominal/agents" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "agents" / file, place)
    for file in ("LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"):
        shutil.copyfile(ROOT / file, folder / file)
    c_library.lay_out(target, program.parent, folder)
    manual(program, folder)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--target", required=True)
    arguments.add_argument("--from", dest="built", type=Path, help="the folder of cargo that holds what is packed")
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    is_windows = "windows" in given.target
    built = given.built or cargo_target() / given.target / "release"
    program = built / ("offnominal.exe" if is_windows else "offnominal")
    if not program.is_file():
        sys.exit(f"archive: expected the program {program}, found none")
    name = f"offnominal-{c_library.version()}-{given.target}"
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lay_out(program, given.target, Path(folder) / name)
        made = shutil.make_archive(str(given.out / name), "zip" if is_windows else "gztar", folder, name)
    digest = hashlib.sha256(Path(made).read_bytes()).hexdigest()
    Path(made + ".sha256").write_text(f"{digest}  {os.path.basename(made)}\n")
    print(f"{made}: {Path(made).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
