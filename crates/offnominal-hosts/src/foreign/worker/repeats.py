"""Whether a seed repeats its episode: the same commands after the same reset, again and in a fresh environment."""

import copy
import time

from offnominal_host.environment import numbers_of

#: The seed of the episodes that must be the same, and that of one which should be another.
SEED, OTHER = 1_000_003, 1_000_005

#: Steps that are compared at most, and seconds that an episode takes at most.
STEPS, SECS = 20, 1.0


def checked(guest, fresh):
    """What differs; ``fresh`` makes another environment like that of the guest."""
    keys, secs = set(), 0.0
    first = episode(guest, keys)
    said = {"found": difference(first, episode(guest), guest), "offered": sorted(keys)}
    if not said["found"]:
        return {"verdict": "always", "secs": secs, "alike": alike(first, guest), **said}
    began = time.perf_counter()
    repeats = in_another(fresh, lambda other: not difference(first, episode(other), guest))
    secs = time.perf_counter() - began
    if guest.fresh or not repeats:
        return {"verdict": "never", "secs": secs, "alike": "no", **said}
    return {"verdict": "fresh", "secs": secs, "alike": in_another(fresh, lambda other: alike(first, other)), **said}


def in_another(fresh, ask):
    """What is found in an environment that is made for it."""
    other = fresh()
    try:
        return ask(other)
    finally:
        other.env.close()


def alike(first, guest):
    """Whether another seed begins the same episode, and whether it may differ later: what it draws decides something rare then."""
    if difference(first, episode(guest, seed=OTHER), guest):
        return "no"
    return "so-far" if has_drawn(guest, OTHER) else "yes"


def has_drawn(guest, seed):
    """Whether the environment's own generator was seeded with this seed and has been drawn from."""
    from gymnasium.utils.seeding import np_random

    generator = getattr(guest.env.unwrapped, "_np_random", None)
    if generator is None or getattr(guest.env.unwrapped, "_np_random_seed", None) != seed:
        return False
    return generator.bit_generator.state != np_random(seed)[0].bit_generator.state


def episode(guest, keys=None, seed=SEED):
    """The beginning of an episode under commands that are always the same; ``keys`` gets those of what ``info`` offers."""
    began, space = time.perf_counter(), copy.deepcopy(guest.env.action_space)
    space.seed(SEED)
    obs, info = guest.begin(seed)
    rows = [(obs, 0.0, False)]
    while len(rows) <= STEPS and not rows[-1][2] and time.perf_counter() - began < SECS:
        if keys is not None:
            keys.update(numbers_of(info))
        obs, reward, terminated, truncated, info = guest.env.step(space.sample())
        rows.append((obs, float(reward), bool(terminated or truncated)))
    if keys is not None:
        keys.update(numbers_of(info))
    return [(guest.numbers(obs).copy(), reward, over) for obs, reward, over in rows]


def difference(one, other, guest):
    """The first difference in words; nothing where the shorter one begins the longer one."""
    for step, ((obs, reward, over), (obs_again, reward_again, over_again)) in enumerate(zip(one, other)):
        place = f"in step {step - 1}" if step else "after the reset"
        differ = (obs != obs_again) & ~((obs != obs) & (obs_again != obs_again))
        if differ.any():
            i = int(differ.argmax())
            return f"{guest.channel(i)} {place}: {obs[i]:g} and then {obs_again[i]:g}"
        if reward != reward_again and not (reward != reward and reward_again != reward_again):
            return f"reward {place}: {reward:g} and then {reward_again:g}"
        if over != over_again:
            return f"end {place}: {over} and then {over_again}"
    return ""
