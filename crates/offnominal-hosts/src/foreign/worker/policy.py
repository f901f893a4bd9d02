"""One policy of Python: a function of an observation, an object with ``predict``, or what makes one of them."""

import inspect
import threading

from offnominal_host import modules
from offnominal_host.environment import described_space
from offnominal_host.spaces import command_writer, observation_reader


class Actor:
    """A policy with the space of the environment in which it acts, if that is one of Gymnasium."""

    def __init__(self, wanted):
        self.path, options = modules.split(wanted["policy"])
        if (folder := options.pop("modules", None)) is not None:
            modules.look_in(str(folder))
        if options:
            raise ValueError(f"policy {self.path}: expected no option but modules, found {', '.join(options)}")
        self.observe, actions = lambda row: row, None
        if (environment := wanted.get("environment")) is not None:
            space, image, actions = described_space(environment)
            self.observe = observation_reader(space, image)
        self.width, self.write = wanted["commands"], command_writer(actions)
        made = made_of(modules.found(self.path))
        self.act, self.forget = acting(made, self.path), getattr(made, "reset", None)
        modules.remember()

    def describe(self):
        """What tells the policy from others."""
        return {"digest": modules.digest(self.path), "thread": threading.get_native_id()}

    def reset(self):
        """An episode begins."""
        if callable(self.forget):
            self.forget()

    def command(self, row):
        """The command for an observation, both as rows."""
        found = self.write(self.act(self.observe(row)))
        if len(found) != self.width:
            raise ValueError(f"expected an action of {self.width} numbers, found {len(found)}")
        return found


def made_of(thing):
    """A policy: what a class or a function without arguments makes, else the thing itself."""
    is_maker = inspect.isclass(thing) or (inspect.isfunction(thing) and not takes_an_argument(thing))
    return thing() if is_maker else thing


def takes_an_argument(function):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return any(parameter.kind in kinds for parameter in inspect.signature(function).parameters.values())


def acting(made, path):
    """A function of an observation."""
    predict = getattr(made, "predict", None)
    if callable(predict):
        return lambda obs: predict(obs, deterministic=True)[0]
    if callable(made):
        return made
    raise ValueError(f"policy {path}: expected a function, a class, or an object with predict, found {type(made).__name__}")
