"""How often a policy fails, from where, and what finding a failure costs (``docs/risk.md``).

Each function is a command of ``offnominal risk`` and returns what that command prints with ``--json``. ``env`` is an id, a
:class:`gymnasium.Env`, or a function that makes one. With ``out`` it also
writes its files there, and a later call with the same ``out`` continues a run that was interrupted. ``scenario`` is a
dict with ``randomise`` and ``sigma``, ``parameter_table`` or ``distribution``, which say what is drawn for each episode, and ``below`` or
``stl``, by which one fails. ``failure`` states what fails in a hosted environment:
``terminated``, ``timeout``, ``info.KEY``, ``info.KEY=false`` or ``return<R``, and ``failure_margin`` what in its ``info`` tells how far a
state is from that: ``info.KEY`` (``docs/foreign.md``). The same ``seed`` gives the same bits for any
``jobs``; 0 is all cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from offnominal._command import call
from offnominal._environments import AnyEnvironment
from offnominal._tables import Result

Path = str | PathLike[str]

__all__ = [
    "budget",
    "estimate",
    "learn",
    "replay",
    "search",
    "select",
    "split",
    "stress",
]


def learn(
    env: AnyEnvironment,
    histories: Sequence[Path] = (),
    *,
    policies: Sequence[Path] = (),
    episodes: int | None = None,
    noises: Sequence[float] | None = None,
    history_only: bool | None = None,
    near: Path | None = None,
    form: str | None = None,
    places: bool | None = None,
    early: float | None = None,
    steps: int | None = None,
    members: int | None = None,
    scenario: dict[str, Any] | None = None,
    failure: str | None = None,
    failure_margin: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Learns a predictor of failure from the histories of training runs, or of episodes that it plays with ``policies``.

    :param policies: checkpoints, or folders of them, whose episodes make a history first: ``history.safetensors`` in ``out``.
    :param episodes: episodes of each of these policies at each level of noise.
    :param noises: standard deviations of noise on their actions.
    :param history_only: end when that history is written.
    :param near: a history of policies that fail about as rarely as the one under test; it chooses the exponent.
    :param form: ``mlp``, ``hazard``, ``dictionary``, or ``margin``, which learns how near episodes came to failing.
    :param places: learn hazards from the place of each failure too, where the history has it.
    :param early: share of the training that is left out at its beginning.
    """
    request = {
        "env": env, "failure": failure, "failure_margin": failure_margin, "histories": list(histories),
        "policies": list(policies), "episodes": episodes, "noises": noises, "history_only": history_only,
        "near": near, "form": form, "places": places,
        "early": early, "steps": steps, "members": members, "scenario": scenario, "out": out,
    }  # fmt: skip
    return _result("learn", request, seed, jobs, progress)


