"""The functions of the commands are what the command line declares; ``UPDATE_EXPECT=1`` writes them anew."""

import builtins
import inspect
import json
import keyword
import os
import re
import textwrap
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from offnominal import _engine

FOLDER = Path(__file__).parents[2] / "python/offnominal"
DECLARED = json.loads(_engine.commands())
#: The commands that answer, by the module of their functions.
MODULES = {"commands": []} | {family: [] for family in DECLARED["families"]}
for command in DECLARED["commands"]:
    if command["reply"] != "nothing":
        MODULES[command["name"].split()[0] if " " in command["name"] else "commands"].append(command)

HEAD = '''"""{about}.

Each function is a command and returns what that prints with ``--json``: {answer}, with ``to_pandas()``, ``to_polars()`` and
``to_arrow()``. Arguments are those of the command line, which checks them, and what is left out has the command's default;
without an ``out`` that has none, nothing is written. The same ``seed`` gives the same bits for any ``jobs``.

Written from the declarations of the commands by ``python/tests/test_functions.py``.
"""

# ruff: noqa: D214, D405, D411, D413, D416, E501

from __future__ import annotations

'''

#: Types of arguments in Python.
KINDS = {
    "channels": "str | Sequence[str | int]",
    "detector": "AnyDetector",
    "environment": "AnyEnvironment",
    "flag": "bool",
    "number": "float",
    "number by name": "Mapping[str, float]",
    "object": "Mapping[str, Any]",
    "path": "Path",
    "policy": "AnyPolicy",
    "text": "str",
    "two numbers": "tuple[float, float]",
    "two whole numbers": "tuple[int, int]",
    "whole number": "int",
    "word": "str | int",
}
#: Where a type comes from.
SOURCES = {
    "collections.abc": ("Mapping", "Sequence"),
    "typing": ("Any", "Literal"),
    "offnominal._command": ("AnyDetector", "AnyPolicy", "Path", "either", "one", "several"),
    "offnominal._environments": ("AnyEnvironment",),
    "offnominal._tables": ("Records", "Result"),
}
#: What stands beside the commands of a module: where it comes from, and names.
BESIDE = {"rollouts": ("offnominal._landmark", ["LandmarkAuc", "landmark_auc"])}
REPLIES = {"object": ("one", "Result"), "list": ("several", "Records"), "either": ("either", "Result | Records")}
#: What is not part of a request: the parameter, and what it means.
COMMON = {
    "seed": ("seed: int = 0", "Seed of everything random"),
    "jobs": ("jobs: int = 0", "Worker threads; 0 for all cores"),
    "quiet": ("progress: bool = True", "Whether a bar shows how far it is, where tqdm is installed and somebody watches"),
}


def named(id):
    """An argument or a command as a name of Python: one that Python has for itself gets a low line behind it."""
    name = id.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) else name


def kind(argument):
    """The type of an argument."""
    words = ", ".join(json.dumps(word) for word, _ in argument["choices"])
    of_one = f"Literal[{words}]" if argument["kind"] == "choice" else KINDS[argument["kind"]]
    several = argument["many"] and argument["kind"] != "number by name"
    return f"{of_one} | Sequence[{of_one}]" if several else of_one


def parameter(argument):
    if argument["id"] in COMMON:
        return COMMON[argument["id"]][0]
    name, type_ = named(argument["id"]), kind(argument)
    if argument["required"]:
        return f"{name}: {type_}"
    is_switch = argument["kind"] == "flag" and argument["value"] is None
    return f"{name}: bool = False" if is_switch else f"{name}: {type_} | None = None"


def meaning(argument, names):
    """The help of an argument, with flags as the parameters that they are."""
    if argument["id"] in COMMON:
        return COMMON[argument["id"]][1]
    text = re.sub(r"--[a-z][a-z-]*", lambda flag: names.get(flag[0], flag[0]), argument["help"].replace("\n", " "))
    words = [f"``{word}``: {about}" for word, about in argument["choices"] if about]
    text += f" [default: {argument['default']}]" if argument["default"] is not None else ""
    return "; ".join([f"{text}: {words[0]}", *words[1:]]) if words else text


