"""Where in an image the unknown thing is (``docs/pixels.md``).

Each function is a command of ``offnominal pixels`` and returns what that command prints with ``--json``. ``reading`` says how
a data set is read (``layout``, ``split``, ``map``, ``least_pixels``, ``resize``), ``network`` what gives the logits
(``logits``, ``features``, ``confidence``, ``model``, ``passes``, ``device``), ``nominal`` the images on which methods are
fitted (``data``, ``split``, ``logits``, ``features``, ``images``). Other options are those of the command, with underscores;
an unknown one is refused by name. The same ``seed`` gives the same bits for any ``jobs``; 0 is all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from offnominal._command import call
from offnominal._tables import Result

Path = str | PathLike[str]

__all__ = ["describe", "evaluate", "features", "frames", "paste", "predict", "scenes", "score", "train"]


def scenes(out: Path, *, n: int, seed: int = 0, jobs: int = 0, progress: bool = True, **options: Any) -> Result:
    """Draws scenes with the class of every pixel: ``set``, ``split``, ``width``, ``height``, ``classes``.

    ``contrast``, ``size`` and ``distance`` say how hard the unknown things of streets are to find.
    """
    return _result("scenes", {"out": out, "n": n, **options}, seed, jobs, progress)


def frames(
    env: str, policy: str, out: Path, *, seed: int = 0, jobs: int = 0, progress: bool = True, **options: Any
) -> Result:
    """Keeps camera frames of episodes as a data set: ``episodes``, ``every``, ``size``, ``unknown``."""
    return _result("frames", {"env": env, "policy": policy, "out": out, **options}, seed, jobs, progress)


def describe(data: Path, *, seed: int = 0, jobs: int = 0, progress: bool = True, **options: Any) -> Result:
    """Counts classes, unknown pixels and boundaries of a data set: ``nominal``, ``reading``, ``out``."""
    return _result("describe", {"data": data, **options}, seed, jobs, progress)


def paste(data: Path, out: Path, *, seed: int = 0, jobs: int = 0, progress: bool = True, **options: Any) -> Result:
    """Pastes things into the images of a data set, from which ``outlier-head`` learns:
    ``recolour``, ``reading``.
    """
    return _result("paste", {"data": data, "out": out, **options}, seed, jobs, progress)


def train(
    data: Path, out: Path, *, seed: int = 0, jobs: int = 0, progress: bool = True, **options: Any
) -> Result:
    """Trains a network: ``validation``, ``reading``, ``network``, ``preset``, ``modification``, ``output_stride``,
    ``steps``, ``batch``, ``rate``, ``device``, ``rounds``.
    """
    return _result("train", {"data": data, "out": out, **options}, seed, jobs, progress)


def predict(
    data: Path, model: Path, out: Path, *, seed: int = 0, jobs: int = 0, progress: bool = True, **options: Any
) -> Result:
    """Writes a model's logits, features and confidences as ``.npy`` files."""
    network = {"model": model, **options.pop("network", {})}
    return _result("predict", {"data": data, "network": network, "out": out, **options}, seed, jobs, progress)


def features(
    data: Path, out: Path, *, seed: int = 0, jobs: int = 0, progress: bool = True, **options: Any
) -> Result:
    """Writes features of a public encoder as ``.npy`` files: ``encoder``, ``strides``, ``scale``, ``reading``."""
    request = {"data": data, "encoder": "efficientnet-lite0", "out": out, **options}
    return _result("predict", request, seed, jobs, progress)


def score(
    data: Path,
    methods: Sequence[str],
    out: Path,
    *,
    network: dict[str, Any],
    nominal: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Writes a score for each pixel as ``.npy`` files."""
    request = {"data": data, "methods": list(methods), "network": network, "nominal": nominal, "out": out, **options}
    return _result("score", request, seed, jobs, progress)


def evaluate(
    data: Sequence[Path],
    out: Path,
    *,
    network: dict[str, Any] | None = None,
    nominal: Path | None = None,
    methods: Sequence[str] = ("all",),
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Judges methods on data sets: metrics in four modes, components, causes of mistakes, and a page in ``out``.

    :param data: data sets, each judged by itself, or together with ``pooled=True``.
    :param network: none where only score maps are judged (``scores=[folder]``).
    :param methods: of ``offnominal list pixel-methods``, or ``all`` for those that can be had.
    :param options: ``reading``, ``outliers`` (as ``nominal``, of :func:`paste`), ``scores``, ``pooled``, ``temperature``,
        ``component_sizes``, ``replicates``.
    """
    request = {
        "data": list(data), "methods": list(methods), "network": network or {}, "nominal": nominal, "out": out,
        **options,
    }  # fmt: skip
    return _result("evaluate", request, seed, jobs, progress)


def _result(command: str, request: dict[str, Any], seed: int, jobs: int, progress: bool) -> Result:
    return Result(call(f"pixels {command}", request, seed=seed, jobs=jobs, progress=progress))
