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
        self.act = acting(made, self.path)
        own = self.act.forget if isinstance(self.act, Predicting) else None
        self.forgetting = [forget for forget in (getattr(made, "reset", None), own) if callable(forget)]
        modules.remember()

    def describe(self):
        """What tells the policy from others."""
        return {"digest": modules.digest(self.path), "thread": threading.get_native_id()}

    def reset(self):
        """An episode begins."""
        for forget in self.forgetting:
            forget()

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


def is_named(function, name):
    """Whether a function takes an argument of that name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # What is written in C may not say it.
        return False
    return name in parameters or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())


class Predicting:
    """A model with ``predict``; the state that it returns is its memory, which it gets back in the next step."""

    def __init__(self, predict, path):
        self.predict, self.path = predict, path
        self.takes_state, self.takes_start = (is_named(predict, name) for name in ("state", "episode_start"))
        self.forget()

    def forget(self):
        """An episode begins."""
        self.state, self.is_first = None, True

    def __call__(self, obs):
        found = self.predict(obs, deterministic=True, **self._remembered())
        self.is_first = False
        self.state = self._kept(found[1]) if isinstance(found, tuple) and len(found) > 1 else None
        return found[0]

    def _remembered(self):
        import numpy

        if self.state is None:
            return {}
        return {"state": self.state, **({"episode_start": numpy.array([self.is_first])} if self.takes_start else {})}

    def _kept(self, state):
        """The state, if there is any."""
        if state is None or isinstance(state, (dict, list, tuple)) and not state:
            return None
        if not self.takes_state:
            raise ValueError(
                f"policy {self.path}: expected predict to take the state that it returns, as predict(obs, state=None, "
                f"episode_start=None, deterministic=False) does, or to return None as its state, found {type(state).__name__}"
            )
        return state


def acting(made, path):
    """A function of an observation."""
    predict = getattr(made, "predict", None)
    if callable(predict):
        return Predicting(predict, path)
    if callable(made):
        return made
    raise ValueError(f"policy {path}: expected a function, a class, or an object with predict, found {type(made).__name__}")
