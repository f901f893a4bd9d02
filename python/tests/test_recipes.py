"""The classes of the detectors are what the catalogue says; ``UPDATE_EXPECT=1`` writes them anew."""

import inspect
import json
import os
from pathlib import Path

import pytest

from offnominal import _engine, detectors

ROOT = Path(__file__).parents[2]
PATH = ROOT / "python/offnominal/_recipes.py"

HEAD = '''"""The detectors of the engine with their options, written from the catalogue by `python/tests/test_recipes.py`."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypedDict

from offnominal._detector import Detector

#: A detector inside another one: an id, a dict with ``id`` and options, or an object.
Inner = str | Mapping[str, Any] | Detector
'''

#: Types of Rust that the default alone does not tell.
KINDS = {"Inner": "Inner", "Several": "Sequence[Inner]", "Groups": "Sequence[Inner | Sequence[Inner]]"}


def kind(field, tables):
    """The type of an option in Python."""
    if field["choices"]:
        words = f"Literal[{', '.join(json.dumps(word) for word in field['choices'])}]"
        return words if field["default"] is not None else f"{words} | None"
    if field["kind"] in KINDS:
        return KINDS[field["kind"]]
    if field["kind"] in tables:
        return f"{field['kind']} | None"
    if field["default"] is None:
        return "int | None"
    if isinstance(field["default"], list):
        return "Sequence[int]"
    return type(field["default"]).__name__


def default(field, tables):
    if field["kind"] in tables:
        return "None"
    value = field["default"]
    return repr(tuple(value)) if isinstance(value, list) and field["kind"] not in KINDS else written(value)


def written(value):
    """A value as source, with the quotes of the formatter."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(written(v) for v in value) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def call(before, arguments, after):
    """On one line, or on one for each argument where that is too long."""
    line = f"{before}{', '.join(arguments)}{after}"
    if len(line) <= 120:
        return line
    indent = " " * (len(before) - len(before.lstrip()))
    rows = "".join(f"{indent}    {argument},\n" for argument in arguments)
    return f"{before}\n{rows}{indent}{after}"


def table(name, fields):
    rows = "".join(f"    #: {field['about']}\n    {field['name']}: {kind(field, ())}\n" for field in fields)
    return f'class {name}(TypedDict, total=False):\n    """How networks are trained; what is left out has its default."""\n\n{rows}'


def recipe(own, tables):
    fields, summary = own["fields"], own["summary"]
    options = "".join(f"    :param {field['name']}: {field['about']}\n" for field in fields)
    about = f"    The detector ``{own['id']}``; ``docs/reference/detectors.md`` has its equation.\n"
    signature = ["*"] + [f"{f['name']}: {kind(f, tables)} = {default(f, tables)}" for f in fields]
    defaults = {field["name"]: field["default"] for field in fields}
    lines = [
        f"class {detectors.class_name(own['id'])}(Detector):",
        f'    """{summary[:1].upper()}{summary[1:]}.\n\n{about}' + (f"\n{options}" if fields else "") + '    """\n',
        f"    id: ClassVar[str] = {json.dumps(own['id'])}",
        call("    _defaults: ClassVar[dict[str, Any]] = {", [f"{json.dumps(k)}: {written(v)}" for k, v in defaults.items()], "}"),
    ]
    if fields:
        given = [f"{field['name']}={field['name']}" for field in fields]
        lines += [
            "",
            call("    def __init__(", ["self", *signature], ") -> None:"),
            call("        super().__init__(", given, ")"),
        ]
    else:
        lines += ["", "    def __init__(self) -> None:", "        super().__init__()"]
    return "\n".join(lines) + "\n"


def source():
    found = json.loads(_engine.recipes())
    tables, all_of_them = found["tables"], found["detectors"]
    parts = [HEAD.rstrip() + "\n"]
    parts += [table(name, fields) for name, fields in tables.items()]
    parts += [recipe(own, tables) for own in all_of_them]
    names = [detectors.class_name(own["id"]) for own in all_of_them]
    by_id = "".join(f"    {json.dumps(own['id'])}: {name},\n" for own, name in zip(all_of_them, names))
    exported = "".join(f"    {json.dumps(name)},\n" for name in sorted([*names, *tables]))
    ids = f"#: Every detector of the engine by its id.\nBY_ID: dict[str, type[Detector]] = {{\n{by_id}}}\n"
    parts.append(f"{ids}\n__all__ = [\n{exported}]\n")
    return "\n\n".join(parts)


def test_the_classes_are_what_the_catalogue_says():
    if "UPDATE_EXPECT" in os.environ:
        PATH.write_text(source(), encoding="utf-8")
    assert PATH.read_text(encoding="utf-8") == source(), f"{PATH} is out of date; run the tests with UPDATE_EXPECT=1"


@pytest.mark.parametrize("id", detectors.ALL)
def test_options_and_their_meaning_are_shown(id):
    made = detectors.ALL[id]
    fields = {own["id"]: own["fields"] for own in json.loads(_engine.recipes())["detectors"]}[id]
    assert list(inspect.signature(made).parameters) == [field["name"] for field in fields]
    for field in fields:
        assert field["about"] and f":param {field['name']}: {field['about']}" in made.__doc__
    assert made().options == {} and made().recipe() == {"id": id}


def test_only_what_is_not_the_default_is_said():
    assert repr(detectors.Knn(k=1)) == "Knn()" and repr(detectors.Knn(k=3)) == "Knn(k=3)"
    inner = detectors.Cusum(inner=detectors.Knn(k=2), allowance=1.0)
    assert inner.recipe() == {"id": "cusum", "inner": {"id": "knn", "k": 2}, "allowance": 1.0}
    with pytest.raises(TypeError, match="kk"):
        detectors.Knn(kk=3)
    with pytest.raises(ValueError, match="sampled-min"):
        detectors.PeDm(score="best")
