"""A benchmark on many machines: its cells as tasks of Ray.

::

    results = offnominal.bench(env="sap-goal1", detectors=["knn"], out="/shared/bench", on=offnominal.cluster.Ray())

Every machine of the cluster has this package, and sees the folder ``out`` under the same path: there the cells leave
their files, by content, as they do on one machine. Only names of cells and a line about each travel through Ray. A cell
whose machine is lost runs again elsewhere, and the results are the bits of one machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from offnominal import _engine
from offnominal._job import Job
from offnominal._progress import Counter, counter
from offnominal._tables import needed

#: Tasks that wait or run for each processor of the cluster, so that none is idle.
_AHEAD = 2

#: Campaigns that this process has laid out, by what they are.
_laid_out: dict[str, _engine.Campaign] = {}


@dataclass
class Ray:
    """Where a benchmark runs: ``offnominal.bench(…, on=Ray())``. Needs ``pip install "offnominal[ray]"``.

    :raises ImportError: when it is used, if Ray is not installed.
    """

    #: Of the cluster; the one that this process is connected to, or a new one on this machine, if not given.
    address: str | None = None
    #: Processors of each cell.
    num_cpus: float = 1.0
    #: Graphics processors of each cell, for detectors of your own that use one.
    num_gpus: float = 0.0
    #: How often a cell is tried again whose machine or process is lost.
    retries: int = 3
    #: Most cells that are handed over at a time; twice the processors of the cluster if not given.
    in_flight: int | None = None
    #: After a run, where each cell ran: ``{"cell", "node", "secs"}``.
    summaries: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if not self.num_cpus > 0:
            raise ValueError(f"num_cpus: expected a positive number, found {self.num_cpus}")
        for name in ("num_gpus", "retries"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name}: expected a number that is not negative, found {getattr(self, name)}")
        if self.in_flight is not None and self.in_flight < 1:
            raise ValueError(f"in_flight: expected at least 1, found {self.in_flight}")

    def run(self, job: Job, campaign: _engine.Campaign) -> None:
        """Runs what is not finished, layer after layer."""
        ray = _ray(self.address)
        options = {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus, "max_retries": self.retries}
        task = ray.remote(**options)(_cell)
        threads, shared = max(1, int(self.num_cpus)), ray.put(job)
        for title, cells in campaign.open():
            with counter(len(cells), title) as count:
                names = (cell for cell, _ in cells)
                self._layer(ray, (task.remote(shared, name, threads) for name in names), count)

    def _layer(self, ray: Any, tasks: Iterator[Any], count: Counter) -> None:
        """Hands tasks over, never more than so many at a time."""
        running: list[Any] = []
        try:
            while True:
                while len(running) < self._limit(ray) and (task := next(tasks, None)) is not None:
                    running.append(task)
                if not running:
                    return
                done, running = ray.wait(running, num_returns=1, timeout=0.2)
                for summary in ray.get(done):
                    self.summaries.append(summary)
                    count()
        except BaseException:
            for task in running:
                ray.cancel(task)
            ray.wait(running, num_returns=len(running), timeout=60) if running else None
            raise

    def _limit(self, ray: Any) -> int:
        if self.in_flight is not None:
            return self.in_flight
        return max(1, int(_AHEAD * ray.cluster_resources().get("CPU", 1.0) / self.num_cpus))


def _ray(address: str | None) -> Any:
    ray = needed("ray", "ray", "Ray")
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    return ray


def _cell(job: Job, cell: str, threads: int) -> dict[str, Any]:
    """One cell, on whatever machine this is. Cells of the same campaign share what is laid out."""
    import ray

    began = time.monotonic()
    campaign = _laid_out.get(job.key) or _laid_out.setdefault(job.key, job.campaign())
    # Another attempt may have finished it before its machine was lost.
    if not campaign.is_finished(cell):
        campaign.run(cell, threads)
    node = ray.get_runtime_context().get_node_id()
    return {"cell": cell, "node": node, "process": os.getpid(), "secs": time.monotonic() - began}
