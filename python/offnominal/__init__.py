"""Would a run-time monitor of your control policy notice that something is wrong?

Importing this package registers every environment with Gymnasium, as ``offnominal/<Name>-v0``::

    import gymnasium, offnominal
    env = gymnasium.make("offnominal/SapGoal1-v0", anomaly="obs-drift", strength="strong", onset=20)

    episodes = offnominal.collect("sap-goal1", "tqc", episodes=50, seed=1)
    monitor = offnominal.detectors.Panel().fit(episodes)
    scores = monitor.score(episodes[0])
"""

import atexit
import os
import shlex
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from offnominal import (
    _engine,
    adapters,
    alarms,
    cluster,
    commands,
    detectors,
    envs,
    episodes,
    faults,
    image_detectors,
    images,
    logs,
    pixels,
    policies,
    proof,
    risk,
    rollouts,
    vector,
)
from offnominal._chunk_signals import ChunkSignals
from offnominal._command import PROGRAM
from offnominal._engine import VERSION as __version__
from offnominal._record import Recorder, record
from offnominal.anomalous import Anomalous
from offnominal.anomalous_vector import AnomalousVector
from offnominal.benchmark import Results, bench
from offnominal.commands import (
    audit,
    calibrate,
    compare,
    ensemble,
    evaluate,
    evidence,
    fit,
    metrics,
    render,
    report,
    score,
    shift,
    train,
    verify,
)
from offnominal.detectors import Monitor
from offnominal.envs import Environment, anomalies, environments
from offnominal.episodes import Dataset, Episode, collect, load
from offnominal.policies import Policy
from offnominal.vector import Environments

__all__ = [
    "Anomalous",
    "AnomalousVector",
    "ChunkSignals",
    "Dataset",
    "Episode",
    "Monitor",
    "Policy",
    "Recorder",
    "Results",
    "Environment",
    "Environments",
    "__version__",
    "adapters",
    "alarms",
    "anomalies",
    "audit",
    "bench",
    "calibrate",
    "cluster",
    "commands",
    "collect",
    "compare",
    "detectors",
    "ensemble",
    "envs",
    "episodes",
    "evaluate",
    "evidence",
    "faults",
    "fit",
    "image_detectors",
    "images",
    "load",
    "logs",
    "metrics",
    "pixels",
    "policies",
    "proof",
    "record",
    "render",
    "report",
    "risk",
    "rollouts",
    "score",
    "shift",
    "train",
    "vector",
    "verify",
    "environments",
]

# An installed package brings the files that the engine reads at run time; in the repository the engine finds them itself.
if (_data := Path(__file__).parent / "agents").is_dir():
    os.environ.setdefault("OFFNOMINAL_DATA", str(_data))

# Environments of Gymnasium that the engine hosts live in processes of this interpreter.
os.environ.setdefault("OFFNOMINAL_PYTHON", sys.executable)

# A command that gives another one in a process of its own finds this interpreter by it.
os.environ["OFFNOMINAL_PROGRAM"] = shlex.join(PROGRAM)

atexit.register(_engine.end_hosts)

envs.register()

if TYPE_CHECKING:
    from offnominal import sb3 as sb3


def __getattr__(name: str) -> Any:
    """What needs another library is imported when it is used."""
    if name == "sb3":
        return import_module("offnominal.sb3")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # What cannot be imported is not listed: `help` would stop at it.
    return sorted([*__all__, *(["sb3"] if find_spec("stable_baselines3") else [])])
