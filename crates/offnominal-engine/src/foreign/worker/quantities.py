"""Physical quantities of an environment: its own, those of MuJoCo, and those that a manifest of the user names."""

import re

PART = re.compile(r"\.?([A-Za-z_]\w*)|\[(-?\d+)\]")


class Quantities:
    """What can be set in one environment, with nominal, smallest and largest value."""

    def __init__(self, env, manifest):
        self.env = env
        self.own, ranges = of_environment(env)
        self.named = {name: Attribute(env, name, **wanted) for name, wanted in manifest.items()}
        self.ranges = {**ranges, **{name: attribute.range for name, attribute in self.named.items()}}

    def set(self, name, value):
        """Sets a quantity now."""
        if name in self.named:
            self.named[name].set(value)
        else:
            self.own(self.env.unwrapped, name, value)


def of_environment(env):
    """What sets the quantities that an environment has by itself, and which there are: its own, or those of MuJoCo, if our
    Python package is there too.
    """
    own = env.unwrapped
    if hasattr(own, "PARAMETERS") and hasattr(own, "set_parameter"):
        return type(own).set_parameter, own.PARAMETERS
    if not hasattr(getattr(own, "model", None), "body_mass"):
        return None, {}
    try:
        from offnominal._mujoco import Mujoco
    except ImportError:
        return None, {}
    return Mujoco(own), Mujoco.PARAMETERS


class Attribute:
    """A quantity at a path of attributes and indices; a relative one is a factor of what is there, also of an array."""

    def __init__(self, env, name, attribute, low, high, relative):
        self.env, self.name, self.attribute, self.relative = env, name, attribute, relative
        self.path = parsed(attribute)
        self.nominal = self._nominal()
        self.range = (1.0 if relative else float(self.nominal), low, high)
        if not low <= self.range[0] <= high:
            raise ValueError(f"parameter {name}: expected {attribute} from {low} to {high}, found {self.range[0]}")

    def _nominal(self):
        import numpy

        found = read(self._holder(), self.path[-1], self.attribute)
        is_number = numpy.issubdtype(numpy.asarray(found).dtype, numpy.number)
        if not is_number or (numpy.ndim(found) > 0 and not self.relative):
            expected = "numbers" if self.relative else "a number (an array needs an index, or `relative = true`)"
            raise ValueError(f"parameter {self.name}: expected {expected} at {self.attribute}, found {type(found).__name__}")
        return numpy.array(found) if numpy.ndim(found) > 0 else found

    def _holder(self):
        thing = self.env
        for part in self.path[:-1]:
            thing = read(thing, part, self.attribute)
        return thing

    def set(self, value):
        """Sets it now."""
        import numpy

        holder, last = self._holder(), self.path[-1]
        number = value * self.nominal if self.relative else type(self.nominal)(value)
        if numpy.ndim(self.nominal) > 0:
            read(holder, last, self.attribute)[...] = number
        elif isinstance(last, int):
            holder[last] = number
        else:
            setattr(holder, last, number)
        derive(self.env.unwrapped)


def parsed(attribute):
    """The names and indices of a path."""
    parts, at = [], 0
    while at < len(attribute):
        if not (found := PART.match(attribute, at)):
            raise ValueError(f"attribute: expected names with dots between and indices in brackets, found {attribute!r}")
        parts.append(found[1] if found[1] else int(found[2]))
        at = found.end()
    return parts


def read(thing, part, attribute):
    """One part of a path."""
    try:
        return thing[part] if isinstance(part, int) else getattr(thing, part)
    except (AttributeError, IndexError, KeyError, TypeError):
        raise ValueError(f"expected {attribute} in the environment, found no {part!r} in {type(thing).__name__}") from None


def derive(env):
    """Has MuJoCo compute again what it derives from a model."""
    model = getattr(env, "model", None)
    if hasattr(model, "body_mass"):
        import mujoco

        # The constants are those of the pose in which the model was made: of other data than the episode's.
        mujoco.mj_setConst(model, mujoco.MjData(model))
