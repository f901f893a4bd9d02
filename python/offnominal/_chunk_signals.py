"""Signals of chunks of actions while a policy acts (``docs/howto/rollouts.md``)."""

from __future__ import annotations

from typing import Any

from offnominal import _engine
from offnominal._record import _chunk


class ChunkSignals:
    """The signals of a policy's chunks while it acts, as :func:`offnominal.rollouts.signals` computes them of recordings.

    ::

        watch = offnominal.alarms.Watch.load("runs/probe.monitor")
        signals = offnominal.ChunkSignals()
        watch.reset("stack the cups")
        while not done:
            found = signals.step(policy.predict_action_chunk(observation), executed=5)
            verdict = watch.step([found[channel["name"]] for channel in watch.about["observation"]], [])
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """A rollout begins."""
        self._engine = _engine.ChunkSignals()

    def step(self, chunk: Any, executed: int, *, samples: bool = False) -> dict[str, float]:
        """The signals of the next chunk, by their names.

        :param chunk: the predicted actions, ``[H, A]`` or ``[1, H, A]``.
        :param executed: how many of them are executed before the next chunk.
        :param samples: whether the first axis of a chunk ``[S, H, A]`` are samples, of which the first one is executed.
        :raises ValueError: if it is no chunk, or its width or number of samples is not that of the one before.
        """
        found = _chunk(chunk, samples)
        sizes = found.shape if samples else (1, *found.shape)
        return dict(self._engine.step(sizes, found.reshape(-1).tolist(), executed))
