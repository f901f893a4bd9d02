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
        """Sets a quantity now, and insists on finding it so."""
        self._put(name, value)
        found = self.get(name)
        if found is not None and not is_same(found, value):
            raise ValueError(
                f"parameter {name}: set to {value:.9g}, but the environment then has {found:.9g}: expected a number that it "
                "keeps as it is (an array of whole numbers holds no others)"
            )

    def keep(self, name, value):
        """Sets a quantity again if a reset has changed it, or if it cannot be read."""
        if not is_same(self.get(name), value):
            self.set(name, value)

    def get(self, name):
        """What the environment has now; nothing where its own parameters cannot be read."""
        if name in self.named:
            return self.named[name].get()
        return self.own[1](self.env.unwrapped, name)

    def _put(self, name, value):
        if name in self.named:
            self.named[name].set(value)
        else:
            self.own[0](self.env.unwrapped, name, value)


def is_same(found, value):
    """Whether a number is the one that was meant, up to the digits of a float32."""
    return found is not None and abs(found - value) <= 1e-6 * max(abs(found), abs(value))


def of_environment(env):
    """What sets and what reads the quantities that an environment has by itself, and which there are: its own, or those of
    MuJoCo, if our Python package is there too.
    """
    own = env.unwrapped
    if hasattr(own, "PARAMETERS") and hasattr(own, "set_parameter"):
        return (type(own).set_parameter, getattr(type(own), "get_parameter", unread)), own.PARAMETERS
    if not hasattr(getattr(own, "model", None), "body_mass"):
        return None, {}
    try:
        from offnominal._mujoco import Mujoco
    except ImportError:
        return None, {}
    mujoco = Mujoco(own)
    return (mujoco, mujoco.get), Mujoco.PARAMETERS


def unread(_env, _name):
    """Where an environment has no ``get_parameter``."""


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
        number = value * self.nominal if self.relative else self._number(value)
        if numpy.ndim(self.nominal) > 0:
            read(holder, last, self.attribute)[...] = number
        elif isinstance(last, int):
            holder[last] = number
        else:
            setattr(holder, last, number)
        derive(self.env.unwrapped)


    def get(self):
        """What is there now, in the unit in which it is set; no number where only a part of an array is as it was set."""
        import numpy

        found = read(self._holder(), self.path[-1], self.attribute)
        if not self.relative:
            return float(found)
        shares = numpy.ravel(numpy.asarray(found, float) / numpy.where(self.nominal == 0, 1.0, self.nominal))
        shares = shares[numpy.ravel(self.nominal != 0)]
        if len(shares) == 0:
            return None
        return float(shares[0]) if numpy.allclose(shares, shares[0], rtol=1e-6, atol=0) else float("nan")

    def _number(self, value):
        """A whole number stays one where there was one; any other is none, for a quantity that is written ``5`` may be 5.9."""
        import numpy

        is_whole = isinstance(self.nominal, (int, numpy.integer))
        if is_whole and float(value).is_integer():
            return type(self.nominal)(value)
        return float(value) if is_whole else type(self.nominal)(value)


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
