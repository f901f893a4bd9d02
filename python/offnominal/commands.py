"""The other commands of ``offnominal`` as functions: each returns what the command prints with ``--json``.

It is a dict, or a list of dicts, with ``to_pandas()``, ``to_polars()`` and ``to_arrow()``.

The same ``seed`` gives the same bits for any ``jobs``; 0 is all cores. Options are those of the command, with underscores; an
unknown one is refused by name. An anomaly is a dict of ``anomaly``, ``magnitude`` or ``strength``, ``channels``, ``onset``,
``window``, ``intermittent``; ``scenario`` is a dict of ``randomise``, ``sigma``, ``parameter_table``, ``distribution``, ``below`` or
``stl``.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

from offnominal._command import call
from offnominal._environments import AnyEnvironment
from offnominal._tables import Records, Result
from offnominal.policies import Acting

Path = str | PathLike[str]

__all__ = [
    "calibrate",
    "campaign",
    "ensemble",
    "export_minari",
    "fit",
    "import_sb3",
    "metrics",
    "render",
    "report",
    "score",
    "suite",
    "train",
]


def train(env: AnyEnvironment, out: Path, *, seed: int = 0, progress: bool = True, **options: Any) -> Result:
    """Trains a policy, writes it with its card into a folder, and returns the card.

    :param options: ``algorithm``, ``steps``, ``preset``, ``set`` (a list of ``"name=value"``), ``eval_every``, ``history``,
        ``checkpoints``, ``demonstrator`` (a policy that plays the demonstrations of the recipe), ``scenario``, and ``resume`` to
        continue the run in the folder.
    """
    return _result("train", {"env": env, "out": out, **options}, seed, 0, progress)


def fit(
    env: AnyEnvironment,
    policy: str | Acting,
    file: Path,
    *,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Fits a detector on nominal episodes, sets its threshold on others, and writes both as one file.

    :param options: ``detector`` (an id, or a dict with ``id``), ``data`` (a file of episodes, instead of new ones), ``train``,
        ``calibration``, ``rule``, ``alpha``, ``confidence``, ``alarm`` (a dict of ``arm_after``, ``raise_after``, ``clear_after``),
        ``diagnosis``, ``faults`` (of each kind that are played to teach a diagnosis names), ``allow_diverged`` (nominal episodes
        that may be without an outcome).
    """
    return _result("fit", {"env": env, "policy": policy, "file": file, **options}, seed, jobs, progress)


def score(monitor: Path, episodes: Path) -> Records:
    """What a monitor says of the episodes in a file: their largest score, and the step of the first alarm."""
    return Records(call("score", {"monitor": monitor, "logs": [episodes]}, seed=0, jobs=0, progress=False))


def campaign(campaign: Path, out: Path, *, jobs: int = 0, progress: bool = True) -> Result:
    """Runs what is not finished of a campaign file, and writes tables and report."""
    return _result("bench", {"campaign": campaign, "out": out}, 0, jobs, progress)


def suite(suite: str, out: Path, *, jobs: int = 0, progress: bool = True, **options: Any) -> Result:
    """Runs what is not finished of a suite: ``vector``, ``faults``, ``transfer``, ``images`` or ``ood-rl``.

    :param options: ``envs``, ``detectors``, ``seeds``; none of them for ``ood-rl``.
    """
    return _result("bench", {"suite": suite, "out": out, **options}, 0, jobs, progress)


def report(dir: Path, out: Path | None = None) -> Result:
    """Makes the page of a folder of results anew."""
    return _result("report", {"dir": dir, "out": out}, 0, 0, False)


def calibrate(
    env: AnyEnvironment,
    policy: str | Acting,
    out: Path,
    *,
    anomalies: Sequence[str] = (),
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
    **options: Any,
) -> Records:
    """Finds how strong each anomaly must be to cost a policy 1, 10, 25 and 50 % of its score.

    :param options: ``episodes``, ``budget``, ``tolerance``, ``precision``; ``cameras`` and ``images``; ``at``, a table of magnitudes;
        ``allow_diverged``, nominal episodes that may be without an outcome.
    """
    request = {"env": env, "policy": policy, "anomalies": list(anomalies), "out": out, **options}
    return Records(call("calibrate", request, seed=seed, jobs=jobs, progress=progress)["rows"])


def metrics(file: Path, *, threshold: float | None = None, seed: int = 0, **options: Any) -> Result:
    """Judges scores in a CSV file: metric → estimate, or ``None`` where the scores do not define it.

    :param threshold: alarms are scores above this; adds delays, missed, early and false alarms.
    :param options: ``replicates``, ``level``.
    """
    return _result("metrics", {"file": file, "threshold": threshold, **options}, seed, 1, False)


def render(
    env: AnyEnvironment, policy: str | Acting, out: Path, *, seed: int = 0, progress: bool = True, **options: Any
) -> Result:
    """Writes images and a video of one episode: ``size``, ``camera``, ``frames``, ``classes``, ``anomaly``."""
    return _result("render", {"env": env, "policy": policy, "out": out, **options}, seed, 1, progress)


def export_minari(dataset: Path, id: str, out: Path, *, format: Literal["hdf5", "arrow"] = "hdf5") -> Result:
    """Writes a file of episodes as a folder that ``minari.load_dataset`` reads."""
    return _result("export", {"to": "minari", "dataset": dataset, "id": id, "out": out, "format": format}, 0, 1, False)


def import_sb3(model: Path, env: str, out: Path, *, normalize: Path | None = None, stack: int | None = None) -> Result:
    """Writes a model of Stable-Baselines3 or sb3-contrib as a policy; nothing in the file is executed.

    :param normalize: what ``VecNormalize.save`` wrote; by default the file beside the model that has its name or is called
        ``vec_normalize.pkl`` or ``vecnormalize.pkl``; ``"none"`` if observations were not normalised.
    :param stack: frames that ``VecFrameStack`` stacked.
    """
    request = {"library": "sb3", "model": model, "env": env, "out": out, "normalize": normalize, "stack": stack}
    return _result("import", request, 0, 1, False)


def ensemble(env: str, members: Sequence[Path], out: Path) -> Result:
    """Writes the mean of several policies as one."""
    return _result("ensemble", {"env": env, "members": list(members), "out": out}, 0, 1, False)


def _result(command: str, request: dict[str, Any], seed: int, jobs: int, progress: bool) -> Result:
    return Result(call(command, request, seed=seed, jobs=jobs, progress=progress))
