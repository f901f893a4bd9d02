"""Steps that an environment and a policy of the same process take together, without asking the engine in between."""

import struct
import time

from offnominal_host.environment import ANSWER, TERMINATED, TRUNCATED
from offnominal_host.spaces import is_finite

#: Number of the policy's connection, and how many steps.
ASKED = struct.Struct("<II")

#: How many steps were made, how many commands were given, and who raised.
MADE = struct.Struct("<IIB")

NOBODY, POLICY, ENVIRONMENT = 0, 1, 2

#: Seconds after which no further step begins: what was cheap may become dear, and an answer to many steps has the time of one.
LONGEST = 0.05


def played(guest, actor, row, steps):
    """The bytes of up to so many steps from the observation ``row``, and what was raised, if anything was.

    Each step is its command and what :meth:`Guest.step` says of it. A last command without a step is one that is not
    finite, or with which the environment raised.
    """
    parts, commands, made, who = [], 0, 0, NOBODY
    end, now, pack = time.monotonic() + LONGEST, time.monotonic, ANSWER.pack
    try:
        while made < steps and (made == 0 or now() < end):
            who = POLICY
            command = actor.command(row)
            parts.append(command.tobytes())
            commands, who = commands + 1, NOBODY
            if not is_finite(command):
                break
            who = ENVIRONMENT
            reward, margin, flags, row = guest.take(command)
            parts.append(pack(reward, margin, flags))
            parts.append(row.tobytes())
            made, who = made + 1, NOBODY
            if flags & (TERMINATED | TRUNCATED) or margin <= 0:
                break
    except BaseException as error:  # As in `serve`.
        return MADE.pack(made, commands, who) + b"".join(parts), error
    return MADE.pack(made, commands, NOBODY) + b"".join(parts), None
