"""What all detectors of the engine share, and what is fitted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from offnominal import _engine
from offnominal._given import Episodes, nominal, pair
from offnominal._json import plain
from offnominal._progress import display
from offnominal._tables import facts
from offnominal.policies import Policy

#: One in so many episodes validates where no others are given for it.
_VALIDATION = 5


class Monitor:
    """A fitted detector: it scores one step after another, and larger is more anomalous."""

    #: Scores one step, while it happens: observation before it, ``[o]``, the policy's command, ``[a]`` or a choice, and
    #: observation after it, ``[o]``. Step by step this gives what :meth:`score` gives for the whole episode, up to
    #: rounding (1e-5 relative).
    step: Callable[[Any, Any, Any], float]

    def __init__(self, engine: _engine.Monitor, policy: Policy | None = None) -> None:
        self._engine = engine
        self._policy = policy
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

    def shares(self) -> NDArray[np.float64] | None:
        """The part of the last step's score that is due to each number of the observation, ``[o]``: the parts sum to the score.

        It is asked after :attr:`step`; ``None`` if the detector does not tell. What a score was made of is not yet what is
        broken.
        """
        return self._engine.shares()

    def reset(self) -> None:
        """Forgets the episode before; to be called whenever one begins."""
        self._engine.reset()

    def fork(self) -> Monitor:
        """An independent copy, for another stream."""
        return Monitor(self._engine.fork(), self._policy)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what was learned as a file, whole or not at all; not what is remembered of an episode."""
        _engine.write(os.fspath(path), self._engine.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, policy: Policy | None = None) -> Monitor:
        """Brings back what :meth:`save` wrote, with the same bits. Nothing in the file is executed.

        :param policy: the policy that acts, for a detector that looks inside it.
        :raises OSError: if it cannot be read.
        :raises ValueError: if it is damaged, was edited, or is of another version.
        """
        content = Path(path).read_bytes()
        try:
            return cls._unpickled(content, policy)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def _unpickled(cls, content: bytes, policy: Policy | None) -> Monitor:
        return cls(_engine.Monitor.from_bytes(content, None if policy is None else policy._engine), policy)

    def __reduce__(self) -> tuple[Any, ...]:
        return Monitor._unpickled, (self._engine.to_bytes(), self._policy)

    def __repr__(self) -> str:
        o, a = self._engine.widths
        return f"<Monitor {self.detector}: {o} observation and {a} action channels>"

    def _repr_html_(self) -> str:
        o, a = self._engine.widths
        return facts("Monitor", {"detector": self.detector, "observation channels": o, "action channels": a})


class Detector:
    """A recipe; its options are those of the engine (``docs/reference/detectors.md``)."""

    id: ClassVar[str]

    #: The options and their defaults.
    _defaults: ClassVar[dict[str, Any]]

    def __init__(self, **options: Any) -> None:
        given = {name: _plain(value) for name, value in options.items()}
        _engine.check_detector(self.id, json.dumps({k: v for k, v in given.items() if v is not None}))
        #: Those that are not the defaults.
        self.options = {k: v for k, v in given.items() if v is not None and v != self._defaults.get(k)}

    def fit(
        self,
        episodes: Episodes,
        validation: Episodes | None = None,
        *,
        policy: Policy | None = None,
        seed: int = 0,
        progress: bool = True,
    ) -> Monitor:
        """Learns what is nominal.

        :param episodes: nominal episodes, in any form of :mod:`offnominal.episodes`; others are left out, with a warning.
        :param validation: other nominal episodes, where training is to be stopped; every fifth of ``episodes`` if not
            given, or all of them if there are fewer than five.
        :param policy: the policy that acted, for detectors that look inside it.
        :param seed: the same seed gives the same bits.
        :param progress: whether a bar shows how far it is, where tqdm is installed and somebody watches.
        :raises ValueError: if there is too little data, shapes differ, or a number is not finite.
        """
        given = nominal(episodes)
        train = given.pairs
        if validation is not None:
            held_out = nominal(validation, "validation", given).pairs
        elif len(train) < _VALIDATION:
            held_out = train
        else:
            held_out = train[_VALIDATION - 1 :: _VALIDATION]
            train = [own for i, own in enumerate(train) if i % _VALIDATION != _VALIDATION - 1]
        acting = None if policy is None else policy._engine
        options = json.dumps(self.options)
        return Monitor(_engine.fit(self.id, options, train, held_out, seed, acting, display(progress)), policy)

    def recipe(self) -> dict[str, Any]:
        """The detector as a campaign writes it."""
        return {"id": self.id, **self.options}

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.options.items())
        return f"{type(self).__name__}({options})"

    def _repr_html_(self) -> str:
        return facts(f"Detector {self.id}", self._defaults | self.options)


def _plain(value: Any) -> Any:
    """An option as a campaign has it."""
    if isinstance(value, Detector):
        return value.recipe()
    if isinstance(value, Mapping):
        return {name: _plain(own) for name, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(own) for own in value]
    return plain(value)


def class_name(id: str) -> str:
    """``PeDm`` for ``pe-dm``."""
    return "".join(word.capitalize() for word in id.split("-"))
