"""Policies and monitors as folders in the layout of the Hugging Face hub.

A folder holds a model card (``README.md``) with the metadata that the hub reads, ``offnominal.json``, which says what the file
is, and the file itself. :func:`save` and :func:`load` need no network: ``hf upload USER/NAME FOLDER`` uploads a folder, and
``huggingface_hub.snapshot_download("USER/NAME")`` fetches one.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from offnominal import _engine
from offnominal.alarms import Watch
from offnominal.policies import Policy

__all__ = ["load", "save"]

#: The version of the layout.
_FORMAT = 1

_FILES = {"policy": "policy.safetensors", "watch": "watch.monitor"}


def save(thing: Policy | Watch, folder: str | os.PathLike[str], *, license: str | None = None) -> Path:
    """Writes a policy or a monitor with its threshold as a folder for the hub, and returns the folder.

    :param license: the SPDX id under which you share it, for the model card.
    :raises ValueError: if it has no file of its own: a policy without one, or a monitor whose detector is written in Python.
    """
    kind = _kind(thing)
    path, file = Path(folder), Path(folder) / _FILES[kind]
    thing.save(file)
    about = thing.card if isinstance(thing, Policy) else thing.about
    env = thing.env if isinstance(thing, Policy) else thing.about["environment"]["id"]
    digest = sha256(file.read_bytes()).hexdigest()
    meta = {
        "format": _FORMAT, "engine": _engine.VERSION, "kind": kind, "env": env, "file": file.name, "sha256": digest,
        "about": about,
    }  # fmt: skip
    _engine.write(os.fspath(path / "offnominal.json"), json.dumps(meta, indent=2, ensure_ascii=False).encode())
    _engine.write(os.fspath(path / "README.md"), _card(thing, kind, env, license).encode())
    return path


def load(folder: str | os.PathLike[str]) -> Policy | Watch:
    """Opens a folder that :func:`save` wrote; nothing in it is executed.

    :raises OSError: if a file is missing.
    :raises ValueError: if the folder is of another version, or the file is not the one that was saved.
    """
    path = Path(folder)
    place = path / "offnominal.json"
    try:
        meta: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        version, kind, expected, env = (meta[key] for key in ("format", "kind", "sha256", "env"))
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{place}: expected what offnominal.hub.save wrote, found something else: {error!r}") from None
    if version != _FORMAT:
        raise ValueError(f"{place}: expected version {_FORMAT} of the layout, found {version}")
    if kind not in _FILES:
        raise ValueError(f"{place}: expected one of {', '.join(_FILES)}, found {kind!r}")
    # The name of the file is not read from there, so that it cannot lead out of the folder.
    file = path / _FILES[kind]
    found = sha256(file.read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(f"{file}: expected SHA-256 {expected}, found {found}")
    return Policy(env, os.fspath(file)) if kind == "policy" else Watch.load(file)


def _kind(thing: Any) -> str:
    if isinstance(thing, Policy):
        return "policy"
    if isinstance(thing, Watch):
        return "watch"
    raise ValueError(f"thing: expected a Policy or a Watch, found {type(thing).__name__}")


def _card(thing: Policy | Watch, kind: str, env: str, license: str | None) -> str:
    """The model card: metadata between dashes, then text."""
    tags = ["offnominal", env, *(["reinforcement-learning"] if kind == "policy" else ["anomaly-detection", "monitoring"])]
    lines = ["---", "library_name: offnominal", "tags:", *(f"- {json.dumps(tag)}" for tag in tags)]
    lines += ["pipeline_tag: reinforcement-learning"] if kind == "policy" else []
    lines += [f"license: {license.lower()}"] if license else []
    lines += ["---", "", *(_of_policy(thing) if isinstance(thing, Policy) else _of_watch(thing)), ""]
    call = 'policy(obs)' if kind == "policy" else 'watch.step(obs, action)'
    lines += [
        "## Use", "", "```python", "import huggingface_hub, offnominal", "",
        f'{kind} = offnominal.hub.load(huggingface_hub.snapshot_download("USER/NAME"))', call, "```", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _of_policy(policy: Policy) -> list[str]:
    lines = [f"# {policy.name} in {policy.env}", "", f"A policy for the environment `{policy.env}` of Offnominal.", ""]
    card = policy.card
    if card is None:
        return [*lines, "Nothing is known of its training."]
    rows = {"return": card["mean_return"], "success rate": card["success_rate"], "return of random commands": card["random_return"]}
    lines += ["| | value | interval | episodes |", "|---|---|---|---|"]
    for name, own in rows.items():
        if own is not None:
            lines.append(f"| {name} | {own['value']:.4g} | [{own['low']:.4g}, {own['high']:.4g}] ({own['level']:.0%}) | {own['n']} |")
    return [*lines, "", f"Trained by `{card['command']}`."]


def _of_watch(watch: Watch) -> list[str]:
    about = watch.about
    detector, env, set_by = about["detector"]["id"], about["environment"]["id"], about["threshold"]
    lines = [f"# {detector} for {env}", "", f"A monitor of the policy `{about['policy']['id']}` in `{env}`.", ""]
    lines.append(f"It was fitted on {about['train_episodes']} nominal episodes; its threshold was set by the rule `{set_by['rule']}`")
    share = set_by["false_alarms"]
    promise = "." if share is None else f", which expects an alarm in {share['value']:.2%} of nominal episodes."
    lines[-1] += f" on {set_by['episodes']} others{promise}"
    if set_by["alpha"] is not None:
        sure = set_by.get("confidence")
        how = "on average over calibration sets" if sure is None else f"with {sure:.0%} confidence in its calibration set"
        lines.append(f"It promises an alarm in at most {set_by['alpha']:.2%} of nominal episodes, {how}.")
    return lines
