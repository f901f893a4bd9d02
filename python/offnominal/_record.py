"""Records rollouts of policies that predict chunks of actions, as `offnominal rollouts` reads them (``docs/howto/rollouts.md``)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np


def record(
    policy: Any,
    file: str | PathLike[str],
    *,
    executed: int | None = None,
    samples: bool = False,
    embed: Callable[[Any], Any] | None = None,
) -> Recorder:
    """Watches a policy and appends each of its rollouts to a file of JSON lines.

    The policy is any object with ``select_action``, ``predict_action_chunk`` or both, such as a policy of LeRobot. It goes
    on as before: its own methods are called, and what they return is returned. A chunk is what ``predict_action_chunk``
    returns, ``[H, A]`` or ``[1, H, A]``, also where ``select_action`` calls it; of a policy without it, what
    ``select_action`` returns is a chunk of its own, of one action if it is ``[A]`` or ``[1, A]``::

        with offnominal.record(policy, "rollouts.jsonl") as recorder:
            for episode in range(50):
                recorder.begin("stack the cups")
                ...                          # policy.select_action(observation), as ever
                recorder.end(success=done)

    :param executed: actions of a chunk that are executed before the next one; counted by the calls of ``select_action`` if
        not given, which needs a policy that has both methods.
    :param samples: whether the first axis of a chunk ``[S, H, A]`` are samples, of which the first one is executed.
    :param embed: gives the embedding ``[D]`` of the observation that a chunk was predicted from.
    """
    return Recorder(policy, Path(file), executed, samples, embed)


class Recorder:
    """What :func:`record` returns: begins and ends rollouts. Leaving its ``with`` block gives the policy its methods back."""

    def __init__(
        self,
        policy: Any,
        file: Path,
        executed: int | None,
        samples: bool,
        embed: Callable[[Any], Any] | None,
    ) -> None:
        methods = [name for name in ("predict_action_chunk", "select_action") if callable(getattr(policy, name, None))]
        if not methods:
            raise ValueError(
                f"expected a policy with select_action or predict_action_chunk, found {type(policy).__name__}"
            )
        if executed is not None and executed < 1:
            raise ValueError(f"executed: expected 1 or more actions, found {executed}")
        if executed is None and methods == ["predict_action_chunk"]:
            raise ValueError("executed: expected the number of actions that are executed of each chunk, found None")
        self.policy = policy
        self.rollouts = 0
        self._file, self._executed, self._samples, self._embed = file, executed, samples, embed
        self._counts = executed is None and "predict_action_chunk" in methods
        self._rollout: dict[str, Any] | None = None
        self._selected = 0
        self._methods = {name: getattr(policy, name) for name in methods}
        # Methods of the instance come before those of its class, also for calls that the policy makes to itself.
        if "select_action" in methods:
            policy.select_action = self._select
        if "predict_action_chunk" in methods:
            policy.predict_action_chunk = self._predict

    def begin(self, task: str | int, *, rollout: str | int | None = None) -> None:
        """A rollout of a task begins; it is named by its number if it has no name."""
        if self._rollout is not None:
            raise ValueError("begin: expected the end of the rollout before, found none; call end(success=…)")
        name = self.rollouts if rollout is None else rollout
        self._rollout, self._selected = {"rollout": name, "task": task, "steps": []}, 0

    def note(self, **signals: float) -> None:
        """Adds numbers of your own to the present step, as signals."""
        for name, value in signals.items():
            if not math.isfinite(value):
                raise ValueError(f"note: expected a finite number as {name}, found {value}")
        if not self._steps:
            raise ValueError("note: expected a chunk since the rollout began, found none")
        self._steps[-1].update({name: float(value) for name, value in signals.items()})

    def end(self, *, success: bool, failure_step: int | None = None) -> None:
        """The rollout has ended; its line is written now.

        :param failure_step: the number of the chunk at which its failure began, where you know it.
        """
        self._close_step()
        rollout, steps = self._rollout, self._steps
        if not steps:
            raise ValueError("end: expected a chunk since the rollout began, found none; does the policy predict any?")
        assert rollout is not None
        line = {"rollout": rollout["rollout"], "task": rollout["task"], "success": bool(success), "steps": steps}
        if failure_step is not None:
            if success or not 0 <= failure_step < len(steps):
                raise ValueError(
                    f"failure_step: expected a step of a failed rollout of {len(steps)}, found {failure_step}"
                )
            line["failure_step"] = int(failure_step)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")
        self.discard()
        self.rollouts += 1

    def discard(self) -> None:
        """Forgets the rollout that has begun."""
        self._rollout, self._selected = None, 0

    def close(self) -> None:
        """Gives the policy its own methods back."""
        for name in self._methods:
            self.policy.__dict__.pop(name, None)
        self._methods = {}

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _steps(self) -> list[dict[str, Any]]:
        if self._rollout is None:
            raise ValueError("expected a rollout that has begun, found none; call begin(task)")
        steps: list[dict[str, Any]] = self._rollout["steps"]
        return steps

    def _select(self, observation: Any, *more: Any, **options: Any) -> Any:
        action = self._methods["select_action"](observation, *more, **options)
        if self._rollout is not None:
            if "predict_action_chunk" not in self._methods:
                self._add(action, observation)
            self._selected += 1
        return action

    def _predict(self, observation: Any, *more: Any, **options: Any) -> Any:
        chunk = self._methods["predict_action_chunk"](observation, *more, **options)
        if self._rollout is not None:
            self._add(chunk, observation)
        return chunk

    def _add(self, chunk: Any, observation: Any) -> None:
        self._close_step()
        values = _chunk(chunk, self._samples)
        step: dict[str, Any] = {"step": len(self._steps), "chunk": values.tolist()}
        if self._embed is not None:
            step["embedding"] = _numbers(self._embed(observation)).reshape(-1).tolist()
        self._steps.append(step)
        self._selected = 0

    def _close_step(self) -> None:
        """Says how many actions of the last chunk were executed."""
        if not self._steps:
            return
        step = self._steps[-1]
        horizon = len(step["chunk"][0] if self._samples else step["chunk"])
        executed = self._selected if self._counts else self._executed or 1
        step["executed"] = max(1, min(executed, horizon))


def _numbers(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers of NumPy, of PyTorch on any device, or of lists."""
    for method in ("detach", "cpu", "float"):
        if hasattr(values, method) and not isinstance(values, np.ndarray):
            values = getattr(values, method)()
    return np.asarray(values, dtype=np.float64)


def _chunk(values: Any, samples: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A chunk ``[H, A]``, or ``[S, H, A]`` with samples."""
    found = _numbers(values)
    shape: Sequence[int] = found.shape
    if found.ndim == 1:
        found = found[None]
    elif found.ndim == 3 and shape[0] == 1 and not samples:
        found = found[0]
    if found.ndim != (3 if samples else 2) or found.size == 0:
        expected = "[S, H, A]" if samples else "[H, A] or [1, H, A]"
        raise ValueError(f"expected a chunk of the shape {expected}, found {list(shape)}")
    if not np.isfinite(found).all():
        raise ValueError("expected a chunk of finite numbers, found others")
    return found
