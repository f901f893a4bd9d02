"""What was found, in Weights & Biases and in MLflow.

Each function takes :class:`offnominal.Results`, a folder of ``offnominal bench``, or a folder of ``offnominal train``, and logs
what is there once: of a benchmark its table, the mean of each metric of each detector, and the report; of a training run its
curves, its card and its policy. TensorBoard reads the folder of a training run itself.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from offnominal._events import Point, points
from offnominal._tables import flat, needed
from offnominal.benchmark import Results

__all__ = ["mlflow", "wandb"]


@dataclass
class _Found:
    """What there is to log, whoever keeps it."""

    name: str
    #: What the run was made of.
    config: dict[str, Any]
    #: Numbers at its end.
    summary: dict[str, float]
    files: list[Path]
    curves: list[Point] = field(default_factory=list)
    table: dict[str, list[str]] = field(default_factory=dict)
    page: Path | None = None


def wandb(
    found: Results | str | PathLike[str],
    *,
    project: str = "offnominal",
    name: str | None = None,
    mode: str | None = None,
    **settings: Any,
) -> str:
    """Logs a benchmark or a training run to Weights & Biases, and returns the id of the run.

    :param mode: ``online``, ``offline`` (written below ``./wandb``, for ``wandb sync``) or ``disabled``; as the environment says
        if not given.
    :param settings: other arguments of ``wandb.init``.
    :raises ImportError: if wandb is not installed.
    """
    library, own = needed("wandb", "wandb"), _read(found)
    run = library.init(project=project, name=name or own.name, config=own.config, mode=mode, **settings)
    for step, numbers in _by_step(own.curves).items():
        run.log(numbers, step=step)
    if own.table:
        rows = [list(row) for row in zip(*own.table.values())]
        run.log({"results": library.Table(columns=list(own.table), data=rows)})
    if own.page is not None:
        run.log({"report": library.Html(str(own.page))})
    run.summary.update(own.summary)
    artifact = library.Artifact(_plain(own.name), type="results" if own.table else "policy")
    for file in own.files:
        artifact.add_file(str(file))
    run.log_artifact(artifact)
    run.finish()
    return str(run.id)


def mlflow(
    found: Results | str | PathLike[str],
    *,
    experiment: str = "offnominal",
    name: str | None = None,
    tracking_uri: str | None = None,
) -> str:
    """Logs a benchmark or a training run to MLflow, and returns the id of the run.

    :param tracking_uri: a server or a store, such as ``http://server:5000`` or ``sqlite:///mlflow.db``; as the environment
        says if not given.
    :raises ImportError: if MLflow is not installed.
    """
    library, own = needed("mlflow", "mlflow", "MLflow"), _read(found)
    if tracking_uri is not None:
        library.set_tracking_uri(tracking_uri)
    library.set_experiment(experiment)
    with library.start_run(run_name=name or own.name) as run:
        library.log_params({key: str(value)[:500] for key, value in own.config.items()})
        for step, numbers in _by_step(own.curves).items():
            library.log_metrics({_plain(tag): value for tag, value in numbers.items()}, step=step)
        library.log_metrics({_plain(tag): value for tag, value in own.summary.items()})
        for file in own.files:
            library.log_artifact(str(file))
    return str(run.info.run_id)


def _read(found: Results | str | PathLike[str]) -> _Found:
    """What a folder holds.

    :raises FileNotFoundError: if it is a folder of neither.
    """
    folder = found.folder if isinstance(found, Results) else Path(found)
    if (folder / "results.csv").is_file():
        return _benchmark(Results.open(folder))
    if (folder / "training.json").is_file():
        return _training(folder)
    raise FileNotFoundError(f"{folder}: expected a folder of offnominal bench or offnominal train, found none of their files")


def _benchmark(results: Results) -> _Found:
    table, folder = results.columns(), results.folder
    names = ("env", "policy", "detector", "metric", "value", "anomaly")
    means: dict[str, list[float]] = defaultdict(list)
    for row in zip(*(table[name] for name in names)):
        env, policy, detector, metric, value, anomaly = row
        # The control is not an anomaly, and counts in no mean.
        if anomaly != "none" and value not in ("", "NaN"):
            means["/".join((env, policy, detector, metric))].append(float(value))
    made = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    config = {key: value for key, value in flat(made.get("recipe", {})).items() if isinstance(value, (str, int, float))}
    pages = [page for page in (results.report,) if page.is_file()]
    tables = [path for path in (folder / "results.csv", folder / "results.parquet") if path.is_file()]
    summary = {name: sum(values) / len(values) for name, values in means.items()}
    name = table["campaign"][0] if table.get("campaign") else folder.name
    return _Found(name, config, summary, tables + pages, table=table, page=pages[0] if pages else None)


def _training(folder: Path) -> _Found:
    notes = flat(json.loads((folder / "training.json").read_text(encoding="utf-8")))
    card = folder / "policy.json"
    known = flat(json.loads(card.read_text(encoding="utf-8"))) if card.is_file() else {}
    summary = {key: float(v) for key, v in known.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    files = [path for path in (card, folder / "policy.safetensors") if path.is_file()]
    config = {**notes, **{key: value for key, value in known.items() if isinstance(value, str)}}
    return _Found(str(known.get("id", folder.name)), config, summary, files, curves=points(folder))


def _by_step(curves: list[Point]) -> dict[int, dict[str, float]]:
    """The numbers of each step, in order; a run that was resumed may have written one twice."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for point in curves:
        found[point.step][point.tag] = point.value
    return dict(sorted(found.items()))


def _plain(name: str) -> str:
    """Without what the names of artifacts and metrics may not hold."""
    return "".join(letter if letter.isalnum() or letter in "_-./ " else "-" for letter in name)
