"""Episodes: played by the engine, recorded from anybody's environment, read from files, or just arrays.

Wherever episodes are asked for, these are understood: the path of an Arrow file of ``offnominal collect``, a
:class:`Dataset`, what :func:`offnominal.logs.read` returns, a Minari dataset, or a list of episodes. An episode is an
:class:`Episode`, anything with ``observations`` ``[T + 1, o]`` and ``actions`` ``[T, a]`` (Minari's episodes are), a dict with
these keys, or the tuple ``(observations, actions)``. Arrays of float32 that are contiguous are not copied.

A data frame (pandas, polars or Arrow) is understood too: columns ``observation.NAME`` and ``action.NAME``, a row for each
observation, and a column ``episode``, or a level of the index of that name, if there is more than one. An episode of T steps
has T + 1 rows, so the actions of its last row are not read. ``to_pandas()`` of a :class:`Dataset` writes such a frame.

What learns, or sets a threshold, takes nominal episodes only. Those whose label or outcome says that something was wrong (a
recording's ``is_nominal``, ``labels``, a column ``label``), and those that diverged, are left out, and a warning names them.
Where two sets have names, their channels are matched by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from typing_extensions import Unpack

from offnominal import _engine
from offnominal._anomaly_spec import Disturbed, wanted
from offnominal._brought import known
from offnominal._environments import AnyEnvironment
from offnominal._given import pair as pair
from offnominal._given import pairs as pairs
from offnominal._json import as_json
from offnominal._progress import display, progress
from offnominal._tables import Tabular, facts
from offnominal.envs import environment_id
from offnominal.policies import Acting, named


@dataclass(frozen=True, repr=False)
class Episode(Tabular):
    """What happened in one run of a policy: T steps, and T + 1 observations."""

    #: As the policy read them, ``[T + 1, o]``.
    observations: NDArray[Any]
    #: The policy's own commands, before any disturbance, ``[T, a]``.
    actions: NDArray[Any]
    #: Rewards of the true state, ``[T]``.
    rewards: NDArray[np.float64]
    #: Whether the anomaly was active in each step, ``[T]``.
    labels: NDArray[np.bool_]
    #: The seed from which it can be played again.
    seed: int | None = None
    #: First anomalous step.
    onset: int | None = None
    #: ``succeeded``, ``failed``, ``ended`` (nobody said what that means), ``timed_out`` or ``diverged``.
    end: str = "timed_out"
    #: Whether it counts as a success, where that is defined.
    success: bool | None = None
    #: Initial condition.
    initial: list[float] = field(default_factory=list)
    #: Names of the numbers of an observation, and of an action; counted from 0 where there are none.
    names: tuple[list[str], list[str]] | None = None

    def __len__(self) -> int:
        return len(self.rewards)

    def columns(self) -> dict[str, Any]:
        """One row per observation; actions, reward and label are those of the step that follows, so the last has none."""
        observations, actions = pair(self)
        of_obs, of_act = self.names or (_counted(observations), _counted(actions))
        steps = {"step": np.arange(len(observations))}
        seen = {f"observation.{name}": observations[:, i] for i, name in enumerate(of_obs)}
        done = {f"action.{name}": _padded(actions[:, i]) for i, name in enumerate(of_act)}
        return steps | seen | done | {"reward": _padded(self.rewards), "label": _padded(self.labels)}

    def _about(self) -> dict[str, Any]:
        observations, actions = pair(self)
        return {
            "steps": len(self),
            "observation channels": observations.shape[1],
            "action channels": actions.shape[1],
            "end": self.end,
            "return": round(float(np.sum(self.rewards)), 6),
            **({} if self.onset is None else {"onset": self.onset}),
            **({} if self.seed is None else {"seed": self.seed}),
        }

    def __repr__(self) -> str:
        about = self._about()
        onset = "" if self.onset is None else f", onset {self.onset}"
        channels = f"{about['observation channels']} observation and {about['action channels']} action channels"
        return f"<Episode: {len(self)} steps of {channels}, {self.end}, return {about['return']:.6g}{onset}>"

    def _repr_html_(self) -> str:
        return facts("Episode", self._about())


class Dataset(Sequence[Episode], Tabular):
    """Episodes in order, with the recipe that recreates them and, for disturbed ones, their nominal twins.

    A slice is a dataset too.
    """

    def __init__(self, recording: _engine.Recording) -> None:
        self._recording = recording
        self._episodes: dict[int, Episode] = {}

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Names of the numbers of an observation, and of an action."""
        recipe = self.recipe
        return _names(recipe["observation"]), _names(recipe["action"])

    @property
    def recipe(self) -> dict[str, Any]:
        """Environment, policy, anomaly, seed and channels."""
        recipe: dict[str, Any] = json.loads(self._recording.recipe())
        return recipe

    @property
    def twins(self) -> list[int | None]:
        """For each episode, the index of its nominal twin; ``None`` where there is none."""
        return self._recording.twins()

    def __len__(self) -> int:
        return len(self._recording)

    @overload
    def __getitem__(self, i: int) -> Episode: ...

    @overload
    def __getitem__(self, i: slice) -> Dataset: ...

    def __getitem__(self, i: int | slice) -> Episode | Dataset:
        if isinstance(i, slice):
            return Dataset(self._recording.select(list(range(*i.indices(len(self))))))
        at = i + len(self) if i < 0 else i
        if not 0 <= at < len(self):
            raise IndexError(f"expected an episode from 0 to {len(self) - 1}, found {i}")
        if at not in self._episodes:
            self._episodes[at] = Episode(**self._recording.episode(at), names=self.names)
        return self._episodes[at]

    def columns(self) -> dict[str, Any]:
        """The rows of all episodes, one after another, with the number of the episode in front."""
        each = [episode.columns() for episode in self]
        numbers = np.repeat(np.arange(len(each)), [len(episode) + 1 for episode in self])
        joined = {name: np.concatenate([own[name] for own in each]) for name in (each[0] if each else [])}
        return {"episode": numbers, **joined}

    def _about(self) -> dict[str, Any]:
        recipe = self.recipe
        anomaly = (recipe["anomaly_spec"] or {}).get("anomaly", "none")
        steps = sum(len(episode) for episode in self)
        return {
            "environment": recipe["env"], "policy": recipe["policy"]["id"], "anomaly": anomaly, "episodes": len(self),
            "steps": steps, "seed": recipe["seed"],
        }  # fmt: skip

    def __repr__(self) -> str:
        about = self._about()
        what = "nominal" if about["anomaly"] == "none" else f"anomalous and nominal ({about['anomaly']})"
        of = f"{about['policy']} in {about['environment']}"
        return f"<Dataset: {len(self)} episodes of {of}, {what}, {about['steps']} steps>"

    def _repr_html_(self) -> str:
        return facts("Dataset", self._about())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the bytes of its file."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "episodes.arrow"
            self.save(path)
            return _unpickled, (path.read_bytes(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an Arrow file that the commands of ``offnominal`` read, whole or not at all."""
        self._recording.save(os.fspath(path))

    def to_minari(self, id: str, folder: str | os.PathLike[str] | None = None) -> Path:
        """Writes a dataset for ``minari.load_dataset(id)``, whole or not at all, and returns its folder.

        :param id: such as ``sap/goal1-noise-v0``.
        :param folder: where Minari keeps its datasets; ``$MINARI_DATASETS_PATH`` or ``~/.minari/datasets`` if not given.
        """
        default = os.environ.get("MINARI_DATASETS_PATH") or Path.home() / ".minari" / "datasets"
        return Path(self._recording.export_minari(os.fspath(folder or default), id))


def _unpickled(content: bytes) -> Dataset:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "episodes.arrow"
        path.write_bytes(content)
        return load(path)


def load(path: str | os.PathLike[str]) -> Dataset:
    """Reads an Arrow file of episodes.

    :raises OSError: if it cannot be read.
    :raises ValueError: if it is damaged.
    """
    return Dataset(_engine.load(os.fspath(path)))


@overload
def collect(
    env: str, policy: str, *, episodes: int, seed: int = 0, jobs: int = 0, **anomaly_spec: Unpack[Disturbed]
) -> Dataset: ...


@overload
def collect(
    env: AnyEnvironment,
    policy: Acting,
    *,
    episodes: int,
    seed: int = 0,
    jobs: int = 0,
    **anomaly_spec: Unpack[Disturbed],
) -> Dataset | list[Episode]: ...


def collect(
    env: AnyEnvironment,
    policy: str | Acting,
    *,
    episodes: int,
    seed: int = 0,
    jobs: int = 0,
    **anomaly_spec: Unpack[Disturbed],
) -> Dataset | list[Episode]:
    """Plays episodes of a policy.

    With an environment's id, or a function that makes environments, the engine plays them on all cores: the same bits as
    ``offnominal collect``, and each disturbed episode is followed by its nominal twin. In a Gymnasium environment without an
    anomaly they are played in Python, one after another, with the seeds ``seed``, ``seed + 1``, …

    :param env: id of an environment, a function that makes one of Gymnasium, or such an environment (wrap it in
        :class:`offnominal.Anomalous` to disturb it here).
    :param policy: name of a policy of the engine, ``module:name``, a callable ``policy(obs) -> action``, or an object with
        ``predict``, such as a model of Stable-Baselines3.
    :param jobs: threads; 0 for all cores.
    :param anomaly_spec: what goes wrong, in the keywords of :class:`offnominal.Environment`: ``anomaly``, ``magnitude`` or ``strength``, …
    """
    asked = wanted(anomaly_spec)
    if episodes < 1:
        raise ValueError(f"episodes: expected at least 1, found {episodes}")
    if not isinstance(env, str) and (asked != "null" or not isinstance(env, gymnasium.Env)):
        return _played(env, policy, episodes, seed, asked, jobs)
    if isinstance(env, str) and (isinstance(policy, str) or _is_played(environment_id(env))):
        return _played(environment_id(env), policy, episodes, seed, asked, jobs)
    if asked != "null":
        raise ValueError(f"anomaly: expected an environment that the engine can make, found {env}")
    own = gymnasium.make(_registered(env)) if isinstance(env, str) else env
    act = named(policy, environment_id(env) if isinstance(env, str) else None)
    return [record(own, act, seed + i) for i in progress(range(episodes), "episodes")]


def _is_played(env: str) -> bool:
    """Whether the engine plays in such an environment."""
    from offnominal.envs import environments

    return env in environments() or env.startswith("gymnasium:")


def _registered(name: str) -> str:
    from offnominal.envs import environments, gymnasium_id

    return gymnasium_id(name) if name in environments() else name


def _played(env: AnyEnvironment, policy: str | Acting, episodes: int, seed: int, anomaly_spec: str, jobs: int) -> Dataset:
    """Played by the engine."""
    request = known("collect", {"env": env, "policy": policy, "episodes": episodes, "anomaly": json.loads(anomaly_spec)})
    return Dataset(_engine.collect(as_json(request), seed, jobs, display()))


def record(env: gymnasium.Env[Any, Any], policy: Callable[[Any], Any], seed: int | None = None) -> Episode:
    """Plays one episode in any Gymnasium environment and records it.

    The label of a step is ``info["label"]`` where the environment gives one.
    """
    obs, info = env.reset(seed=seed)
    forget = getattr(policy, "reset", None)
    if callable(forget):
        forget()
    onset, is_over = info.get("onset"), False
    # Copies, for environments and policies may write into the same array in each step.
    observations, actions, rewards, labels = [np.array(obs)], [], [], []
    while not is_over:
        action = policy(obs)
        actions.append(_played_in(env.action_space, np.atleast_1d(np.array(action))))
        obs, reward, terminated, truncated, info = env.step(action)
        is_over = bool(terminated or truncated)
        observations.append(np.array(obs))
        rewards.append(float(reward))
        labels.append(bool(info.get("label", False)))
    return Episode(
        observations=np.stack(observations),
        actions=np.stack(actions),
        rewards=np.array(rewards, np.float64),
        labels=np.array(labels, np.bool_),
        seed=seed,
        onset=onset,
        end=info.get("end", "ended" if terminated else "timed_out"),
        success=info.get("is_success"),
    )


def _played_in(space: gymnasium.Space[Any], action: NDArray[Any]) -> NDArray[Any]:
    """A command as it is recorded; a choice that there is not would be played as another one, or as none."""
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        first = np.ravel(space.start)
        last = first + np.ravel(space.n if isinstance(space, spaces.Discrete) else space.nvec) - 1
        found = np.ravel(action)
        if found.shape != first.shape or (found < first).any() or (found > last).any() or (found % 1 != 0).any():
            raise ValueError(f"action of the policy: expected a whole number from {first} to {last}, found {action}")
    return action


def _names(channels: list[dict[str, Any]]) -> list[str]:
    """One name for each number of the channels; the numbers of an image are counted from 0."""
    found = []
    for channel in channels:
        image = channel.get("image")
        width = image["frames"] * image["planes"] * image["height"] * image["columns"] if image else 1
        found += [channel["name"]] if width == 1 else [f"{channel['name']}[{i}]" for i in range(width)]
    return found


def _counted(rows: NDArray[Any]) -> list[str]:
    return [str(i) for i in range(rows.shape[1])]


def _padded(values: NDArray[Any]) -> NDArray[np.float64]:
    """With a row that has no number at the end."""
    return np.append(values.astype(np.float64), np.nan)
