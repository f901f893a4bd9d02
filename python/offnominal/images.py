"""Image detectors: train the encoder of patches, fit networks, score with them.

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
    "train",
]


def train(
    envs: str | Sequence[str],
    file: Path,
    *,
    episodes: int | None = None,
    patches: int | None = None,
    epochs: int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Train the encoder of patches on frames of environments.

    The command ``offnominal images train``.

    :param envs: Environments whose frames are seen, with commas between; each needs a policy that is shipped with it
    :param episodes: Nominal episodes of each environment [default: 8]
    :param patches: Patches in all [default: 300000]
    :param epochs: Passes over the patches [default: 12]
    :param file: The file to write
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("images train", locals())


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
    """Fit a network that predicts the next image, and write it as a file.

    The command ``offnominal images fit``.

    :param env: Environment id (see `list envs`), one with a camera
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random` [default: tqc]
    :param detector: pred-ae, prednet, ldm, lrdm or rssm-ppm, or a table such as `{ id = "lrdm", preset = "paper" }`;
        the preset is `small` (64 × 64, minutes on two cores) if none is named
    :param device: Where it is fitted [default: cpu]: ``cpu``: The processor; ``gpu``: A graphics card
    :param train: Nominal episodes that it learns from [default: 100]
    :param validation: Other nominal episodes, by which it is seen when to stop [default: 20]
    :param images: Width and height of the camera's images [default: 128]
    :param file: The file to write
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
    """Play episodes before the camera and score them with a fitted network.

    The command ``offnominal images score``.

    :param monitor: File written by `images fit`
    :param episodes: Episodes; with an anomaly each has its nominal twin [default: 20]
    :param device: Where the network runs [default: cpu]: ``cpu``: The processor; ``gpu``: A graphics card
    :param image: Draw the strangest step of the first episode: what was seen, what was expected, where they differ
    :param anomaly: Anomaly id (see `list anomalies --env`); without it the episodes are nominal
    :param magnitude: How strong, in the anomaly's own unit
    :param strength: How strong, as a calibrated level: tiny, medium, strong or extreme; always for all channels
    :param strengths: The table that `calibrate` wrote, or its folder, with the strength [default: shipped, then
        runs/calibrate]
    :param channels: Channels that are touched, by name or index, with commas between; `one` draws one for each episode
        [default: all]
    :param onset: First anomalous step: a number, or `random` [default: random]
    :param window: The anomaly ends after so many steps
    :param intermittent: The anomaly comes for ON steps and goes for OFF steps
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("images score", locals())
