#!/usr/bin/env python3
"""Runs the slow tier of the crates that changed, with the test programs that `cargo test --workspace` has built.

    .ci/slow.py --base COMMIT --seconds 300

`cargo test -p CRATE` would compile everything again, because features are resolved for that crate alone. A program may take a
third of the time. One that is not finished in time is stopped, which is no error: what it has tested is printed.
"""

import argparse
import json
import os
import signal
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


def run(crate, program, seconds):
    """The exit code of a test program; none if it was stopped, with all that it had started."""
    environment = os.environ | {"RUN_SLOW_TESTS": "1"}
    process = subprocess.Popen([program], cwd=crate, env=environment, start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


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
        code = run(crate, program, min(left, options.seconds / 3))
        if code is None:
            print(f"the slow tier of {crate.name} was not finished in time", flush=True)
        elif code != 0:
            sys.exit(f"the slow tier of {crate.name} failed: {program} ended with {code}")


if __name__ == "__main__":
    main()
