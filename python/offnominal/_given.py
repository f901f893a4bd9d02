"""What episodes may be given as, and which of them are nominal: the one place where both are decided, for every detector."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnominal._frames import numbers, unindexed

Pair = tuple[NDArray[Any], NDArray[Any]]
Episodes = Any

#: Names of the numbers of an observation, and of an action.
Names = tuple[list[str], list[str]]

#: Columns that tell recordings apart where people have no column `episode`; without it they would be joined.
_ALIKE = ("episodes", "recording", "rollout", "run", "trajectory", "trial")

#: Episodes that a warning names.
_NAMED = 5


@dataclass(frozen=True)
class Given:
    """Episodes, whatever they were given as."""

    #: What they are for, in messages.
    what: str
    pairs: list[Pair]
    #: What an episode is called, and why it is not nominal; ``None`` where nothing says so.
    about: list[tuple[str, str | None]]
    names: Names | None
    #: Which of those that were given these are.
    kept: list[int]

    @classmethod
    def of(cls, episodes: Episodes, what: str = "episodes") -> Given:
        """:raises ValueError: naming the episode, what was expected and what was found."""
        names = channel_names(episodes)
        if is_frame(episodes):
            episodes = _of_frame(episodes)
        elif isinstance(episodes, (str, os.PathLike)):
            from offnominal.episodes import load

            episodes = load(episodes)
            names = channel_names(episodes)
        elif hasattr(episodes, "iterate_episodes"):
            episodes = episodes.iterate_episodes()
        if not isinstance(episodes, Iterable) or isinstance(episodes, (np.ndarray, Mapping)):
            raise ValueError(f"{what}: expected a list of episodes, a dataset or a path, found {_kind(episodes)}")
        listed = list(episodes)
        if not listed:
            raise ValueError(f"{what}: expected at least one, found none")
        found = [pair(episode, f"episode {i}") for i, episode in enumerate(listed)]
        about = [(_name(episode, i), _why_not(episode)) for i, episode in enumerate(listed)]
        return cls(what, found, about, names or _shared_names(listed, what), list(range(len(listed))))

    def nominal(self) -> Given:
        """Those of which nothing says that something was wrong; a warning names the others.

        :raises ValueError: if there is none.
        """
        left_out = [f"{name} ({why})" for name, why in self.about if why is not None]
        if not left_out:
            return self
        kept = [i for i, (_, why) in enumerate(self.about) if why is None]
        if not kept:
            raise ValueError(f"{self.what}: expected nominal episodes, found none; the first: {left_out[0]}")
        told = ", ".join(left_out[:_NAMED]) + (", …" if len(left_out) > _NAMED else "")
        warnings.warn(
            f"{self.what}: {len(left_out)} of {len(self.pairs)} episodes are not nominal and were left out: {told}", stacklevel=4
        )
        chosen = [self.pairs[i] for i in kept], [self.about[i] for i in kept]
        return Given(self.what, *chosen, self.names, [self.kept[i] for i in kept])

    def like(self, other: Given) -> Given:
        """With the channels in the order of others, where both have names.

        :raises ValueError: if there are other channels.
        """
        if self.names is None or other.names is None or self.names == other.names:
            return self
        if any(sorted(own) != sorted(wanted) for own, wanted in zip(self.names, other.names)):
            expected, found = (", ".join(sum(names, [])) for names in (other.names, self.names))
            raise ValueError(f"{self.what}: expected the channels {expected}, found {found}")
        at = [[own.index(name) for name in wanted] for own, wanted in zip(self.names, other.names)]
        ordered = [(observations[:, at[0]], actions[:, at[1]]) for observations, actions in self.pairs]
        return Given(self.what, ordered, self.about, other.names, self.kept)


def pairs(episodes: Episodes) -> list[Pair]:
    """Observations ``[T + 1, o]`` and actions ``[T, a]`` of each episode, whatever they were given as.

    :raises ValueError: naming the episode, what was expected and what was found.
    """
    return Given.of(episodes).pairs


def nominal(episodes: Episodes, what: str = "training", like: Given | None = None) -> Given:
    """What a detector may learn from, or what may set its threshold; a warning names what was left out."""
    found = Given.of(episodes, what).nominal()
    return found if like is None else found.like(like)


def channel_names(episodes: Episodes) -> Names | None:
    """Names of the numbers of an observation, and of an action, where the episodes tell them."""
    if is_frame(episodes):
        columns = _columns(episodes)
        return _after(columns, "observation."), _after(columns, "action.")
    own: Names | None = getattr(episodes, "names", None)
    return own


def is_frame(thing: Any) -> bool:
    """Whether a thing is a table with named columns."""
    found = getattr(thing, "column_names", None) or getattr(thing, "columns", None)
    return found is not None and not callable(found) and hasattr(thing, "__getitem__")


def pair(episode: Any, what: str = "episode") -> Pair:
    """Observations and actions of one episode, as two-dimensional arrays."""
    if isinstance(episode, Mapping) and {"observations", "actions"} <= set(episode):
        observations, actions = episode["observations"], episode["actions"]
    elif hasattr(episode, "observations") and hasattr(episode, "actions"):
        observations, actions = episode.observations, episode.actions
    elif isinstance(episode, (tuple, list)) and len(episode) == 2:
        observations, actions = episode
    else:
        raise ValueError(f"{what}: expected observations and actions, found {_kind(episode)}")
    return _table(observations, f"{what}, observations"), _table(actions, f"{what}, actions")


def _name(episode: Any, i: int) -> str:
    name = getattr(episode, "name", None)
    return name if isinstance(name, str) else f"episode {i}"


def _why_not(episode: Any) -> str | None:
    """Why an episode is not nominal; ``None`` where nothing says so."""
    if getattr(episode, "is_nominal", True) is False:
        return "its label or outcome says so"
    if isinstance(why := getattr(episode, "left_out", None), str):
        return why
    if getattr(episode, "end", None) == "diverged":
        return "it diverged"
    infos = getattr(episode, "infos", None)
    for own in (episode, infos):
        for key in ("labels", "label"):
            labels = own.get(key) if isinstance(own, Mapping) else getattr(own, key, None)
            if labels is not None and _is_any(labels):
                return "its label says so"
    return None


def _is_any(labels: Any) -> bool:
    try:
        return bool(np.nan_to_num(np.asarray(labels, np.float64)).any())
    except (TypeError, ValueError) as error:
        raise ValueError(f"label: expected numbers or truth values, found {error}") from None


def _shared_names(episodes: Sequence[Any], what: str) -> Names | None:
    """The names that all episodes of a list have."""
    each = [getattr(episode, "names", None) for episode in episodes]
    known = [names for names in each if names is not None]
    if not known or len(known) < len(each):
        return None
    for i, names in enumerate(known):
        if names != known[0]:
            expected, found = (", ".join(sum(own, [])) for own in (known[0], names))
            raise ValueError(f"{what}: episode {i}: expected the channels {expected}, as in episode 0, found {found}")
    first: Names = known[0]
    return first


def _columns(frame: Any) -> list[str]:
    return [str(name) for name in (getattr(frame, "column_names", None) or frame.columns)]


def _after(names: list[str], before: str) -> list[str]:
    return [name.removeprefix(before) for name in names if name.startswith(before)]


def _of_frame(frame: Any) -> list[dict[str, Any]]:
    """The episodes of a data frame."""
    frame = unindexed(frame)
    names = _columns(frame)
    table = {}
    for part in ("observation", "action"):
        chosen = [name for name in names if name.startswith(f"{part}.")]
        if not chosen:
            raise ValueError(f"episodes: expected a data frame with columns {part}.NAME, found {', '.join(names)}")
        table[part] = np.column_stack([numbers(frame[name], f"column {name}") for name in chosen])
    labels = {"labels": np.asarray(frame["label"])} if "label" in names else {}
    parts = {"observations": table["observation"], "actions": table["action"], **labels}
    rows = _rows(frame, names)
    # An action and a label are those of the step that follows, so the last row has none.
    return [{key: own[at] if key == "observations" else own[at][:-1] for key, own in parts.items()} for at in rows]


def _rows(frame: Any, names: list[str]) -> list[Any]:
    """Which rows are of which episode."""
    if "episode" not in names:
        alike = [name for name in names if name.lower() in _ALIKE]
        steps = numbers(frame["step"], "column step") if "step" in names else np.arange(2)
        if alike or (np.diff(steps) <= 0).any():
            why = f"the column {alike[0]}" if alike else "a column step that begins again"
            raise ValueError(f"episodes: expected a column episode, which tells episodes apart, found none but {why}")
        return [slice(None)]
    of = np.asarray(frame["episode"])
    every = list(dict.fromkeys(of.tolist()))
    if any(number is None or number != number for number in every):
        raise ValueError("column episode: expected the number or name of an episode in every row, found none in some")
    return [of == number for number in every]


def _table(rows: Any, what: str) -> NDArray[Any]:
    """One row per step: single numbers become rows of one, images rows of many."""
    if isinstance(rows, np.ndarray) and type(rows) is np.ndarray and rows.ndim == 2 and rows.dtype != object:
        return rows
    if isinstance(rows, Mapping):
        raise ValueError(f"{what}: expected an array, found a dict of {', '.join(rows)}; choose or join its arrays")
    array = numbers(rows, what)
    if array.ndim == 0:
        raise ValueError(f"{what}: expected an array of numbers with one row per step, found {_kind(array)}")
    return array if array.ndim == 2 else array.reshape(len(array), -1) if array.size else array.reshape(len(array), 0)


def _kind(thing: Any) -> str:
    if isinstance(thing, np.ndarray):
        return f"an array of {thing.dtype} of shape {thing.shape}"
    return f"{type(thing).__name__}"
