"""How an environment is made: by an id of Gymnasium, by a function of a module, or as the calling program has it.

What the calling program has comes from that program itself, as in Python's own `multiprocessing`: no pickle of anybody else
is read.
"""

import base64
import contextlib
import importlib
import pickle
import sys

from offnominal_host import modules

#: Modules that register the environments of a namespace, where they are not called like it.
HOMES = {"ALE": "ale_py"}


def made(name, options, given):
    """The environment and the steps of its episodes, if it says so, or what to do where its module is not found."""
    if given is not None:
        return of_caller(given, options)
    try:
        maker = maker_of(name)
        return of_maker(maker, options) if maker is not None else of_id(name, options)
    except ModuleNotFoundError as error:
        raise modules.missing(error, name.rpartition(":")[0]) from error.__cause__


def of_id(name, options):
    """An environment without a limit of its own, for the engine keeps the time."""
    import gymnasium

    namespace = name.rpartition("/")[0]
    if ":" not in name and namespace and not any(known.startswith(namespace + "/") for known in gymnasium.registry):
        with contextlib.suppress(ImportError):  # Gymnasium's own complaint names the namespace.
            importlib.import_module(HOMES.get(namespace, namespace))
    env = gymnasium.make(name, max_episode_steps=-1, disable_env_checker=True, **options)
    return env, gymnasium.spec(name.rpartition(":")[2]).max_episode_steps


def maker_of(name):
    """The class or function at `module:name`; nothing where that is the id of an environment that the module registers."""
    module, _, thing = name.rpartition(":")
    if not module or not all(part.isidentifier() for part in thing.split(".")):
        return None
    found = modules.found(name)
    if not callable(found):
        raise ValueError(f"{name}: expected a class or a function that makes an environment, found {type(found).__name__}")
    return found


def of_maker(maker, options):
    """What a class or a function makes."""
    from offnominal_host.joint import as_one

    env = as_one(maker(**options))
    return env, env.spec.max_episode_steps if env.spec is not None else None


def of_caller(given, options):
    """What the calling program has: a specification of Gymnasium with its wrappers, or a function."""
    import gymnasium

    sys.path.extend(folder for folder in given["path"] if folder not in sys.path)
    if "pickle" in given:
        return of_maker(pickle.loads(base64.b64decode(given["pickle"])), options)
    spec = gymnasium.envs.registration.EnvSpec.from_json(given["spec"])
    spec.disable_env_checker = True
    return gymnasium.make(spec, **options), spec.max_episode_steps
