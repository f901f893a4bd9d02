"""Modules of the user: where they are looked for, what is in them, and whether a file of them has changed since."""

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import sys
import sysconfig
from urllib.parse import parse_qsl

#: Modules that are no user's: of this program, whose version results have, and what began the process.
OURS = ("offnominal_host", "offnominal", "__main__", "__mp_main__")

#: Where what is installed lies.
INSTALLED = tuple(sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
PACKAGES = ("site-packages", "dist-packages")

#: Functions that import the module whose name they are given.
CALLS = ("import_module", "__import__")

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
    """Of the file of a module, of the user's modules that it imports, and of the name in it."""
    module = path.partition(":")[0]
    content = contents(getattr(sys.modules[module], "__file__", None))
    imported = {name: found for name, found in digests(with_imports([module])).items() if name != shown(module)}
    beside = json.dumps(imported, sort_keys=True) if imported else ""
    return hashlib.sha256(content + path.encode() + beside.encode()).hexdigest()


def of_environment():
    """Digests of the user's modules that are there when an environment was made, and of those that they import later.

    An environment is the first thing that is made in its process, so that nothing of a policy is among them.
    """
    own = [name for name in list(sys.modules) if file_of(name)]
    return digests(with_imports(own))


def digests(names):
    """The first digits of the digest of each module's file, by the file's name."""
    return {shown(name): hashlib.sha256(contents(file_of(name))).hexdigest()[:12] for name in sorted(names)}


def shown(name):
    """A module by the name of its file."""
    ending = os.path.splitext(file_of(name) or ".py")[1]
    return name.replace(".", "/") + ending


def contents(file):
    """The bytes of a file; none where it is none."""
    if file and os.path.isfile(file):
        with open(file, "rb") as opened:
            return opened.read()
    return b""


def file_of(name):
    """The file of a module that is the user's own: neither installed nor ours; it need not be imported yet."""
    top = name.partition(".")[0]
    # To find what is inside of a package runs that package: only the user's own ones.
    if top in OURS or top != name and is_installed(place_of(top) or ""):
        return None
    file = place_of(name)
    is_own = file is not None and not is_installed(file) and os.path.isfile(file)
    return file if is_own else None


def place_of(name):
    """The file of a module, imported or not."""
    found = sys.modules.get(name)
    if found is None:
        with contextlib.suppress(Exception):
            found = importlib.util.find_spec(name)
    file = getattr(found, "__file__", None) or getattr(found, "origin", None)
    return file if isinstance(file, str) else None


def is_installed(file):
    """Whether a file belongs to Python or to a package that was installed."""
    is_inside = file in ("built-in", "frozen") or file.startswith(INSTALLED)
    return is_inside or any(part in PACKAGES for part in file.split(os.sep))


def with_imports(names):
    """The user's own modules among these, and those that they import, wherever in their files."""
    open_, found = list(names), set()
    while open_:
        name = open_.pop()
        if name not in found and file_of(name):
            found.add(name)
            open_.extend(imports(name))
    return found


def imports(name):
    """The modules that a file may import, and the packages around it."""
    file, package = file_of(name), name if is_package(name) else name.rpartition(".")[0]
    parents = [name.rpartition(".")[0]]
    if not file.endswith(".py"):
        return parents
    try:
        tree = ast.parse(contents(file))
    except SyntaxError:
        return parents
    return parents + [one for node in ast.walk(tree) for one in named(node, package) if one]


def named(node, package):
    """The modules that one statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        return [base, *(f"{base}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in CALLS:
        return [word.value for word in node.args[:1] if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    return []


def is_package(name):
    return os.path.basename(file_of(name) or "").startswith("__init__.")


def times():
    """When the files of the user's modules were changed."""
    stamps = {}
    for name in list(sys.modules):
        if file := file_of(name):
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
