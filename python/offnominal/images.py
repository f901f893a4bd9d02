"""Image detectors: fit networks, score with them.

Each function is a command and returns what that prints with ``--json``: a dict, with ``to_pandas()``, ``to_polars()`` and
``to_arrow()``. Arguments are those of the command line, which checks them, and what is left out has the command's default;
without an ``out`` that has none, nothing is written. The same ``seed`` gives the same bits for any ``jobs``.

Written from the declarations of the commands by ``python/tests/test_functions.py``.
"""

# ruff: noqa: D214, D405, D411, D413, D416, E501

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from offnominal._command import AnyDetector, AnyPolicy, Path, one
from offnominal._environments import AnyEnvironment
from offnominal._tables import Result

__all__ = [
    "fit",
    "score",
]


def fit(
    env: AnyEnvironment,
    detector: AnyDetector,
    file: Path,
    *,
    policy: AnyPolicy | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    train: int | None = None,
    validation: int | None = None,
    images: int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Fit a network that predicts the next image, or the encoder of patches.

    The command ``offnominal images fit``.

    :param env: Environment with a camera; for `patches` a list
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
        [default: tqc]
    :param detector: pred-ae, prednet, ldm, lrdm, rssm-ppm, or `patches`, the encoder of patch-dynamics; or a table
    :param device: Where it is fitted [default: cpu]
    :param train: Training episodes [default: 100; `patches`: 8 per environment]
    :param validation: Validation episodes, for early stopping [default: 20]
    :param images: Width and height of the camera's images [default: 128]
    :param file: Output file
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("images fit", locals())


def score(
    monitor: Path,
    *,
    episodes: int | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    image: Path | None = None,
    anomaly: str | None = None,
    magnitude: float | None = None,
    deviations: bool = False,
    strength: str | None = None,
    strengths: Path | None = None,
    channels: str | Sequence[str | int] | None = None,
    onset: str | int | None = None,
    window: int | None = None,
    intermittent: tuple[int, int] | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Score camera episodes with a fitted network.

    The command ``offnominal images score``.

    :param monitor: File of `images fit`
    :param episodes: Episodes; each anomalous one has a nominal twin [default: 20]
    :param device: Where the network runs [default: cpu]
    :param image: Draw the most anomalous step: seen, predicted, difference
    :param anomaly: Anomaly id (see `list anomalies`), or several at once: `ID=M+ID=M` [default: none]
    :param magnitude: Strength in the anomaly's own unit
    :param deviations: The magnitude counts in nominal standard deviations of each channel
    :param strength: Calibrated strength: tiny, medium, strong or extreme
    :param strengths: Table or folder of `calibrate` [default: shipped, then runs/calibrate]
    :param channels: Disturbed channels by name or index, or `one` at random [default: all]
    :param onset: First anomalous step, or `random` [default: random]
    :param window: Steps until the anomaly ends [default: to the end]
    :param intermittent: Repeat: ON steps with, OFF steps without the anomaly
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("images score", locals())
