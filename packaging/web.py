"""Builds the page that reads logs, fits monitors and scores logs in a browser, as one HTML file.

    python3 packaging/web.py --out target/offnominal.html

It compiles `offnominal-web` to WebAssembly, which needs the target: `rustup target add wasm32-unknown-unknown`. The module is
in the page, compressed; the page's policy (Content-Security-Policy) forbids every request, so nothing leaves the browser.
"""

import argparse
import base64
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "crates/offnominal-web/page"
# The script of the report of `score`.
ZOOM = ROOT / "crates/offnominal-logs/templates/zoom.js"
TARGET = "wasm32-unknown-unknown"
# Vectors of 128 bits, which every browser has had since 2023.
FLAGS = "-C target-feature=+simd128"
# Detectors that are fitted in seconds there, and the default of the command line, which takes minutes.
DETECTORS = ["mewma", "dpca", "knn-transition", "panel"]


def module():
    """The WebAssembly module, freshly built."""
    flags = {"CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS": FLAGS}
    cargo = ["cargo", "build", "--profile", "web", "--target", TARGET, "-p", "offnominal-web"]
    done = subprocess.run(
        [*cargo, "--message-format", "json"], cwd=ROOT, env=os.environ | flags, stdout=subprocess.PIPE
    )
    if done.returncode != 0:
        sys.exit(f"web: cargo could not build the module; it needs `rustup target add {TARGET}`")
    built = [json.loads(line) for line in done.stdout.splitlines()]
    files = [file for message in built for file in message.get("filenames", [])]
    return Path(next(file for file in files if file.endswith("offnominal_web.wasm"))).read_bytes()


def hashed(script):
    """How a policy names a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def page(wasm):
    """The page around a module."""
    script = (PAGE / "page.js").read_text()
    # Of the report that it shows in a frame only the script that zooms may run.
    # The worker is made of a text of the page; that text is its own script, and has the page's policy.
    policy = (
        f"default-src 'none'; script-src {hashed(script)} {hashed(ZOOM.read_text())} 'wasm-unsafe-eval'; worker-src blob:; "
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "POLICY": policy,
        "STYLE": (PAGE / "page.css").read_text(),
        "DETECTORS": "".join(f"<option>{name}</option>" for name in DETECTORS),
        "MODULE": base64.b64encode(gzip.compress(wasm, mtime=0)).decode(),
        "WORKER": (PAGE / "module.js").read_text() + (PAGE / "worker.js").read_text(),
        "SCRIPT": script,
    }
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], (PAGE / "page.html").read_text())


def main():
    options = argparse.ArgumentParser(description="Builds the page for browsers.")
    options.add_argument("--out", type=Path, default=ROOT / "target/offnominal.html", help="the file to write")
    options.add_argument("--module", type=Path, help="also write the module here, for programs that run it alone")
    given = options.parse_args()
    wasm = module()
    built = page(wasm)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(built)
    if given.module:
        given.module.write_bytes(wasm)
    print(f"{given.out}: {len(built):,} bytes, of a module of {len(wasm):,}")


if __name__ == "__main__":
    main()
