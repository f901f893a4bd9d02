"""Audits every pair of `pairs.toml` by `offnominal audit`, each with the Python of its family.

    python3 studies/foreign/run.py PLACE OFFNOMINAL [--work runs/foreign] [--only PART] [--again]

PLACE is where `install.py` put the virtual environments, OFFNOMINAL the program; run it in the repository's root. What one
audit found is kept in `pairs/NAME.json`, and a pair that has its file is left alone; with `--again` those are tried again
whose audit was refused. `--only` names a part of the pairs' names. The page is written after each pair.
"""

import argparse
import json
import os
import pathlib
import subprocess
import time

import page
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOUND = HERE / "pairs"

# An audit that takes longer is stopped.
LIMIT_SECS = 3600


def settings():
    """What holds for all audits, and the pairs."""
    read = tomllib.loads((HERE / "pairs.toml").read_text())
    return read["audit"], read["pair"]


def command(audit, pair, place, program, out, jobs):
    """The audit of a pair."""
    is_file = ":" not in pair["policy"]
    policy = place / pair["family"] / pair["policy"] if is_file else pair["policy"]
    given = [program, "audit", "--env", pair["env"], "--policy", policy, "--out", out]
    given += ["--depth", audit["depth"], "--alpha", audit["alpha"], "--seed", audit["seed"], "--jobs", jobs]
    given += [word for detector in audit["detectors"] for word in ("--detector", detector)]
    if "failure" in pair:
        given += ["--failure", pair["failure"]]
    return [str(word) for word in given]


def audited(given, python):
    """Runs an audit: its seconds and, where it was refused, why."""
    begun = time.monotonic()
    # A step is too small to be worth threads of its linear algebra.
    environment = os.environ | {"OFFNOMINAL_PYTHON": str(python), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            given, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_SECS, check=False
        )
        if done.returncode < 0:
            raise SystemExit(f"the audit was stopped by signal {-done.returncode}; the same command goes on with it")
        refused = None if done.returncode in (0, 1) else done.stderr.strip().splitlines()[-1].removeprefix("offnominal: ")
    except subprocess.TimeoutExpired as late:
        raise SystemExit(f"an audit took more than {LIMIT_SECS} s; the same command goes on with it") from late
    return time.monotonic() - begun, refused


def of_fault(fault):
    """A fault at its strengths, without the words that are the same for all pairs."""
    keep = ("strength", "magnitude", "in_units", "missing", "auroc_matched", "detection_rate", "delay_median")
    return {
        "anomaly": fault["anomaly"],
        "strengths": [{key: strength.get(key) for key in keep} for strength in fault["strengths"]],
    }


def planned(folder):
    """The plan of an audit, of which the times are those of the machine as it was."""
    read = json.loads((folder / "plan.json").read_text())
    return read["content"]


def kept(pair, folder, secs):
    """What is kept of an audit."""
    found = json.loads((folder / "audit.json").read_text())
    same = ("depth", "alpha", "recommended", "detectors", "monitor", "left_out")
    return {
        "pair": pair["name"],
        "secs": round(secs),
        "planned_secs": round(sum(part[1] for part in planned(folder)["parts"])),
        **{key: found[key] for key in same},
        "policy": found["policy"],
        "faults": [of_fault(fault) for fault in found["faults"]],
        "failures": {key: found["failures"][key] for key in ("counts_failures", "episodes", "failures", "counted", "refused")},
        "sources": found["made"],
    }


def one(pair, audit, place, program, work, jobs):
    """Audits a pair and writes its file."""
    folder = work / pair["name"]
    given = command(audit, pair, place, program, folder, jobs)
    secs, refused = audited(given, place / pair["family"] / "bin" / "python")
    result = {"pair": pair["name"], "secs": round(secs), "refused": refused} if refused else kept(pair, folder, secs)
    text = json.dumps(result, indent=1)
    for path, name in ((place, "PLACE"), (ROOT, "."), (work, "WORK")):
        text = text.replace(str(path), name)
    FOUND.mkdir(exist_ok=True)
    (FOUND / f"{pair['name']}.json").write_text(text + "\n")
    print(f"{pair['name']}: {secs:.0f} s, {refused or 'audited'}", flush=True)


def is_due(pair, again):
    """Whether a pair is to be audited now."""
    path = FOUND / f"{pair['name']}.json"
    if "skip" in pair:
        return False
    return not path.exists() or (again and "refused" in json.loads(path.read_text()))


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("place", type=pathlib.Path)
    words.add_argument("program")
    words.add_argument("--work", type=pathlib.Path, default=ROOT / "runs" / "foreign")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--only", default="")
    words.add_argument("--again", action="store_true")
    given = words.parse_args()
    audit, pairs = settings()
    for pair in pairs:
        if given.only in pair["name"] and is_due(pair, given.again):
            one(pair, audit, given.place.resolve(), given.program, given.work.resolve(), given.jobs)
            page.write()


if __name__ == "__main__":
    main()
