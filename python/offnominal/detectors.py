"""Detectors: recipes that learn from nominal episodes and become monitors.

There is one class for each detector of the engine, made from its catalogue: ``pe-dm`` is :class:`PeDm`.
``offnominal.detectors.ALL`` maps the ids to the classes; ``docs/detectors.md`` explains each one and its options.

A detector and what is fitted are different things: :meth:`Detector.fit` returns a :class:`Monitor`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine
from offnominal.episodes import Episodes, pair, pairs
from offnominal.policies import Policy

#: One in so many episodes validates where no others are given for it.
_VALIDATION = 5


class Monitor:
    """A fitted detector: it scores one step after another, and larger is more anomalous."""

    #: Scores one step, while it happens: observation before it, ``[o]``, the policy's command, ``[a]`` or a choice, and
    #: observation after it, ``[o]``. Step by step this gives what :meth:`score` gives for the whole episode, up to
    #: rounding (1e-5 relative).
    step: Callable[[Any, Any, Any], float]

    def __init__(self, engine: _engine.Monitor) -> None:
        self._engine = engine
        # The engine's own, as a call of ours in between would cost as much as a quick detector.
        self.step = engine.step

    @property
    def detector(self) -> str:
        """Id of the detector that was fitted."""
        return self._engine.detector

    def score(self, episode: Any) -> NDArray[np.float64]:
        """Scores of all steps of an episode, ``[T]``.

        :param episode: see :mod:`offnominal.episodes`.
        :raises ValueError: if shapes differ from those of the training, or a number is not finite.
        """
        return self._engine.score_episode(*pair(episode))

    def reset(self) -> None:
        """Forgets the episode before; to be called whenever one begins."""
        self._engine.reset()

    def fork(self) -> Monitor:
        """An independent copy, for another stream."""
        return Monitor(self._engine.fork())

    def __repr__(self) -> str:
        o, a = self._engine.widths
        return f"<Monitor {self.detector}: {o} observation and {a} action channels>"


class Detector:
    """A recipe; its options are those of the engine (``docs/detectors.md``)."""

    id: ClassVar[str]

    def __init__(self, **options: Any) -> None:
        _engine.check_detector(self.id, json.dumps(options))
        self.options = options

    def fit(
        self, episodes: Episodes, validation: Episodes | None = None, *, policy: Policy | None = None, seed: int = 0
    ) -> Monitor:
        """Learns what is nominal.

        :param episodes: nominal episodes, in any form of :mod:`offnominal.episodes`.
        :param validation: other nominal episodes, where training is to be stopped; every fifth of ``episodes`` if not
            given, or all of them if there are fewer than five.
        :param policy: the policy that acted, for detectors that look inside it.
        :param seed: the same seed gives the same bits.
        :raises ValueError: if there is too little data, shapes differ, or a number is not finite.
        """
        train = pairs(episodes)
        if validation is not None:
            held_out = pairs(validation)
        elif len(train) < _VALIDATION:
            held_out = train
        else:
            held_out = train[_VALIDATION - 1 :: _VALIDATION]
            train = [own for i, own in enumerate(train) if i % _VALIDATION != _VALIDATION - 1]
        acting = None if policy is None else policy._engine
        return Monitor(_engine.fit(self.id, json.dumps(self.options), train, held_out, seed, acting))

    def recipe(self) -> dict[str, Any]:
        """The detector as a campaign writes it."""
        return {"id": self.id, **self.options}

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.options.items())
        return f"{type(self).__name__}({options})"


def class_name(id: str) -> str:
    """``PeDm`` for ``pe-dm``."""
    return "".join(word.capitalize() for word in id.split("-"))


def _made(id: str, summary: str) -> type[Detector]:
    name = class_name(id)
    text = f"{summary[:1].upper()}{summary[1:]}.\n\nThe detector ``{id}``; ``docs/detectors.md`` has its equation and its options."
    return type(name, (Detector,), {"id": id, "__doc__": text, "__module__": __name__})


#: Every detector of the engine by its id.
ALL: dict[str, type[Detector]] = {id: _made(id, summary) for id, summary in _engine.detectors()}

_BY_NAME = {made.__name__: made for made in ALL.values()}

__all__ = ["ALL", "Detector", "Monitor", "class_name", *_BY_NAME]  # noqa: PLE0604


def __getattr__(name: str) -> type[Detector]:
    """The class of a detector of the engine."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    near = get_close_matches(name, _BY_NAME, 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise AttributeError(f"no detector has the class {name}{hint}; there are: {', '.join(_BY_NAME)}")


def __dir__() -> list[str]:
    return sorted(__all__)
