"""Results as tables of pandas, polars and Arrow; each library is asked for only where it is used."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from html import escape
from importlib import import_module
from typing import Any

#: Rows of a table that a notebook shows.
_SHOWN = 20


def needed(module: str, extra: str, name: str | None = None) -> Any:
    """A module that an extra of this package brings.

    :raises ImportError: if it is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f'expected {name or module}, which `pip install "offnominal[{extra}]"` brings') from None


class Tabular(ABC):
    """Has columns, and so is a table of pandas, polars or Arrow."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """The columns in order, each of the same length."""

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``."""
        return needed("pandas", "pandas").DataFrame(self.columns())

    def to_polars(self) -> Any:
        """A ``polars.DataFrame``."""
        return needed("polars", "polars").DataFrame(self.columns())

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``."""
        return needed("pyarrow", "arrow").table(self.columns())

    def _repr_html_(self) -> str:
        return html(self.columns())


class Result(dict[str, Any], Tabular):
    """What a command returns: a dict. As a table it is one row, in which ``{"return": {"value": …}}`` is ``return.value``."""

    def columns(self) -> dict[str, Any]:
        """One row."""
        return {name: [value] for name, value in flat(self).items()}


class Records(list[Result], Tabular):
    """Several results: a list. As a table each is a row."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        super().__init__(Result(own) for own in found)

    def columns(self) -> dict[str, Any]:
        """A row for each."""
        rows = [flat(own) for own in self]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}


def flat(own: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Dicts in dicts as names with points; lists of anything but numbers and texts as JSON."""
    found: dict[str, Any] = {}
    for name, value in own.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{before}{name}.")
        elif isinstance(value, list) and any(isinstance(each, (list, dict)) for each in value):
            found[before + name] = json.dumps(value)
        else:
            found[before + name] = value
    return found


def html(columns: Mapping[str, Any]) -> str:
    """The first rows as a table for a notebook."""
    rows = list(zip(*columns.values()))
    head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(_short(v))}</td>" for v in row) + "</tr>" for row in rows[:_SHOWN])
    more = f"<p>{len(rows) - _SHOWN} rows more</p>" if len(rows) > _SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def facts(title: str, about: Mapping[str, Any]) -> str:
    """A title and what is known, for a notebook."""
    rows = "".join(f"<tr><th>{escape(str(k))}</th><td>{escape(_short(v))}</td></tr>" for k, v in about.items())
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>"


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