def function(command):
    own = command["arguments"]
    names = {argument["flag"]: f"``{named(argument['id'])}``" for argument in own}
    # What has a place on the command line has one here.
    is_placed = {argument["id"]: argument["required"] or argument["flag"] is None for argument in own}
    required = [parameter(argument) for argument in own if argument["required"]]
    placed = [parameter(argument) for argument in own if is_placed[argument["id"]] and not argument["required"]]
    optional = [parameter(argument) for argument in own if not is_placed[argument["id"]]]
    signature = [*required, *placed, *(["*"] if optional else []), *optional]
    ask, answer = REPLIES[command["reply"]]
    rows = []
    for argument in own:
        name = parameter(argument).split(":")[0]
        rows.append(wrapped(f"    :param {name}: {meaning(argument, names)}", "        "))
    about = [wrapped(f'    """{command["about"]}.', "    "), f"    The command ``offnominal {command['name']}``."]
    return "\n".join(
        [
            call(f"def {named(command['name'].split()[-1])}(", signature, f") -> {answer}:"),
            "\n\n".join([*about, "\n".join(rows)]),
            '    """',
            f'    return {ask}("{command["name"]}", locals())',
            "",
        ]
    )


def wrapped(text, indent):
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def call(before, arguments, after):
    """On one line, or on one for each argument where that is too long."""
    line = f"{before}{', '.join(arguments)}{after}"
    return line if len(line) <= 120 else f"{before}\n" + "".join(f"    {own},\n" for own in arguments) + after


def source(module):
    commands = MODULES[module]
    functions = "\n\n".join(function(command) for command in commands)
    about = DECLARED["families"].get(module, "The commands of one word as functions")
    is_dict = all(command["reply"] == "object" for command in commands)
    text = HEAD.format(about=about, answer="a dict" if is_dict else "a dict or a list of dicts")
    code = re.sub(r'"""(.|\n)*?"""', "", functions)
    beside, others = BESIDE.get(module, ("", []))
    origins = [*SOURCES.items(), (beside, others)]
    for origin, names in sorted(origins, key=lambda one: (one[0].startswith("offnominal"), one[0])):
        used = [name for name in names if name in others or re.search(rf"\b{name}\b", code)]
        text += f"from {origin} import {', '.join(used)}\n" if used else ""
        text += "\n" if origin == "typing" else ""
    own = [named(command["name"].split()[-1]) for command in commands]
    exported = "".join(f'    "{name}",\n' for name in sorted([*own, *others]))
    return f"{text}\n__all__ = [\n{exported}]\n\n\n{functions}"


@pytest.mark.parametrize("module", MODULES)
def test_the_functions_are_what_the_command_line_declares(module):
    path = FOLDER / f"{module}.py"
    if "UPDATE_EXPECT" in os.environ:
        path.write_text(source(module), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == source(module), f"{path} is old; run the tests with UPDATE_EXPECT=1"


def loaded(module):
    """The module as it is in the repository, which a test may have just written."""
    spec = spec_from_file_location(f"offnominal.{module}", FOLDER / f"{module}.py")
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def taken(name):
    """The arguments that the engine itself names where it refuses one."""
    with pytest.raises(ValueError, match="expected one of the arguments") as refused:
        _engine.call(name, json.dumps({"no such argument": 1}))
    return re.search(r"the arguments (.*), found another", str(refused.value))[1].split(", ")


def differences(function, ids):
    """What a function lacks of these arguments, and what it has beside them."""
    expected = {parameter({"id": id}).split(":")[0] if id in COMMON else named(id) for id in ids}
    found = set(inspect.signature(function).parameters)
    return expected - found, found - expected


@pytest.mark.parametrize("module", MODULES)
def test_every_argument_is_a_parameter_and_none_is_invented(module):
    for command in MODULES[module]:
        made = getattr(loaded(module), named(command["name"].split()[-1]))
        lacking, invented = differences(made, taken(command["name"]))
        assert not invented, command["name"]
        # What a terminal shows in place of one JSON value is no part of a request.
        for name in lacking:
            with pytest.raises(ValueError, match=f"{name.removesuffix('_')}: expected it on a command line only"):
                _engine.call(command["name"], json.dumps({name.removesuffix("_"): True}))
        assert all(argument["help"] for argument in command["arguments"]), command["name"]


def test_a_parameter_too_few_or_too_many_is_found():
    def budget(p, delta, confidnce): ...

    assert differences(budget, ["p", "delta", "confidence"]) == ({"confidence"}, {"confidnce"})
    with pytest.raises(ValueError, match="monitor: expected a command that answers"):
        _engine.call("monitor", "{}")


def test_names_that_python_has_for_itself_get_a_low_line():
    commands = loaded("commands")
    assert [named(id) for id in ("all", "from", "ur-sim", "seed")] == ["all_", "from_", "ur_sim", "seed"]
    assert commands.list_("policies").columns()["id"]
    assert "set_" in inspect.signature(commands.train).parameters
