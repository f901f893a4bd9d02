"""Packs the crates that crates.io gets, and checks what is in them.

    python3 packaging/crates.py                # packs them and checks their content
    python3 packaging/crates.py --verify       # also compiles each from its package alone
    python3 packaging/crates.py --publish      # publishes them, each after those that it needs

A package must hold its README with an example of code, both licences, and every file that its code includes; it must need no crate of
this workspace that is not published.
"""

import argparse
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent
INCLUDED = re.compile(r'include_(?:str|bytes)!\("([^"]+)"\)')
WANTED = {"README.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.toml", "src/lib.rs"}


def cargo(*arguments):
    done = subprocess.run(["cargo", *arguments], cwd=ROOT, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"crates: cargo {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def published():
    """The members that may be published, and the target folder."""
    known = json.loads(cargo("metadata", "--format-version", "1", "--no-deps"))
    return [p for p in known["packages"] if p["publish"] is None], Path(known["target_directory"])


def outside(text, file, files):
    """What a source file includes and its package lacks; what only tests of the repository include does not count."""
    code = text.split("#[cfg(test)]")[0]
    missing = []
    for path in INCLUDED.findall(code):
        parts = []
        for part in (file.parent / path).parts:
            if part == "..":
                if not parts:
                    break
                parts.pop()
            else:
                parts.append(part)
        if "/".join(parts) not in files:
            missing.append(path)
    return missing


def check(archive, members):
    """What is wrong with one package."""
    with tarfile.open(archive) as tar:
        entries = [entry for entry in tar.getmembers() if entry.isfile()]
        texts = {e.name.split("/", 1)[1]: tar.extractfile(e).read() for e in entries}
    wrong = [f"expected the file {name}, found none" for name in sorted(WANTED - texts.keys())]
    if b"```rust" not in texts.get("README.md", b""):
        wrong.append("README.md: expected an example of code, which the documentation tests run, found none")
    for name, text in texts.items():
        is_test = name.endswith(("/tests.rs", "/references.rs")) or "/tests/" in name
        if name.endswith(".rs") and not is_test:
            for path in outside(text.decode(), Path(name), texts):
                wrong.append(f"{name}: includes {path}, which is not in the package")
    manifest = tomllib.loads(texts["Cargo.toml"].decode())
    for name, needed in manifest.get("dependencies", {}).items():
        if name.startswith("offnominal") and (name not in members or "version" not in needed):
            wrong.append(f"needs {name}, which is not published")
    for field in ("description", "license", "readme", "documentation", "keywords", "categories"):
        if not manifest["package"].get(field):
            wrong.append(f"Cargo.toml: expected a {field}, found none")
    return wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--verify", action="store_true")
    arguments.add_argument("--publish", action="store_true")
    given = arguments.parse_args()
    packages, target = published()
    names = [package["name"] for package in packages]
    chosen = [part for name in names for part in ("-p", name)]
    cargo("package", *chosen, "--allow-dirty", *([] if given.verify or given.publish else ["--no-verify"]))
    wrong = []
    for package in packages:
        archive = target / "package" / f"{package['name']}-{package['version']}.crate"
        wrong += [f"{package['name']}: {what}" for what in check(archive, names)]
        print(f"{archive.name}: {archive.stat().st_size // 1000} kB")
    if wrong:
        sys.exit("crates:\n" + "\n".join(wrong))
    if given.publish:
        cargo("publish", *chosen)


if __name__ == "__main__":
    main()
