"""A benchmark as it travels: everything from which its cells are laid out, here or on another machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from offnominal import _engine
from offnominal.policies import Policy

#: A policy that Python brings: one of the engine, or a callable with the digest by which finished work is found again.
Brought = Policy | tuple[Callable[[Any], Any], str]


@dataclass(frozen=True)
class Job:
    """A campaign, its folder, and the policies and detectors that are Python's own."""

    #: The campaign file.
    text: str
    #: Where cells and results are kept.
    folder: str
    #: Policies by their names in the campaign.
    policies: dict[str, Brought]
    #: Detectors by the keys in the campaign.
    detectors: dict[str, Any]

    @property
    def key(self) -> str:
        """What tells two jobs apart."""
        return _engine.digest(f"{self.folder}\n{self.text}\n{[self._digest(own) for own in self.policies.items()]}")

    @staticmethod
    def _digest(named: tuple[str, Brought]) -> tuple[str, str]:
        name, own = named
        return name, own.digest if isinstance(own, Policy) else own[1]

    def campaign(self) -> _engine.Campaign:
        """The campaign in this process, in which its detectors are known from now on."""
        for key, detector in self.detectors.items():
            _engine.give_detector(key, detector)
        policies = {name: own._engine if isinstance(own, Policy) else own for name, own in self.policies.items()}
        return _engine.Campaign(self.text, self.folder, policies)
