"""Whether a seed repeats its episode: the same commands after the same reset, again and in a fresh environment."""

import copy
import time

from offnominal_host.environment import numbers_of

#: The seed of the episodes that are compared.
SEED = 1_000_003

#: Steps that are compared at most, and seconds that an episode takes at most.
STEPS, SECS = 20, 1.0


def checked(guest, fresh):
    """What differs; ``fresh`` makes another environment like that of the guest."""
    keys, secs = set(), 0.0
    first = episode(guest, keys)
    offered = sorted(keys)
    found = difference(first, episode(guest), guest)
    if not found:
        return {"verdict": "always", "found": "", "secs": secs, "offered": offered}
    began = time.perf_counter()
    other = fresh()
    secs = time.perf_counter() - began
    try:
        repeats = not difference(first, episode(other), guest)
    finally:
        other.env.close()
    verdict = "fresh" if repeats and not guest.fresh else "never"
    return {"verdict": verdict, "found": found, "secs": secs, "offered": offered}


def episode(guest, keys=None):
    """The beginning of an episode under commands that are always the same; ``keys`` gets those of what ``info`` offers."""
    began, space = time.perf_counter(), copy.deepcopy(guest.env.action_space)
    space.seed(SEED)
    obs, info = guest.begin(SEED)
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
