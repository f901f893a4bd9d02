"""How much return a policy loses when its body changes (``docs/shift.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from offnominal._command import call
from offnominal._environments import AnyEnvironment
from offnominal._tables import Result

Path = str | PathLike[str]


def shift(
    env: AnyEnvironment,
    *,
    policies: Path | None = None,
    toplines: Path | None = None,
    sigma: Sequence[float] | None = None,
    bodies: int | None = None,
    steps: int | None = None,
    randomise: Sequence[str] | None = None,
    reading: str | None = None,
    mass: str | None = None,
    fall: str | None = None,
    nominal_runs: int | None = None,
    updates: int | None = None,
    detectors: Sequence[str] | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Plays policies on bodies that are drawn around the nominal one, and predicts the gap of the return without reward.

    Returns what ``offnominal shift --json`` prints. With ``out`` the tables and the page are written there, and a later
    call with the same ``out`` continues a run that was interrupted.

    :param env: ``hopper``, ``walker``, ``ant`` or ``half-cheetah-m``.
    :param policies: a folder, an archive or a file of policies; the shipped ones if not given.
    :param toplines: policies that were trained on the bodies.
    :param sigma: spreads of the bodies, relative to the nominal sizes.
    :param bodies: number of bodies of each spread.
    :param steps: steps of each policy on each body.
    :param randomise: what is drawn: ``limbs``, ``mass``, ``ground-friction``, ``motor-strength``.
    :param nominal_runs: runs of each policy on the nominal body, for the predictors.
    :param updates: gradient steps of the internal models.
    :param detectors: detectors whose scores are compared with the gap.
    """
    request = {
        "env": env, "policies": policies, "toplines": toplines, "sigma": sigma, "bodies": bodies, "steps": steps,
        "randomise": randomise, "reading": reading, "mass": mass, "fall": fall, "nominal_runs": nominal_runs, "updates": updates,
        "detectors": detectors, "out": out,
    }  # fmt: skip
    return Result(call("shift", request, seed=seed, jobs=jobs, progress=progress))
