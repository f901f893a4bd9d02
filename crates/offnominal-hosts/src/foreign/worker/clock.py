"""How many seconds a step of an environment takes, and who of it and its wrappers says so."""

import contextlib
import inspect
import math

#: Wrappers of Gymnasium that take several steps in one, by what of them says how many.
SKIPS = {"MaxAndSkipObservation": "_skip", "AtariPreprocessing": "frame_skip"}

#: Whose `step` is one step of what it wraps: Gymnasium's own, but for those above, and what only notes results.
NEUTRAL = ("gymnasium.", "stable_baselines3.common.monitor")


def step_secs(env, inner):
    """Seconds and their place, from the outermost wrapper inwards; nothing where nobody says it, or it means fewer steps."""
    import gymnasium

    times = 1
    while isinstance(env, gymnasium.Wrapper):
        if found := said(env, of_wrapper):
            return counted(found, times)
        if (steps := steps_of(env)) is None:
            return None
        env, times = env.env, times * steps
    found = said(inner, getattr)
    return found and counted(found, times)


def counted(found, times):
    """So many steps that are one."""
    secs, place = found
    return [secs * times, place if times == 1 else f"{times} x {place}"]


def said(layer, read):
    """What an environment or a wrapper says itself."""
    for place, secs_of in (("dt", float), ("tau", float), ("render_fps", lambda fps: 1 / float(fps))):
        with contextlib.suppress(Exception):  # A property may raise whatever it likes.
            value = (read(layer, "metadata") or {})[place] if place == "render_fps" else read(layer, place)
            if not isinstance(value, (bool, str)) and 0 < (secs := secs_of(value)) < math.inf:
                return [secs, place]
    return None


def of_wrapper(wrapper, name):
    """What a wrapper itself has: what it only hands on is left to whom it wraps."""
    import gymnasium

    if name == "metadata":
        own = inspect.getattr_static(type(wrapper), name)
        return wrapper.metadata if own is not gymnasium.Wrapper.metadata or wrapper._metadata is not None else None
    inspect.getattr_static(wrapper, name)
    return getattr(wrapper, name)


def steps_of(wrapper):
    """How many steps of what it wraps are one of a wrapper; nothing where its own code decides that."""
    home = type(wrapper).step.__module__
    if home.startswith("gymnasium.wrappers"):
        for kind in type(wrapper).__mro__:
            if kind.__name__ in SKIPS and kind.__module__.startswith("gymnasium.wrappers"):
                return int(getattr(wrapper, SKIPS[kind.__name__]))
    return 1 if home.startswith(NEUTRAL) else None
