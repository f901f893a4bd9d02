"""Lays out the C library of a monitor as compilers, pkg-config and CMake look for it.

    cargo build --release -p offnominal-monitor-c
    python3 packaging/c_library.py --target x86_64-unknown-linux-gnu --from target/release --out /opt/offnominal

The folder gets lib/ (the shared and the static library), include/, lib/pkgconfig/ and lib/cmake/. It may be moved: nothing in
it names a place. `packaging/archive.py` lays out the same in its archives.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATE = ROOT / "crates/offnominal-monitor-c"
NAME = "offnominal_monitor_c"


class System:
    """What the libraries of an operating system are called, and what the static one needs."""

    def __init__(self, target):
        self.is_windows = "windows" in target
        is_apple = "apple" in target
        if self.is_windows:
            # The shared library lies where programs find it, and its import library where the linker does.
            self.shared, self.imports, self.static = f"bin/{NAME}.dll", f"lib/{NAME}.dll.lib", f"lib/{NAME}.lib"
            self.needs = ["kernel32", "ntdll", "userenv", "ws2_32", "dbghelp"]
        else:
            self.shared, self.static = f"lib/lib{NAME}.{'dylib' if is_apple else 'so'}", f"lib/lib{NAME}.a"
            self.imports = self.shared
            self.needs = ["m"] if is_apple else ["pthread", "dl", "m"]

    def libraries(self):
        return dict.fromkeys([self.shared, self.imports, self.static])


def version():
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def lay_out(target, built, folder):
    """Copies the libraries from the folder in which cargo has built them, and writes what finds them there."""
    system = System(target)
    for library in system.libraries():
        source = built / Path(library).name
        if not source.is_file():
            sys.exit(f"c_library: expected the library {source}, found none; build offnominal-monitor-c for {target}")
        (folder / library).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, folder / library)
    shutil.copytree(CRATE / "include", folder / "include", dirs_exist_ok=True)
    words = {
        "VERSION": version(),
        "PRIVATE": " ".join(f"-l{name}" for name in system.needs),
        "LIBRARIES": ";".join(system.needs),
        "SHARED": system.shared,
        "IMPORTS": f'\n    IMPORTED_IMPLIB "${{_offnominal_prefix}}/{system.imports}"' if system.is_windows else "",
        "STATIC": system.static,
    }
    for template in sorted((ROOT / "packaging/c").glob("*.in")):
        place = "lib/pkgconfig" if template.stem.endswith(".pc") else "lib/cmake/offnominal-monitor"
        (folder / place).mkdir(parents=True, exist_ok=True)
        text = re.sub("@([A-Z]+)@", lambda word: words[word[1]], template.read_text())
        (folder / place / template.stem).write_text(text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--target", required=True, help="for which the libraries were built")
    arguments.add_argument("--from", dest="built", type=Path, required=True, help="the folder that holds them")
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    lay_out(given.target, given.built, given.out)


if __name__ == "__main__":
    main()
