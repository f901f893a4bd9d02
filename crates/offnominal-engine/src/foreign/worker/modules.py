"""Modules of the user: where they are looked for, what is in them, and whether a file of them has changed since."""

import contextlib
import hashlib
import importlib
import json
import os
import sys
from urllib.parse import parse_qsl

#: Times of the files of the user's modules, as they were when something was last made of them.
SEEN = {}


def value(text):
    """An option: JSON where it is, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def split(wanted):
    """A name and its options, such as those of ``name?option=value&other=value``."""
    name, _, query = wanted.partition("?")
    return name, {key: value(text) for key, text in parse_qsl(query)}


def look_in(folder):
    """Modules of a folder are found from now on, after all that are installed."""
    if not os.path.isdir(folder):
        raise ValueError(f"modules: expected a folder, found {folder!r}")
    if (folder := os.path.abspath(folder)) not in sys.path:
        sys.path.append(folder)


def missing(error, module):
    """What to do where the user's module is not found; the error itself, if it is about another one."""
    # Gymnasium wraps what the import raised.
    cause = error.__cause__ or error
    if not module or getattr(cause, "name", None) != module.partition(".")[0]:
        return error
    return ModuleNotFoundError(f"{cause}: expected an installed module, or its folder as ?modules=FOLDER")


def found(path):
    """What stands at ``module:name``."""
    module, _, name = path.partition(":")
    try:
        thing = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise missing(error, module) from None
    for part in name.split("."):
        if not hasattr(thing, part):
            raise AttributeError(f"module {module}: expected {name}, found no {part}")
        thing = getattr(thing, part)
    return thing


def digest(path):
    """Of the file of a module, and the name in it."""
    file = getattr(sys.modules[path.partition(":")[0]], "__file__", None)
    content = b""
    if file and os.path.isfile(file):
        with open(file, "rb") as opened:
            content = opened.read()
    return hashlib.sha256(content + path.encode()).hexdigest()


def times():
    """When the files of all modules were changed that are not installed."""
    installed = (sys.prefix, sys.base_prefix)
    stamps = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and not file.startswith(installed):
            with contextlib.suppress(OSError):
                stamps[file] = os.stat(file).st_mtime_ns
    return stamps


def remember():
    """Something was made of the modules as they are now."""
    for file, time in times().items():
        SEEN.setdefault(file, time)


def have_changed():
    """Whether a file is another one than when it was imported."""
    now = times()
    return any(now.get(file) != time for file, time in SEEN.items())
