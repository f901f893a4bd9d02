"""Environments that are no `gymnasium.Env`, as one: several agents of PettingZoo, and one environment of a vector."""

import gymnasium
import numpy


def as_one(thing):
    """A `gymnasium.Env` of what a function made, if it can be one."""
    if isinstance(thing, gymnasium.Env):
        return thing
    if isinstance(thing, gymnasium.vector.VectorEnv):
        return OneOfVector(thing)
    if hasattr(thing, "possible_agents") and not hasattr(thing, "agent_iter"):
        return Joint(thing)
    expected = "a gymnasium.Env, a gymnasium.vector.VectorEnv with one environment or a parallel environment of PettingZoo"
    raise ValueError(f"expected a function that makes {expected}, found one that makes {type(thing).__name__}")


class OneOfVector(gymnasium.Env):
    """The only environment of a vector, for simulators that come as vectors alone."""

    def __init__(self, vector):
        if vector.num_envs != 1:
            raise ValueError(f"expected a vector with one environment (num_envs=1), found {vector.num_envs}")
        self.inner, self.vector, self.spec, self.metadata = vector, vector, vector.spec, vector.metadata or {}
        self.begins_at_once = getattr(self.metadata.get("autoreset_mode"), "name", "") == "SAME_STEP"
        self.observation_space, self.action_space = vector.single_observation_space, vector.single_action_space

    def reset(self, *, seed=None, options=None):
        """Begins an episode."""
        obs, info = self.vector.reset(seed=seed, options=options)
        return first(obs), first(info)

    def step(self, action):
        """Takes a step; a vector may begin the next episode in the step after the last one, which is not taken."""
        actions = numpy.asarray(action, self.action_space.dtype)[None]
        obs, reward, terminated, truncated, info = self.vector.step(actions)
        if terminated[0] or truncated[0]:
            obs, info = self._last(obs, info)
        return first(obs), float(reward[0]), bool(terminated[0]), bool(truncated[0]), first(info)

    def _last(self, obs, info):
        """What the last step brought, where the vector has begun the next episode in it, whose observation it returns."""
        # As Gymnasium calls it, and called it before.
        seen = next((key for key in ("final_obs", "final_observation") if key in info), None)
        if seen and "final_info" in info:
            return info[seen], info["final_info"]
        if self.begins_at_once:
            raise ValueError(
                "vector with AutoresetMode.SAME_STEP: expected info['final_obs'] and info['final_info'] in the last step of an "
                f"episode, found {', '.join(map(str, info)) or 'nothing'}; without them that step shows the next episode"
            )
        return obs, info

    def close(self):
        """Ends the vector."""
        self.vector.close()


def first(batched):
    """The first element of what is batched: an array, or a dictionary or tuple of such."""
    if isinstance(batched, dict):
        return {key: first(value) for key, value in batched.items()}
    if isinstance(batched, tuple):
        return tuple(first(value) for value in batched)
    return batched[0] if hasattr(batched, "__getitem__") and len(batched) == 1 else batched


class Joint(gymnasium.Env):
    """All agents of a parallel environment as one: observations by agent, commands in the order of the agents.

    An agent that is gone observes zeros and rewards nothing; the episode is over when no agent is left.
    """

    def __init__(self, parallel):
        self.inner, self.parallel, self.agents = parallel.unwrapped, parallel, list(parallel.possible_agents)
        self.metadata = getattr(parallel, "metadata", {})
        self.observation_space = gymnasium.spaces.Dict({a: parallel.observation_space(a) for a in self.agents})
        self.parts = [parallel.action_space(agent) for agent in self.agents]
        self.action_space, self.split = joined(self.parts, self.agents)

    def reset(self, *, seed=None, options=None):
        """Begins an episode of all agents."""
        found, infos = self.parallel.reset(seed=seed, options=options)
        return self._filled(found), infos

    def step(self, action):
        """One step of all agents that are left."""
        left = set(self.parallel.agents)
        commands = {agent: own for agent, own in zip(self.agents, self.split(action)) if agent in left}
        found, rewards, terminations, truncations, infos = self.parallel.step(commands)
        over = not self.parallel.agents
        truncated = over and any(truncations.values())
        return self._filled(found), float(sum(rewards.values())), over and not truncated, truncated, infos

    def _filled(self, found):
        """Observations of all agents."""
        spaces = self.observation_space
        return {agent: found[agent] if agent in found else nothing(spaces[agent]) for agent in self.agents}

    def close(self):
        """Ends the environment."""
        self.parallel.close()


def nothing(space):
    """Zeros of a space, or its first choice."""
    return space.start if isinstance(space, gymnasium.spaces.Discrete) else numpy.zeros(space.shape, space.dtype)


def joined(parts, agents):
    """One space of the commands of all agents, and what divides a command among them."""
    if all(isinstance(part, gymnasium.spaces.Discrete) for part in parts):
        starts = [int(part.start) for part in parts]
        space = gymnasium.spaces.MultiDiscrete([int(part.n) for part in parts])
        return space, lambda action: [int(choice) + start for choice, start in zip(action, starts)]
    if all(isinstance(part, gymnasium.spaces.Box) for part in parts):
        low, high = (numpy.concatenate([getattr(part, end).ravel() for part in parts]) for end in ("low", "high"))
        ends = numpy.cumsum([part.low.size for part in parts])[:-1]

        def divided(action):
            rows = zip(numpy.split(numpy.asarray(action), ends), parts)
            return [row.reshape(part.shape).astype(part.dtype) for row, part in rows]

        return gymnasium.spaces.Box(low, high, dtype=numpy.float32), divided
    kinds = ", ".join(f"{agent}: {type(part).__name__}" for agent, part in zip(agents, parts))
    raise ValueError(f"action: expected agents that all have Discrete or all have Box, found {kinds}")
