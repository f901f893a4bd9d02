"""The detectors of the engine with their options, written from the catalogue by `python/tests/test_recipes.py`."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypedDict

from offnominal._detector import Detector

#: A detector inside another one: an id, a dict with ``id`` and options, or an object.
Inner = str | Mapping[str, Any] | Detector


class SequenceTraining(TypedDict, total=False):
    """How networks are trained; what is left out has its default."""

    #: Passes over the data.
    epochs: int
    #: Episodes side by side in a gradient step.
    episodes: int
    #: Steps of each episode in a gradient step.
    piece: int
    #: Step size of AdamW.
    lr: float
    #: Decoupled weight decay of AdamW.
    weight_decay: float
    #: Longer gradients are shortened to this length.
    clip: float


class Training(TypedDict, total=False):
    """How networks are trained; what is left out has its default."""

    #: Passes over the data.
    epochs: int
    #: Rows per gradient step. The paper does not give it; 256 is the batch of its learner.
    batch: int
    #: Step size of AdamW.
    lr: float
    #: Decoupled weight decay of AdamW.
    weight_decay: float
    #: Stops after so many epochs without a better validation loss, and returns to the best one; never, if not given.
    patience: int | None


class Clock(Detector):
    """Baseline: steps since the episode began, sees no signal.

    The detector ``clock``; ``docs/reference/detectors.md`` has its equation.
    """

    id: ClassVar[str] = "clock"
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()


class Random(Detector):
    """Baseline: noise that depends on nothing nominal.

    The detector ``random``; ``docs/reference/detectors.md`` has its equation.
    """

    id: ClassVar[str] = "random"
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()


class Knn(Detector):
    """Distance to the k-th nearest nominal observation.

    The detector ``knn``; ``docs/reference/detectors.md`` has its equation.

    :param k: Rank of the neighbour.
    :param keep_constant_channels: Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what becomes of them a million times.
    """

    id: ClassVar[str] = "knn"
    _defaults: ClassVar[dict[str, Any]] = {"k": 1, "keep_constant_channels": False}

    def __init__(self, *, k: int = 1, keep_constant_channels: bool = False) -> None:
        super().__init__(k=k, keep_constant_channels=keep_constant_channels)


class IsolationForest(Detector):
    """How few random splits isolate an observation.

    The detector ``isolation-forest``; ``docs/reference/detectors.md`` has its equation.

    :param trees: Number of trees.
    :param subsample: Observations per tree, ψ.
    """

    id: ClassVar[str] = "isolation-forest"
    _defaults: ClassVar[dict[str, Any]] = {"trees": 100, "subsample": 256}

    def __init__(self, *, trees: int = 100, subsample: int = 256) -> None:
        super().__init__(trees=trees, subsample=subsample)


class Ocsvm(Detector):
    """One-class support vector machine: how far an observation is outside the nominal region.

    The detector ``ocsvm``; ``docs/reference/detectors.md`` has its equation.

    :param nu: ν: at most so many of the nominal observations lie outside.
    :param tolerance: At which difference of gradients the solution is good enough.
    :param keep_constant_channels: Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what becomes of them a million times.
    """

    id: ClassVar[str] = "ocsvm"
    _defaults: ClassVar[dict[str, Any]] = {"nu": 0.5, "tolerance": 0.001, "keep_constant_channels": False}

    def __init__(self, *, nu: float = 0.5, tolerance: float = 0.001, keep_constant_channels: bool = False) -> None:
        super().__init__(nu=nu, tolerance=tolerance, keep_constant_channels=keep_constant_channels)


class Mewma(Detector):
    """Multivariate EWMA chart: distance of the recent mean of all channels from nominal.

    The detector ``mewma``; ``docs/reference/detectors.md`` has its equation.

    :param rate: Weight of the newest step, r: from 0.001 (long memory) to 1 (none).
    :param commands: Whether commands are among the channels.
    :param statistic: What counts: the `distance` of all channels together, or the `farthest` channel alone.
    :param reference: What channels are compared with: `nominal`, their nominal mean; `beginning`, that of the episode; or `offsets`, the beginning for those that differ more between recordings than within one.
    """

    id: ClassVar[str] = "mewma"
    _defaults: ClassVar[dict[str, Any]] = {
        "rate": 0.1,
        "commands": True,
        "statistic": "distance",
        "reference": "nominal",
    }

    def __init__(
        self,
        *,
        rate: float = 0.1,
        commands: bool = True,
        statistic: Literal["distance", "farthest"] = "distance",
        reference: Literal["nominal", "offsets", "beginning"] = "nominal",
    ) -> None:
        super().__init__(rate=rate, commands=commands, statistic=statistic, reference=reference)


class Dpca(Detector):
    """Dynamic principal component analysis: the last steps along and off the nominal components.

    The detector ``dpca``; ``docs/reference/detectors.md`` has its equation.

    :param lags: Steps that are stacked below the newest one, l; 0 for the relations within a step.
    :param variance: Share of the variance that the components hold.
    :param commands: Whether commands are among the channels.
    """

    id: ClassVar[str] = "dpca"
    _defaults: ClassVar[dict[str, Any]] = {"lags": 5, "variance": 0.999, "commands": True}

    def __init__(self, *, lags: int = 5, variance: float = 0.999, commands: bool = True) -> None:
        super().__init__(lags=lags, variance=variance, commands=commands)


class Riqn(Detector):
    """Recurrent implicit quantile network: distance from the quantiles of what comes next.

    The detector ``riqn``; ``docs/reference/detectors.md`` has its equation.

    :param hidden: Width of the state.
    :param cosines: Cosines that a level is described by.
    :param quantiles: Quantiles in a score.
    :param training: How it is trained.
    :param scaling: In which units it learns.
    :param sequence: What it reads one after another while it learns.
    :param keep_constant_channels: Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what becomes of them a million times.
    """

    id: ClassVar[str] = "riqn"
    _defaults: ClassVar[dict[str, Any]] = {
        "hidden": 64,
        "cosines": 128,
        "quantiles": 64,
        "training": {"clip": 10.0, "episodes": 8, "epochs": 250, "lr": 0.001, "piece": 32, "weight_decay": 0.0001},
        "scaling": "standard",
        "sequence": "steps",
        "keep_constant_channels": False,
    }

    def __init__(
        self,
        *,
        hidden: int = 64,
        cosines: int = 128,
        quantiles: int = 64,
        training: SequenceTraining | None = None,
        scaling: Literal["standard", "published"] = "standard",
        sequence: Literal["steps", "channels"] = "steps",
        keep_constant_channels: bool = False,
    ) -> None:
        super().__init__(
            hidden=hidden,
            cosines=cosines,
            quantiles=quantiles,
            training=training,
            scaling=scaling,
            sequence=sequence,
            keep_constant_channels=keep_constant_channels,
        )


class MlpDm(Detector):
    """Error of a network that predicts the next observation.

    The detector ``mlp-dm``; ``docs/reference/detectors.md`` has its equation.

    :param hidden: Widths of the hidden layers.
    :param dropout: Probability with which a unit of the first layer is dropped in training.
    :param training: How the network is trained.
    :param keep_constant_channels: Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what becomes of them a million times.
    """

    id: ClassVar[str] = "mlp-dm"
    _defaults: ClassVar[dict[str, Any]] = {
        "hidden": [512, 256, 128],
        "dropout": 0.1,
        "training": {"batch": 256, "epochs": 250, "lr": 0.001, "patience": None, "weight_decay": 0.0001},
        "keep_constant_channels": False,
    }

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (512, 256, 128),
        dropout: float = 0.1,
        training: Training | None = None,
        keep_constant_channels: bool = False,
    ) -> None:
        super().__init__(
            hidden=hidden,
            dropout=dropout,
            training=training,
            keep_constant_channels=keep_constant_channels,
        )


class LstmDm(Detector):
    """Error of a network with memory that predicts the next observation.

    The detector ``lstm-dm``; ``docs/reference/detectors.md`` has its equation.

    :param hidden: Width of the state.
    :param head: Widths of the layers between state and output.
    :param training: How it is trained.
    :param keep_constant_channels: Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what becomes of them a million times.
    """

    id: ClassVar[str] = "lstm-dm"
    _defaults: ClassVar[dict[str, Any]] = {
        "hidden": 256,
        "head": [128],
        "training": {"clip": 10.0, "episodes": 8, "epochs": 250, "lr": 0.001, "piece": 32, "weight_decay": 0.0001},
        "keep_constant_channels": False,
    }

    def __init__(
        self,
        *,
        hidden: int = 256,
        head: Sequence[int] = (128,),
        training: SequenceTraining | None = None,
        keep_constant_channels: bool = False,
    ) -> None:
        super().__init__(hidden=hidden, head=head, training=training, keep_constant_channels=keep_constant_channels)


class PeDm(Detector):
    """Error of an ensemble that predicts a distribution of the next observation.

    The detector ``pe-dm``; ``docs/reference/detectors.md`` has its equation.

    :param hidden: Widths of the hidden layers.
    :param members: Number of networks, each trained on episodes drawn with replacement.
    :param score: Which score is computed.
    :param samples: Draws per member, for [`Score::SampledMin`].
    :param training: How the networks are trained.
    :param keep_constant_channels: Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what becomes of them a million times.
    """

    id: ClassVar[str] = "pe-dm"
    _defaults: ClassVar[dict[str, Any]] = {
        "hidden": [512, 256, 128],
        "members": 5,
        "score": "sampled-min",
        "samples": 1000,
        "training": {"batch": 256, "epochs": 250, "lr": 0.001, "patience": None, "weight_decay": 0.0001},
        "keep_constant_channels": False,
    }

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (512, 256, 128),
        members: int = 5,
        score: Literal["sampled-min", "analytic"] = "sampled-min",
        samples: int = 1000,
        training: Training | None = None,
        keep_constant_channels: bool = False,
    ) -> None:
        super().__init__(
            hidden=hidden,
            members=members,
            score=score,
            samples=samples,
            training=training,
            keep_constant_channels=keep_constant_channels,
        )


class KnnTransition(Detector):
    """Distance of observation, action and change to the k-th nearest nominal ones.

    The detector ``knn-transition``; ``docs/reference/detectors.md`` has its equation.

    :param k: Rank of the neighbour.
    :param weight: Weight of the change.
    """

    id: ClassVar[str] = "knn-transition"
    _defaults: ClassVar[dict[str, Any]] = {"k": 1, "weight": 2.0}

    def __init__(self, *, k: int = 1, weight: float = 2.0) -> None:
        super().__init__(k=k, weight=weight)


class EnsembleDm(Detector):
    """Error of an ensemble's prediction, in units of its errors on held-out nominal data.

    The detector ``ensemble-dm``; ``docs/reference/detectors.md`` has its equation.

    :param hidden: Widths of the hidden layers.
    :param members: Number of members, each fitted without its own share of the episodes.
    :param training: How the networks are trained.
    """

    id: ClassVar[str] = "ensemble-dm"
    _defaults: ClassVar[dict[str, Any]] = {
        "hidden": [128, 128],
        "members": 3,
        "training": {"batch": 64, "epochs": 60, "lr": 0.002, "patience": None, "weight_decay": 0.0001},
    }

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (128, 128),
        members: int = 3,
        training: Training | None = None,
    ) -> None:
        super().__init__(hidden=hidden, members=members, training=training)


class MultistepDm(Detector):
    """Error of open-loop predictions over 2 to 16 steps.

    The detector ``multistep-dm``; ``docs/reference/detectors.md`` has its equation.

    :param longest: Age of the oldest prediction that is scored, in steps; the others are powers of two below it.
    :param hidden: Widths of the hidden layers.
    :param parts: Number of parts into which the episodes are cut; the model that scores learns from all but one of them.
    :param training: How the networks are trained.
    """

    id: ClassVar[str] = "multistep-dm"
    _defaults: ClassVar[dict[str, Any]] = {
        "longest": 16,
        "hidden": [128, 128],
        "parts": 3,
        "training": {"batch": 64, "epochs": 60, "lr": 0.002, "patience": None, "weight_decay": 0.0001},
    }

    def __init__(
        self,
        *,
        longest: int = 16,
        hidden: Sequence[int] = (128, 128),
        parts: int = 3,
        training: Training | None = None,
    ) -> None:
        super().__init__(longest=longest, hidden=hidden, parts=parts, training=training)


class ResidualWindow(Detector):
    """Mean, variance and memory of an ensemble's residuals over the last steps.

    The detector ``residual-window``; ``docs/reference/detectors.md`` has its equation.

    :param window: Steps that are looked at, W.
    :param hidden: Widths of the hidden layers.
    :param members: Number of members, each fitted without its own share of the episodes.
    :param training: How the networks are trained.
    """

    id: ClassVar[str] = "residual-window"
    _defaults: ClassVar[dict[str, Any]] = {
        "window": 16,
        "hidden": [128, 128],
        "members": 3,
        "training": {"batch": 64, "epochs": 60, "lr": 0.002, "patience": None, "weight_decay": 0.0001},
    }

    def __init__(
        self,
        *,
        window: int = 16,
        hidden: Sequence[int] = (128, 128),
        members: int = 3,
        training: Training | None = None,
    ) -> None:
        super().__init__(window=window, hidden=hidden, members=members, training=training)


class FlowDensity(Detector):
    """Density of the residual given observation and action, by flow matching.

    The detector ``flow-density``; ``docs/reference/detectors.md`` has its equation.

    :param units: Units in each of the two layers of the flow.
    :param flow_training: How the flow is trained.
    :param hidden: Widths of the hidden layers of the ensemble.
    :param members: Number of members, each fitted without its own share of the episodes.
    :param training: How the ensemble is trained.
    """

    id: ClassVar[str] = "flow-density"
    _defaults: ClassVar[dict[str, Any]] = {
        "units": 64,
        "flow_training": {"batch": 64, "epochs": 60, "lr": 0.002, "patience": None, "weight_decay": 0.0001},
        "hidden": [128, 128],
        "members": 3,
        "training": {"batch": 64, "epochs": 60, "lr": 0.002, "patience": None, "weight_decay": 0.0001},
    }

    def __init__(
        self,
        *,
        units: int = 64,
        flow_training: Training | None = None,
        hidden: Sequence[int] = (128, 128),
        members: int = 3,
        training: Training | None = None,
    ) -> None:
        super().__init__(units=units, flow_training=flow_training, hidden=hidden, members=members, training=training)


class Cusum(Detector):
    """Cumulative sum of another detector's self-information.

    The detector ``cusum``; ``docs/reference/detectors.md`` has its equation.

    :param inner: The detector whose scores are added up.
    :param allowance: Taken off at each step, in self-information.
    """

    id: ClassVar[str] = "cusum"
    _defaults: ClassVar[dict[str, Any]] = {"inner": "ensemble-dm", "allowance": 1.5}

    def __init__(self, *, inner: Inner = "ensemble-dm", allowance: float = 1.5) -> None:
        super().__init__(inner=inner, allowance=allowance)


class EProcess(Detector):
    """Evidence accumulated by betting on another detector's p-values.

    The detector ``e-process``; ``docs/reference/detectors.md`` has its equation.

    :param inner: The detector whose p-values are bet on.
    """

    id: ClassVar[str] = "e-process"
    _defaults: ClassVar[dict[str, Any]] = {"inner": "ensemble-dm"}

    def __init__(self, *, inner: Inner = "ensemble-dm") -> None:
        super().__init__(inner=inner)


class RunningMean(Detector):
    """Exponentially weighted mean of another detector's self-information.

    The detector ``running-mean``; ``docs/reference/detectors.md`` has its equation.

    :param inner: The detector whose scores are averaged.
    :param rate: Weight of the newest step, r.
    """

    id: ClassVar[str] = "running-mean"
    _defaults: ClassVar[dict[str, Any]] = {"inner": "ensemble-dm", "rate": 0.1}

    def __init__(self, *, inner: Inner = "ensemble-dm", rate: float = 0.1) -> None:
        super().__init__(inner=inner, rate=rate)


class Fusion(Detector):
    """Several detectors as one, by the mean of their self-information or the largest.

    The detector ``fusion``; ``docs/reference/detectors.md`` has its equation.

    :param inner: The detectors, one or more.
    :param combine: What counts of their self-information: `mean` or `largest`.
    """

    id: ClassVar[str] = "fusion"
    _defaults: ClassVar[dict[str, Any]] = {
        "inner": ["ensemble-dm", "knn-transition", "residual-window"],
        "combine": "mean",
    }

    def __init__(
        self,
        *,
        inner: Sequence[Inner] = ["ensemble-dm", "knn-transition", "residual-window"],
        combine: Literal["mean", "largest"] = "mean",
    ) -> None:
        super().__init__(inner=inner, combine=combine)


class ResidualViews(Detector):
    """Six views of an ensemble's residuals as normal scores, on one scale.

    The detector ``residual-views``; ``docs/reference/detectors.md`` has its equation.

    :param hidden: Widths of the hidden layers.
    :param members: Number of members, each fitted without its own share of the episodes.
    :param training: How the networks are trained.
    """

    id: ClassVar[str] = "residual-views"
    _defaults: ClassVar[dict[str, Any]] = {
        "hidden": [128, 128],
        "members": 3,
        "training": {"batch": 64, "epochs": 60, "lr": 0.002, "patience": None, "weight_decay": 0.0001},
    }

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (128, 128),
        members: int = 3,
        training: Training | None = None,
    ) -> None:
        super().__init__(hidden=hidden, members=members, training=training)


class Panel(Detector):
    """Our default: control charts and residuals of a model, each in units of its largest score in nominal episodes.

    The detector ``panel``; ``docs/reference/detectors.md`` has its equation.

    :param inner: The members, one or more; those that are in a list of their own are a group.
    :param penalty: What is subtracted from the scores of all groups but the last if there are commands, in deviations.
    """

    id: ClassVar[str] = "panel"
    _defaults: ClassVar[dict[str, Any]] = {
        "inner": [[{"id": "mewma", "rate": 0.05, "reference": "offsets", "statistic": "distance"}, {"id": "mewma", "rate": 0.05, "reference": "offsets", "statistic": "farthest"}, {"id": "mewma", "rate": 0.05, "reference": "beginning", "statistic": "distance"}, {"id": "mewma", "rate": 0.05, "reference": "beginning", "statistic": "farthest"}], "residual-views"],
        "penalty": 2.0,
    }

    def __init__(
        self,
        *,
        inner: Sequence[Inner | Sequence[Inner]] = [[{"id": "mewma", "rate": 0.05, "reference": "offsets", "statistic": "distance"}, {"id": "mewma", "rate": 0.05, "reference": "offsets", "statistic": "farthest"}, {"id": "mewma", "rate": 0.05, "reference": "beginning", "statistic": "distance"}, {"id": "mewma", "rate": 0.05, "reference": "beginning", "statistic": "farthest"}], "residual-views"],
        penalty: float = 2.0,
    ) -> None:
        super().__init__(inner=inner, penalty=penalty)


class Rnd(Detector):
    """Error of a network that imitates a random one.

    The detector ``rnd``; ``docs/reference/detectors.md`` has its equation.

    :param hidden: Widths of the hidden layers of the random network; the imitation has the last one twice.
    :param outputs: Number of outputs.
    :param training: How the imitation is trained.
    """

    id: ClassVar[str] = "rnd"
    _defaults: ClassVar[dict[str, Any]] = {
        "hidden": [64],
        "outputs": 32,
        "training": {"batch": 64, "epochs": 60, "lr": 0.002, "patience": None, "weight_decay": 0.0001},
    }

    def __init__(self, *, hidden: Sequence[int] = (64,), outputs: int = 32, training: Training | None = None) -> None:
        super().__init__(hidden=hidden, outputs=outputs, training=training)


class Disagreement(Detector):
    """How far several predictions of the policy lie apart.

    The detector ``disagreement``; ``docs/reference/detectors.md`` has its equation.

    :param measure: What is measured; raw-sd of real actions and mean-sd of choices, if not given.
    :param predictions: Number of passes; as many as the policy acts on, if not given. An ensemble has its members and no other number.
    """

    id: ClassVar[str] = "disagreement"
    _defaults: ClassVar[dict[str, Any]] = {"measure": None, "predictions": None}

    def __init__(
        self,
        *,
        measure: Literal["mean-sd", "max-sd", "greedy-sd", "best-sd", "centred-sd", "relative-sd", "vote-entropy", "entropy", "mutual-information", "raw-sd"] | None = None,
        predictions: int | None = None,
    ) -> None:
        super().__init__(measure=measure, predictions=predictions)


class FeatureMahalanobis(Detector):
    """Mahalanobis distance of the policy's penultimate features.

    The detector ``feature-mahalanobis``; ``docs/reference/detectors.md`` has its equation.

    :param points: The most nominal observations that are read, evenly spread over the episodes.
    """

    id: ClassVar[str] = "feature-mahalanobis"
    _defaults: ClassVar[dict[str, Any]] = {"points": 20000}

    def __init__(self, *, points: int = 20000) -> None:
        super().__init__(points=points)


class FeatureKnn(Detector):
    """Distance of the policy's penultimate features to the k-th nearest nominal ones.

    The detector ``feature-knn``; ``docs/reference/detectors.md`` has its equation.

    :param k: Rank of the neighbour.
    :param points: The most nominal observations that are kept, evenly spread over the episodes.
    """

    id: ClassVar[str] = "feature-knn"
    _defaults: ClassVar[dict[str, Any]] = {"k": 1, "points": 5000}

    def __init__(self, *, k: int = 1, points: int = 5000) -> None:
        super().__init__(k=k, points=points)


#: Every detector of the engine by its id.
BY_ID: dict[str, type[Detector]] = {
    "clock": Clock,
    "random": Random,
    "knn": Knn,
    "isolation-forest": IsolationForest,
    "ocsvm": Ocsvm,
    "mewma": Mewma,
    "dpca": Dpca,
    "riqn": Riqn,
    "mlp-dm": MlpDm,
    "lstm-dm": LstmDm,
    "pe-dm": PeDm,
    "knn-transition": KnnTransition,
    "ensemble-dm": EnsembleDm,
    "multistep-dm": MultistepDm,
    "residual-window": ResidualWindow,
    "flow-density": FlowDensity,
    "cusum": Cusum,
    "e-process": EProcess,
    "running-mean": RunningMean,
    "fusion": Fusion,
    "residual-views": ResidualViews,
    "panel": Panel,
    "rnd": Rnd,
    "disagreement": Disagreement,
    "feature-mahalanobis": FeatureMahalanobis,
    "feature-knn": FeatureKnn,
}

__all__ = [
    "Clock",
    "Cusum",
    "Disagreement",
    "Dpca",
    "EProcess",
    "EnsembleDm",
    "FeatureKnn",
    "FeatureMahalanobis",
    "FlowDensity",
    "Fusion",
    "IsolationForest",
    "Knn",
    "KnnTransition",
    "LstmDm",
    "Mewma",
    "MlpDm",
    "MultistepDm",
    "Ocsvm",
    "Panel",
    "PeDm",
    "Random",
    "ResidualViews",
    "ResidualWindow",
    "Riqn",
    "Rnd",
    "RunningMean",
    "SequenceTraining",
    "Training",
]
