"""The benchmark from Python: detectors against anomalies, as a table and a report.

The cells of a campaign run one after another in each thread, so that progress is shown and Ctrl-C is answered. What is
finished stays finished: the same call goes on where it was stopped, and ends with the same bits.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from os import PathLike, cpu_count
from pathlib import Path
from typing import Any, Literal

from offnominal import _engine
from offnominal._anomaly_spec import Onset
from offnominal._brought import label
from offnominal._digest import digest
from offnominal._environments import AnyEnvironment, environment_name
from offnominal._job import Brought, Job
from offnominal._json import plain
from offnominal._own import recipe_of
from offnominal._progress import counter
from offnominal._tables import Tabular, needed
from offnominal.cluster import Ray
from offnominal.detectors import Detector
from offnominal.policies import Acting, Policy, named


@dataclass(frozen=True, repr=False)
class Results(Tabular):
    """What a benchmark found."""

    #: The folder with ``results.csv``, ``results.parquet``, ``report.html`` and the finished cells.
    folder: Path
    #: The page.
    report: Path
    #: One line per detector, for a terminal.
    summary: str

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Results:
        """The results in a folder of ``offnominal bench`` or :func:`offnominal.commands.bench`.

        :raises OSError: if there are none.
        """
        found = Path(folder)
        if not (found / "results.csv").is_file():
            raise FileNotFoundError(f"{found}: expected a folder with results.csv, found none")
        return cls(found, found / "report.html", f"results in {found}")

    @property
    def table(self) -> Any:
        """What :meth:`to_pandas` gives."""
        return self.to_pandas()

    def to_pandas(self) -> Any:
        """One row per number, as a pandas data frame; the columns are those of ``docs/howto/campaigns.md``."""
        pandas = needed("pandas", "pandas")
        return pandas.read_csv(self.folder / "results.csv", keep_default_na=False, na_values=["NaN"])

    def to_polars(self) -> Any:
        """The same as a polars data frame."""
        return needed("polars", "polars").read_parquet(self.folder / "results.parquet")

    def to_arrow(self) -> Any:
        """The same as an Arrow table."""
        return needed("pyarrow.parquet", "arrow", "pyarrow").read_table(self.folder / "results.parquet")

    def columns(self) -> dict[str, list[str]]:
        """The same as texts, without any library."""
        with open(self.folder / "results.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else [])}

    def __repr__(self) -> str:
        return f"<Results in {self.folder}>"

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        """The page itself, in a notebook."""
        from html import escape

        page = escape(self.report.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="700" style="border: 0"></iframe>'


def bench(
    *,
    env: AnyEnvironment | Sequence[AnyEnvironment],
    policy: str | Acting | Mapping[str, Acting] = "tqc",
    detectors: Sequence[Any],
    anomalies: Literal["all"] | Sequence[str | Mapping[str, Any]] = "all",
    strengths: Sequence[str] | None = None,
    episodes: tuple[int, int, int] = (100, 40, 50),
    seed: int = 0,
    seeds: int = 1,
    onset: Onset = "random",
    false_alarms: float = 0.05,
    name: str = "bench",
    out: str | PathLike[str] | None = None,
    jobs: int = 0,
    on: Ray | None = None,
    video: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Results:
    """Fits detectors on nominal episodes of a policy, and judges them on anomalous ones and their nominal twins.

    :param env: id of an environment, a :class:`gymnasium.Env`, a function that makes one, or several of them.
    :param policy: its name, a :class:`offnominal.Policy`, a callable ``policy(obs) -> action``, a model of
        Stable-Baselines3; or a dict of them, by the names that the results show.
    :param detectors: ids (``"pe-dm"``), recipes (``Knn(k=3)``), and objects of your own with ``fit(episodes)`` and
        ``score(episode) -> [T]``, where an episode is the tuple ``(observations [T + 1, o], actions [T, a])``.
    :param anomalies: ``all`` that apply, or ids, patterns such as ``dyn-*``, and dicts with ``id`` and ``magnitude``. Without
        a magnitude the calibrated ``strengths`` are tried, which exist for shipped policies.
    :param episodes: nominal episodes to fit on, to set thresholds with, and to judge by.
    :param seeds: repetitions, the k-th with the seed ``seed + k``.
    :param false_alarms: accepted share of nominal episodes with an alarm.
    :param out: folder of the results; ``runs/<name>`` if not given.
    :param jobs: threads; 0 for all cores.
    :param on: many machines (:class:`offnominal.cluster.Ray`) in place of the threads of this one.
    :param options: any other key of a campaign file (``docs/howto/campaigns.md``).
    :raises ValueError: if a name or a number is wrong, or a detector gives no scores.
    :raises KeyboardInterrupt: within a second; the same call goes on after the cells that were finished.
    """
    policies, brought = _policies(policy, env if isinstance(env, str) else None)
    recipes, own = _detectors(detectors)
    train, validation, test = episodes
    asked: dict[str, Any] = {
        "name": name,
        "seed": seed,
        "seeds": seeds,
        "envs": [environment_name(one) for one in (env if isinstance(env, (list, tuple)) else [env])],
        "policies": policies,
        "detectors": recipes,
        "anomalies": anomalies if isinstance(anomalies, str) else list(anomalies),
        "onset": onset,
        "false_alarms": false_alarms,
        "video": video,
        **({} if strengths is None else {"strengths": list(strengths)}),
        **(options or {}),
        "episodes": {"train": train, "validation": validation, "test": test},
    }
    folder = Path(out) if out is not None else Path("runs") / name
    text = "".join(f"{key} = {_toml(value)}\n" for key, value in asked.items())
    job = Job(text, str(folder.absolute()), brought, own)
    campaign = job.campaign()
    began = time.monotonic()
    if on is None:
        _run(campaign, jobs or cpu_count() or 1)
    else:
        on.run(job, campaign)
    page, summary = campaign.finish("offnominal.bench(…)", time.monotonic() - began)
    return Results(folder, Path(page), summary)


def _run(campaign: _engine.Campaign, jobs: int) -> None:
    """Runs what is not finished, layer after layer."""
    for title, cells in campaign.open():
        inner = max(1, jobs // max(1, len(cells)))
        with ThreadPoolExecutor(jobs) as threads, counter(len(cells), title) as count:
            running = {threads.submit(campaign.run, cell, inner, count) for cell, _ in cells}
            try:
                while running:
                    done, running = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
                        count()
            except BaseException:
                campaign.stop()
                threads.shutdown(wait=True, cancel_futures=True)
                raise


def _policies(policy: Any, env: str | None) -> tuple[list[str], dict[str, Brought]]:
    """Names for the campaign, and what is behind those that the engine does not know."""
    given = policy if isinstance(policy, Mapping) else {_name(policy): policy}
    brought = {name: _brought(own, env) for name, own in given.items() if not isinstance(own, str)}
    return [own if isinstance(own, str) else name for name, own in given.items()], brought


def _name(policy: Any) -> str:
    if isinstance(policy, (str, Policy)):
        return policy if isinstance(policy, str) else policy.name
    return label(policy)


def _brought(policy: Any, env: str | None) -> Brought:
    """A policy of the engine, or a callable with the digest by which finished work is found again."""
    if isinstance(policy, Policy):
        return policy
    if hasattr(policy, "get_vec_normalize_env"):
        return Policy.from_sb3(policy, env=env)
    return named(policy, env), digest(policy)


def _detectors(given: Sequence[Any]) -> tuple[list[str | dict[str, Any]], dict[str, Any]]:
    """Detectors as a campaign writes them, and what is behind the keys of those that are Python's own."""
    own = {digest(detector): detector for detector in given if not isinstance(detector, (str, Mapping, Detector))}
    return [recipe_of(detector) for detector in given], own


def _toml(value: Any) -> str:
    """A value as a campaign file has it."""
    value = plain(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_toml(own)}" for key, own in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(own) for own in value) + "]"
    return json.dumps(value, ensure_ascii=False)
