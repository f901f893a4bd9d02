"""Image detectors: they learn from nominal camera frames and become monitors that score one frame after another.

There is one class for each image detector of the engine: ``patch-dynamics`` is :class:`PatchDynamics`. ``ALL`` maps the ids
to the classes; ``docs/howto/images.md`` explains each one and its options. An episode is a pair of frames ``[T + 1, height,
width, 3]`` of bytes and actions ``[T, a]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._json import as_json, plain
from offnominal._progress import display
from offnominal._tables import facts
from offnominal.detectors import class_name

Pair = tuple[NDArray[np.uint8], NDArray[np.float32]]

#: One in so many episodes validates where no others are given for it.
_VALIDATION = 4


class ImageMonitor:
    """A fitted image detector; larger scores are more anomalous."""

    def __init__(self, engine: _engine.ImageMonitor) -> None:
        self._engine = engine

    @property
    def detector(self) -> str:
        """Id of the detector that was fitted."""
        return self._engine.detector

    def score(self, frames: Any, actions: Any) -> NDArray[np.float64]:
        """Scores of all steps of an episode, ``[T]``.

        :raises ValueError: if shapes differ from those of the training.
        """
        return self._engine.score_episode(*_pair((frames, actions)))

    def fork(self) -> ImageMonitor:
        """An independent copy, for another stream."""
        return ImageMonitor(self._engine.fork())

    def __repr__(self) -> str:
        width, height = self._engine.size
        return f"<ImageMonitor {self.detector}: frames of {width} × {height} pixels>"

    def _repr_html_(self) -> str:
        width, height = self._engine.size
        return facts("Image monitor", {"detector": self.detector, "frames": f"{width} × {height} pixels"})


class ImageDetector:
    """A recipe; its options are those of the engine (``docs/howto/images.md``)."""

    id: ClassVar[str]

    def __init__(self, **options: Any) -> None:
        self.options = {name: plain(value) for name, value in options.items()}
        _engine.check_image_detector(self.id, as_json(self.options))

    def fit(
        self,
        episodes: Sequence[Any],
        validation: Sequence[Any] | None = None,
        *,
        seed: int = 0,
        progress: bool = True,
    ) -> ImageMonitor:
        """Learns what is nominal.

        :param episodes: pairs of frames and actions of nominal episodes.
        :param validation: other nominal episodes; every fourth of ``episodes`` if not given.
        :param seed: the same seed gives the same bits.
        :param progress: whether a bar shows how far it is, where tqdm is installed and somebody watches.
        :raises ValueError: if there is too little data, or shapes differ.
        """
        train = [_pair(own) for own in episodes]
        if validation is not None:
            held_out = [_pair(own) for own in validation]
        elif len(train) < _VALIDATION:
            held_out = train
        else:
            held_out = train[_VALIDATION - 1 :: _VALIDATION]
            train = [own for i, own in enumerate(train) if i % _VALIDATION != _VALIDATION - 1]
        options, shown = as_json(self.options), display(progress)
        return ImageMonitor(_engine.fit_images(self.id, options, train, held_out, seed, shown))

    def recipe(self) -> dict[str, Any]:
        """The detector as a campaign writes it."""
        return {"id": self.id, **self.options}

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.options.items())
        return f"{type(self).__name__}({options})"

    def _repr_html_(self) -> str:
        return facts(f"Image detector {self.id}", self.options)


def _pair(episode: Any) -> Pair:
    frames, actions = episode
    return np.ascontiguousarray(frames, np.uint8), np.ascontiguousarray(actions, np.float32)


def _made(id: str, summary: str) -> type[ImageDetector]:
    text = f"{summary[:1].upper()}{summary[1:]}.\n\nThe image detector ``{id}``; ``docs/howto/images.md`` has its options."
    return type(class_name(id), (ImageDetector,), {"id": id, "__doc__": text, "__module__": __name__})


#: Every image detector of the engine by its id.
ALL: dict[str, type[ImageDetector]] = {id: _made(id, summary) for id, summary in _engine.image_detectors()}

globals().update({made.__name__: made for made in ALL.values()})