def estimate(
    env: AnyEnvironment,
    policy: Path,
    *,
    anomaly: dict[str, Any] | None = None,
    method: str | None = None,
    predictor: Path | None = None,
    episodes: int | None = None,
    exponent: float | None = None,
    goal: str | None = None,
    plain_share: float | None = None,
    top_share: float | None = None,
    rate: float | None = None,
    level: float | None = None,
    max_risk: float | None = None,
    early_stop: bool | None = None,
    width: float | None = None,
    cheap: AnyEnvironment | None = None,
    parameters: Mapping[str, float] | None = None,
    cheap_parameters: Mapping[str, float] | None = None,
    per_dear: int | None = None,
    block: int | None = None,
    scenario: dict[str, Any] | None = None,
    allow_diverged: int | None = None,
    failure: str | None = None,
    failure_margin: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Estimates the probability that an episode fails, with an interval that holds whatever the predictor is worth.

    :param anomaly: what goes wrong in every episode: a dict of ``anomaly``, ``magnitude`` or ``strength`` (with ``strengths``, the
        table or folder that :func:`offnominal.calibrate` wrote), ``onset``, …
    :param method: ``plain``, ``thinned`` or ``adaptive``; thinned with a predictor, else plain.
    :param predictor: the file that :func:`learn` wrote.
    :param episodes: number of episodes, each one experiment; a run in ``out`` is continued to so many.
    :param exponent: how much the predictor is trusted.
    :param goal: ``estimate`` or ``gate``, which sets ``plain_share`` to 0.1 or 0.8.
    :param plain_share: share of the experiments that ignores the predictor.
    :param top_share: share of the draws, those with the highest predictions, whose failures are told apart.
    :param level: confidence level of the intervals.
    :param max_risk: largest acceptable failure probability, for ``early_stop``.
    :param early_stop: end as soon as the interval lies on one side of ``max_risk``.
    :param width: end as soon as the interval is at most so wide; ``episodes`` are then the most.
    :param cheap: a cheap environment with the same channels and initial conditions, whose episodes help those of ``env``, the
        dear one; the result is then that of pairs of episodes.
    :param parameters: parameters of the dear environment that differ from nominal, in all episodes.
    :param cheap_parameters: the same of the cheap environment.
    :param per_dear: fresh cheap episodes per dear one, beside the one that begins as it does.
    :param block: pairs between two looks.
    :param allow_diverged: experiments that may be without an outcome; they count as failures.
    """
    request = {
        "env": env, "failure": failure, "failure_margin": failure_margin,
        "policy": policy, "anomaly": anomaly, "method": method, "predictor": predictor,
        "episodes": episodes,
        "exponent": exponent, "goal": goal, "plain_share": plain_share, "top_share": top_share,
        "rate": rate, "level": level,
        "scenario": scenario, "max_risk": max_risk, "early_stop": early_stop,
        "width": width, "cheap": cheap, "parameters": parameters, "cheap_parameters": cheap_parameters, "per_dear": per_dear,
        "block": block, "allow_diverged": allow_diverged, "out": out,
    }  # fmt: skip
    return _result("estimate", request, seed, jobs, progress)


def search(
    env: AnyEnvironment,
    policies: Sequence[Path],
    strategies: Sequence[str],
    *,
    predictor: Path | None = None,
    history: Path | None = None,
    searches: int | None = None,
    budget: int | None = None,
    of: Sequence[int] | None = None,
    all: bool | None = None,
    level: float | None = None,
    scenario: dict[str, Any] | None = None,
    allow_diverged: int | None = None,
    failure: str | None = None,
    failure_margin: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Measures what finding one failure costs, for each strategy and policy.

    :param strategies: of ``random``, ``replay``, ``argmax``, ``cross-entropy`` and ``elites``.
    :param searches: repetitions of each.
    :param budget: most experiments of one search.
    :param allow_diverged: experiments that may be without an outcome; they count as failures.
    """
    request = {
        "env": env, "failure": failure, "failure_margin": failure_margin, "policies": list(policies), "strategies": list(strategies),
        "predictor": predictor,
        "history": history, "searches": searches, "budget": budget, "of": of, "all": all, "level": level,
        "scenario": scenario, "allow_diverged": allow_diverged, "out": out,
    }  # fmt: skip
    return _result("search", request, seed, jobs, progress)


def stress(
    env: AnyEnvironment,
    policy: Path,
    *,
    noise: Path | None = None,
    strategies: Sequence[str] | None = None,
    searches: int | None = None,
    budget: int | None = None,
    refine: int | None = None,
    parts: int | None = None,
    start: int | None = None,
    level: float | None = None,
    allow_diverged: int | None = None,
    scenario: dict[str, Any] | None = None,
    failure: str | None = None,
    failure_margin: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Finds the most likely failure under the declared noise of sensors and actuators: disturbances in every step.

    :param env: an environment that declares its noise, such as ``"car-lanekeep?noise=datasheet"``.
    :param noise: the noise, where the environment does not say it: a level or a file.
    :param strategies: of ``"random"``, which is always tried, ``"climb"`` and ``"cross-entropy"``; all if absent.
    :param searches: searches of each strategy; a run in ``out`` is continued to so many.
    :param budget: most experiments of one search.
    :param refine: episodes for making a failure likelier once it was found.
    :param parts: parts of an episode in each of which ``"cross-entropy"`` holds a disturbance.
    :param start: the search of this seed from whose initial condition all searches begin.
    :param allow_diverged: episodes that may be without an outcome; they do not count as failures.
    """
    request = {
        "env": env, "failure": failure, "failure_margin": failure_margin,
        "noise": noise, "policy": policy, "strategies": strategies, "searches": searches,
        "budget": budget, "refine": refine, "parts": parts, "start": start, "level": level,
        "allow_diverged": allow_diverged, "scenario": scenario, "out": out,
    }  # fmt: skip
    return _result("stress", request, seed, jobs, progress)


def select(
    env: AnyEnvironment,
    policies: Sequence[Path],
    *,
    predictor: Path | None = None,
    budget: int | None = None,
    round: int | None = None,
    exponent: float | None = None,
    rate: float | None = None,
    level: float | None = None,
    history: bool | None = None,
    truth: Path | None = None,
    allow_diverged: int | None = None,
    scenario: dict[str, Any] | None = None,
    failure: str | None = None,
    failure_margin: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Selects the policy that fails least by a race, in which those that are surely worse are eliminated.

    :param budget: most experiments of each policy.
    :param round: draws of each policy between two eliminations.
    :param truth: a history of many plain episodes, to tell what choosing by the lowest estimate is worth.
    :param allow_diverged: experiments that may be without an outcome; they count as failures.
    """
    request = {
        "env": env, "scenario": scenario, "failure": failure, "failure_margin": failure_margin,
        "policies": list(policies), "predictor": predictor,
        "budget": budget, "round": round, "exponent": exponent, "rate": rate, "level": level, "history": history, "truth": truth,
        "allow_diverged": allow_diverged, "out": out,
    }  # fmt: skip
    return _result("select", request, seed, jobs, progress)


def split(
    env: AnyEnvironment,
    policy: Path,
    *,
    swarms: int | None = None,
    particles: int | None = None,
    moves: int | None = None,
    budget: int | None = None,
    level: float | None = None,
    allow_diverged: int | None = None,
    scenario: dict[str, Any] | None = None,
    failure: str | None = None,
    failure_margin: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Estimates a small failure probability by splitting, in environments with a margin.

    :param allow_diverged: experiments that may be without an outcome; they count as failures.
    """
    request = {
        "env": env, "scenario": scenario, "failure": failure, "failure_margin": failure_margin, "policy": policy, "swarms": swarms,
        "particles": particles, "moves": moves, "budget": budget, "level": level, "allow_diverged": allow_diverged, "out": out,
    }  # fmt: skip
    return _result("split", request, seed, jobs, progress)


def replay(
    run: Path, failure: int = 0, *, policy: Path | None = None, size: int | None = None, out: Path | None = None
) -> Result:
    """Plays a failure of a run again, and writes it as a dataset and a video.

    :param run: the folder of :func:`estimate` or of :func:`stress`.
    :param failure: its number in the run, from 0.
    :param policy: another policy from the same initial condition.
    """
    request = {"run": run, "number": failure, "policy": policy, "size": size, "out": out}
    return Result(call("render", request, seed=0, jobs=1, progress=False))


def budget(p: float, *, delta: float | None = None, confidence: float | None = None) -> Result:
    """Tells how many episodes plain counting needs to estimate a failure probability within a factor of ``delta``."""
    return _result("budget", {"p": p, "delta": delta, "confidence": confidence}, 0, 1, False)


def _result(command: str, request: dict[str, Any], seed: int, jobs: int, progress: bool) -> Result:
    return Result(call(f"risk {command}", request, seed=seed, jobs=jobs, progress=progress))
