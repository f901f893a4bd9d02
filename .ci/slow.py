#!/usr/bin/env python3
"""Runs the slow tier of the crates that changed, with the test programs that `cargo test --workspace` has built.

    .ci/slow.py --base COMMIT --seconds 300

`cargo test -p CRATE` would compile everything again, because features are resolved for that crate alone. A program that is
not finished in time is stopped, which is no error: what it has tested is printed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def changed(base):
    """The crates in which a file differs from that of a commit."""
    done = subprocess.run(["git", "diff", "--name-only", base, "--", "crates"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    names = {path.split("/")[1] for path in done.stdout.split()}
    return sorted(name for name in names if (ROOT / "crates" / name / "Cargo.toml").is_file())


def programs():
    """The test programs of the workspace: the folder of the crate, and the path of the program."""
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format", "json", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    built = [m for m in messages if m["reason"] == "compiler-artifact" and m["profile"]["test"] and m["executable"]]
    return [(Path(m["manifest_path"]).parent, m["executable"]) for m in built]


def main():
    """Runs them one after the other, until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="the commit to compare with")
    parser.add_argument("--seconds", type=float, required=True, help="time for all programs together")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    names = changed(options.base)
    for crate, program in programs():
        if crate.name not in names:
            continue
        left = end - time.monotonic()
        if left <= 0:
            print(f"no time left for the slow tier of {crate.name}", flush=True)
            continue
        print(f"slow tier of {crate.name}: {Path(program).name}", flush=True)
        try:
            subprocess.run([program], cwd=crate, check=True, timeout=left, env=os.environ | {"RUN_SLOW_TESTS": "1"})
        except subprocess.TimeoutExpired:
            print(f"the slow tier of {crate.name} was not finished in time", flush=True)
        except subprocess.CalledProcessError as error:
            sys.exit(f"the slow tier of {crate.name} failed: {error}")


if __name__ == "__main__":
    main()
