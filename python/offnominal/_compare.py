"""Whether a new policy is better than an old one, on the same seeds (``docs/compare.md``)."""

from __future__ import annotations

from os import PathLike
from typing import Any

from offnominal._command import call
from offnominal._environments import AnyEnvironment
from offnominal._tables import Result
from offnominal.policies import Acting

Path = str | PathLike[str]


def compare(
    old: Path | Acting,
    new: Path | Acting,
    *,
    env: AnyEnvironment,
    metric: str | None = None,
    margin: float | None = None,
    require: str | None = None,
    return_range: tuple[float, float] | None = None,
    monitor: Path | None = None,
    anomaly: dict[str, Any] | None = None,
    twin: bool | None = None,
    scenario: dict[str, Any] | None = None,
    failure: str | None = None,
    episodes: int | None = None,
    block: int | None = None,
    level: float | None = None,
    allow_diverged: int | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Plays two policies on the same seeds until it is clear whether the new one is better, worse, or within a margin.

    Returns what ``offnominal compare --json`` prints; ``result["verdict"]`` is ``better``, ``worse``, ``no-worse`` or
    ``undecided``. With ``out`` the pairs are kept there, and a later call with the same ``out`` continues.

    :param old: the policy that is in use: the name of a shipped policy, the path of a file, ``module:name``, or any callable
        or object with ``predict``.
    :param new: the policy that is to take its place.
    :param env: an id, ``gymnasium:ID``, a :class:`gymnasium.Env`, or a function that makes one.
    :param metric: ``failure``, ``return``, ``wins``, ``success`` or ``alarms``; if not given, success where the environment
        defines it, else return.
    :param margin: how much worse the new policy may be, in the unit of the metric.
    :param require: ``no-worse`` or ``better``; it is part of the result, and decides when the comparison may stop.
    :param return_range: the smallest and the largest possible return, which make its interval exact.
    :param monitor: a monitor's file, whose alarms are compared too.
    :param anomaly: what goes wrong: a dict of ``anomaly``, ``magnitude`` or ``strength``, and as an option ``channels``, ``onset``.
    :param twin: also play the nominal twins, and compare what the anomaly costs either policy.
    :param scenario: a dict with ``randomise``, ``sigma``, ``parameter_table`` or ``distribution``, and ``below`` or ``stl``.
    :param failure: what counts as a failure in a hosted environment (``docs/foreign.md``).
    :param episodes: pairs after which it ends, decided or not.
    :param block: pairs between two looks.
    :param level: confidence level of each interval, which holds at every number of pairs.
    :param allow_diverged: episodes that may be without an outcome.
    :raises ValueError: if an environment, a policy or an argument does not make sense.
    """
    request = {
        "env": env, "failure": failure, "old": old, "new": new, "metric": metric, "margin": margin, "require": require,
        "return_range": return_range, "monitor": monitor, "anomaly": anomaly, "twin": twin, "scenario": scenario,
        "episodes": episodes, "block": block, "level": level, "allow_diverged": allow_diverged, "out": out,
    }  # fmt: skip
    return Result(call("compare", request, seed=seed, jobs=jobs, progress=progress))
