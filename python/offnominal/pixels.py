"""Unknown objects in images: scenes, networks, scores, metrics.

Each function is a command and returns what that prints with ``--json``: a dict, with ``to_pandas()``, ``to_polars()`` and
``to_arrow()``. Arguments are those of the command line, which checks them, and what is left out has the command's default;
without an ``out`` that has none, nothing is written. The same ``seed`` gives the same bits for any ``jobs``.

Written from the declarations of the commands by ``python/tests/test_functions.py``.
"""

# ruff: noqa: D214, D405, D411, D413, D416, E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from offnominal._command import AnyPolicy, Path, one
from offnominal._environments import AnyEnvironment
from offnominal._tables import Result

__all__ = [
    "describe",
    "evaluate",
    "frames",
    "import_",
    "paste",
    "predict",
    "scenes",
    "score",
    "train",
]


def scenes(
    *,
    set_: str | int | None = None,
    split: str | int | None = None,
    contrast: str | int | None = None,
    size: str | int | None = None,
    distance: str | int | None = None,
    n: int | None = None,
    width: int | None = None,
    height: int | None = None,
    classes: str | int | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Draw labelled streets or rooms.

    The command ``offnominal pixels scenes``.

    :param set_: road, three-wheeler, indoor, normal-noise or perlin (docs/reference/pixels.md) [default: road]
    :param split: train, validation or test; test has unknown objects [default: test]
    :param contrast: Contrast of unknown objects in streets: high, usual or low [default: usual]
    :param size: Their size: large, usual or small [default: usual]
    :param distance: Their distance: near, usual or far [default: usual]
    :param n: Number of images [default: 100]
    :param width: Width in pixels, 16 to 4096 [default: 256]
    :param height: Height in pixels, 16 to 4096 [default: 128]
    :param classes: Classes: 12, or the 19 of Cityscapes [default: 12]
    :param out: New folder [default: runs/scenes]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels scenes", locals())


def frames(
    env: AnyEnvironment,
    policy: AnyPolicy,
    *,
    episodes: int | None = None,
    every: int | None = None,
    size: int | None = None,
    unknown: str | Sequence[str] | None = None,
    out: Path | None = None,
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
    """Write labelled camera frames of episodes.

    The command ``offnominal pixels frames``.

    :param env: Environment id (see `list envs`)
    :param policy: Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`
    :param episodes: Number of episodes [default: 20]
    :param every: Steps between frames [default: 25]
    :param size: Width and height in pixels [default: 128]
    :param unknown: Classes that count as unknown, such as debris
    :param out: New folder [default: runs/frames]
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
    return one("pixels frames", locals())


def paste(
    data: str | int,
    *,
    split: str | Sequence[str] | None = None,
    map_: Path | Sequence[Path] | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    recolour: float | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Paste objects into images, to train outlier-head.

    The command ``offnominal pixels paste``.

    :param data: Data set with images
    :param split: Split with its own folder, such as val; one, or one per data set
    :param map_: Label map; one, or one per data set [default: its classes.toml]
    :param least_pixels: Leave out images with fewer pixels [default: 1]
    :param resize: Resize images and labels
    :param recolour: Probability of recolouring bright parts of a known class [default: 0]
    :param out: New folder [default: runs/pasted]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels paste", locals())


def describe(
    data: str | int,
    *,
    nominal: str | int | None = None,
    out: Path | None = None,
    split: str | Sequence[str] | None = None,
    map_: Path | Sequence[Path] | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Count classes, unknown pixels and boundaries of a data set.

    The command ``offnominal pixels describe``.

    :param data: Data set
    :param nominal: Nominal images; adds the AUROC of colour frequency alone
    :param out: Folder for description.json [default: print only]
    :param split: Split with its own folder, such as val; one, or one per data set
    :param map_: Label map; one, or one per data set [default: its classes.toml]
    :param least_pixels: Leave out images with fewer pixels [default: 1]
    :param resize: Resize images and labels
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels describe", locals())


def train(
    data: str | int,
    *,
    validation: str | int | None = None,
    network: Literal["patches", "pspnet", "deeplab"] | None = None,
    out: Path | None = None,
    split: str | Sequence[str] | None = None,
    map_: Path | Sequence[Path] | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    preset: Literal["small", "paper"] | None = None,
    modification: Literal["none", "dim-reduce", "dropout", "confidence"] | None = None,
    output_stride: int | None = None,
    steps: int | None = None,
    batch: int | None = None,
    rate: float | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    pixels: int | None = None,
    rounds: int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Train a segmentation network.

    The command ``offnominal pixels train``.

    :param data: Labelled training images
    :param validation: Validation images
    :param network: Network; patches is the baseline, the others are convolutional [default: patches]
    :param out: Output folder [default: runs/pixels]
    :param split: Split with its own folder, such as val; one, or one per data set
    :param map_: Label map; one, or one per data set [default: its classes.toml]
    :param least_pixels: Leave out images with fewer pixels [default: 1]
    :param resize: Resize images and labels
    :param preset: Size: small trains on two cores within an hour; paper as published [default: small]
    :param modification: Change that a method needs [default: none]: ``none``: No change; ``dim-reduce``: 32 feature
        channels, for mahalanobis; ``dropout``: Dropout, for var-sum and mutual-information; ``confidence``: Confidence
        output, for confidence
    :param output_stride: Stride of the coarsest map of a small network [default: 8]
    :param steps: Gradient steps [default: the preset's]
    :param batch: Batch size [default: the preset's]
    :param rate: Initial learning rate [default: the preset's]
    :param device: Where to train [default: cpu]
    :param pixels: Sampled pixels per class and image [default: 80]
    :param rounds: Epochs [default: 12]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels train", locals())


def import_(
    weights: Path,
    *,
    network: Literal["patches", "pspnet", "deeplab"] | None = None,
    preset: Literal["small", "paper"] | None = None,
    modification: Literal["none", "dim-reduce", "dropout", "confidence"] | None = None,
    output_stride: int | None = None,
    validation: str | int | None = None,
    out: Path | None = None,
    split: str | Sequence[str] | None = None,
    map_: Path | Sequence[Path] | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Import weights of a segmentation network trained elsewhere.

    The command ``offnominal pixels import``.

    :param weights: Weights, saved by `safetensors.torch.save_file`
    :param network: Network of `pixels train` [default: torchvision's deeplabv3_resnet50]
    :param preset: Size: small trains on two cores within an hour; paper as published [default: small]
    :param modification: Change that a method needs [default: none]
    :param output_stride: Stride of the coarsest map of a small network [default: 8]
    :param validation: Validation images; without ``map_`` they name the classes
    :param out: Output folder [default: runs/pixels]
    :param split: Split with its own folder, such as val; one, or one per data set
    :param map_: Label map; one, or one per data set [default: its classes.toml]
    :param least_pixels: Leave out images with fewer pixels [default: 1]
    :param resize: Resize images and labels
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels import", locals())


def predict(
    data: str | int,
    *,
    model: Path | None = None,
    passes: int | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    encoder: str | None = None,
    strides: int | Sequence[int] | None = None,
    scale: int | None = None,
    out: Path | None = None,
    split: str | Sequence[str] | None = None,
    map_: Path | Sequence[Path] | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Write logits and features of a model, or of a public encoder, as .npy files.

    The command ``offnominal pixels predict``.

    :param data: Images
    :param model: Model of `pixels train` or NAME.onnx: write logits, features and confidences
    :param passes: Random forward passes of the model [default: 1]
    :param device: Where a convolutional model runs [default: cpu]
    :param encoder: Write features of EfficientNet-Lite instead: efficientnet-lite0, 1, 2 or a file
    :param strides: Strides of its maps: some of 8, 16, 32 [default: 8,16]
    :param scale: Enlargement of images before encoding, 1 to 16 [default: 1]
    :param out: Output folder [default: runs/pixels]
    :param split: Split with its own folder, such as val; one, or one per data set
    :param map_: Label map; one, or one per data set [default: its classes.toml]
    :param least_pixels: Leave out images with fewer pixels [default: 1]
    :param resize: Resize images and labels
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels predict", locals())


def score(
    data: str | int,
    methods: str | Sequence[str],
    *,
    params: Mapping[str, Any] | None = None,
    temperature: float | None = None,
    threshold: float | None = None,
    fpr: float | None = None,
    format_: Literal["npy", "hdf5"] | None = None,
    out: Path | None = None,
    split: str | Sequence[str] | None = None,
    map_: Path | Sequence[Path] | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    logits: Path | Sequence[Path] | None = None,
    features: Path | Sequence[Path] | None = None,
    confidence: Path | Sequence[Path] | None = None,
    model: Path | None = None,
    passes: int | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    nominal: str | int | None = None,
    nominal_split: str | None = None,
    nominal_map: Path | None = None,
    nominal_logits: Path | None = None,
    nominal_features: Path | None = None,
    nominal_images: int | None = None,
    outliers: str | int | None = None,
    outlier_logits: Path | None = None,
    outlier_features: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Score every pixel of images: maps, pictures, components, a contact sheet.

    The command ``offnominal pixels score``.

    :param data: Images, with labels or without
    :param methods: Methods (see `list pixel-methods`)
    :param params: Method parameters, such as '{"outlier-head": {"hidden": 128}}' [default: {}]
    :param temperature: Temperature of odin [default: 1000]
    :param threshold: Score above which connected pixels are a component
    :param fpr: Set the threshold so that this share of held-out nominal pixels is above
    :param format_: Format of the score maps [default: npy]
    :param out: Output folder [default: runs/pixels]
    :param split: Split with its own folder, such as val; one, or one per data set
    :param map_: Label map; one, or one per data set [default: its classes.toml]
    :param least_pixels: Leave out images with fewer pixels [default: 1]
    :param resize: Resize images and labels
    :param logits: Folder of logits (docs/reference/pixels.md); one per ``data``
    :param features: Folder of features; one per ``logits``
    :param confidence: Folder of confidences; one per ``logits``
    :param model: Model of `pixels train` or NAME.onnx, instead of ``logits``
    :param passes: Random forward passes of the model [default: 1]
    :param device: Where a convolutional model runs [default: cpu]
    :param nominal: Nominal data set, on which methods are fitted
    :param nominal_split: Its split
    :param nominal_map: Its label map [default: the only ``map_``, or its classes.toml]
    :param nominal_logits: Its logits, if the network is in files
    :param nominal_features: Its features, if the network is in files
    :param nominal_images: Most images taken from it [default: all]
    :param outliers: Data set of `pixels paste`, to fit outlier-head
    :param outlier_logits: Its logits, if the network is in files
    :param outlier_features: Its features, if the network is in files
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels score", locals())


def evaluate(
    data: str | int | Sequence[str | int],
    *,
    pooled: bool = False,
    scores: Path | Sequence[Path] | None = None,
    methods: str | Sequence[str] | None = None,
    params: Mapping[str, Any] | None = None,
    temperature: float | None = None,
    component_sizes: Literal["scaled", "anomaly-track", "obstacle-track"] | None = None,
    replicates: int | None = None,
    out: Path | None = None,
    split: str | Sequence[str] | None = None,
    map_: Path | Sequence[Path] | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    logits: Path | Sequence[Path] | None = None,
    features: Path | Sequence[Path] | None = None,
    confidence: Path | Sequence[Path] | None = None,
    model: Path | None = None,
    passes: int | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    nominal: str | int | None = None,
    nominal_split: str | None = None,
    nominal_map: Path | None = None,
    nominal_logits: Path | None = None,
    nominal_features: Path | None = None,
    nominal_images: int | None = None,
    outliers: str | int | None = None,
    outlier_logits: Path | None = None,
    outlier_features: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Judge methods on data sets: metrics, components, a page.

    The command ``offnominal pixels evaluate``.

    :param data: Data set; repeatable, each judged by itself
    :param pooled: Judge all data sets as one
    :param scores: Folder of score maps, or of folders by method; one per ``data``
    :param methods: Methods (see `list pixel-methods`), sums (a+b), or `all` [default: all]
    :param params: Method parameters, such as '{"outlier-head": {"hidden": 128}}' [default: {}]
    :param temperature: Temperature of odin [default: tuned on a quarter of the images]
    :param component_sizes: Smallest components that count (docs/reference/pixels.md) [default: scaled]
    :param replicates: Bootstrap replicates per interval [default: 1000]
    :param out: Output folder [default: runs/pixels]
    :param split: Split with its own folder, such as val; one, or one per data set
    :param map_: Label map; one, or one per data set [default: its classes.toml]
    :param least_pixels: Leave out images with fewer pixels [default: 1]
    :param resize: Resize images and labels
    :param logits: Folder of logits (docs/reference/pixels.md); one per ``data``
    :param features: Folder of features; one per ``logits``
    :param confidence: Folder of confidences; one per ``logits``
    :param model: Model of `pixels train` or NAME.onnx, instead of ``logits``
    :param passes: Random forward passes of the model [default: 1]
    :param device: Where a convolutional model runs [default: cpu]
    :param nominal: Nominal data set, on which methods are fitted
    :param nominal_split: Its split
    :param nominal_map: Its label map [default: the only ``map_``, or its classes.toml]
    :param nominal_logits: Its logits, if the network is in files
    :param nominal_features: Its features, if the network is in files
    :param nominal_images: Most images taken from it [default: all]
    :param outliers: Data set of `pixels paste`, to fit outlier-head
    :param outlier_logits: Its logits, if the network is in files
    :param outlier_features: Its features, if the network is in files
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels evaluate", locals())
