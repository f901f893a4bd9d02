"""Results and their inputs as one signed file, and its check (``docs/evidence.md``)."""

from __future__ import annotations

import os
import shlex
from os import PathLike

from offnominal._command import PROGRAM, call
from offnominal._tables import Result

Path = str | PathLike[str]


def evidence(run: Path, *, out: Path = "evidence.zip", key: Path | None = None) -> Result:
    """Puts the results of a finished command and the inputs that it names into one file.

    Paths of inputs are those of the command: call it where the command was given.

    :param run: the folder of an audit, a campaign, or :func:`offnominal.risk.estimate`.
    :param out: the bundle.
    :param key: the file of a secret key (``offnominal evidence --new-key FILE``); without one the bundle is not signed.
    :raises ValueError: if the folder holds no such results, or an input lies outside this folder.
    """
    return Result(call("evidence", {"run": run, "out": out, "key": key}, seed=0, jobs=1, progress=False))


def verify(
    bundle: Path,
    *,
    key: str | None = None,
    sample: int | None = None,
    sample_seed: int | None = None,
    allow_programs: bool = False,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Checks a bundle: digests, signature, version, and parts of the work done once more.

    ``result["checks"]`` says of each whether it holds; ``None`` stands for what could not be checked.

    :param bundle: the file that :func:`evidence` wrote.
    :param key: the public key that must have signed it.
    :param sample: how many parts are done once more: draws, blocks of roots, or cells (at most 20).
    :param sample_seed: the seed by which parts are drawn; from the operating system if not given.
    :param allow_programs: run programs, modules and hosted environments that the bundle names, if you trust who made it.
    """
    request = {
        "bundle": bundle, "key": key, "sample": sample, "sample_seed": sample_seed, "allow_programs": allow_programs,
    }  # fmt: skip
    # The check does parts of the work in processes of this program.
    os.environ["OFFNOMINAL_PROGRAM"] = shlex.join(PROGRAM)
    return Result(call("verify", request, seed=0, jobs=jobs, progress=progress))
