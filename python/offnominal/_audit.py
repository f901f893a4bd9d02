"""One policy in one simulator: which faults a monitor notices, how often the policy fails (``docs/audit.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from offnominal._command import call
from offnominal._environments import AnyEnvironment
from offnominal._tables import Result
from offnominal.policies import Acting

Path = str | PathLike[str]


def audit(
    env: AnyEnvironment,
    policy: Path | Acting,
    *,
    budget_secs: float | None = None,
    depth: str | None = None,
    detectors: Sequence[str] | None = None,
    anomalies: Sequence[str] | None = None,
    alpha: float | None = None,
    failure: str | None = None,
    require: str | None = None,
    allow_diverged: int | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Audits a policy in an environment, and writes ``audit.html``, ``audit.json`` and a badge.

    Returns what ``offnominal audit --json`` prints; ``result["requirements"]`` says of each requirement whether it is met. A
    later call with the same ``out`` continues an audit that was interrupted, with the same plan.

    :param env: an environment of this package, ``gymnasium:ID`` for any of Gymnasium, a :class:`gymnasium.Env`, or a
        function that makes one.
    :param policy: the name of a shipped policy, the path of a file, ``module:name``, or any callable or object with
        ``predict``.
    :param budget_secs: time that it may take in seconds, 1800 if not given; it chooses the depth.
    :param depth: ``glance``, ``quick``, ``standard`` or ``thorough``, whatever it takes.
    :param detectors: detectors beside those of the depth.
    :param anomalies: faults in place of those of the depth.
    :param alpha: accepted share of nominal episodes with an alarm.
    :param failure: what counts as a failure in a hosted environment (``docs/foreign.md``).
    :param require: what must hold, such as ``"auroc_matched(tiny) >= .8, risk <= 1e-2"``.
    :param allow_diverged: episodes that may be without an outcome.
    :param out: the folder of everything that is written, ``runs/audit`` if not given.
    :raises ValueError: if the budget is too small for the least depth, an episode cannot be repeated from its seed, or an
        argument does not make sense.
    """
    request = {
        "env": env, "policy": policy, "budget_secs": None if budget_secs is None else f"{budget_secs}s",
        "depth": depth, "detectors": detectors,
        "anomalies": anomalies, "alpha": alpha, "failure": failure, "require": require, "allow_diverged": allow_diverged, "out": out,
    }  # fmt: skip
    return Result(call("audit", request, seed=seed, jobs=jobs, progress=progress))
