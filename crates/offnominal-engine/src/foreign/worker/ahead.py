"""Steps that an environment and a policy of the same process take together, without asking the engine in between."""

import struct
import time

from offnominal_host.environment import ANSWER, TERMINATED, TRUNCATED

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
    import numpy

    parts, commands, made, who = [], 0, 0, NOBODY
    end = time.monotonic() + LONGEST
    try:
        while made < steps and (made == 0 or time.monotonic() < end):
            who = POLICY
            parts.append(actor.command(row))
            command, commands = numpy.frombuffer(parts[-1], "<f4"), commands + 1
            if not numpy.isfinite(command).all():
                who = NOBODY
                break
            who = ENVIRONMENT
            answer = guest.step(command)
            parts.append(answer)
            made, who = made + 1, NOBODY
            if answer[ANSWER.size - 1] & (TERMINATED | TRUNCATED):
                break
            row = numpy.frombuffer(answer, "<f4", offset=ANSWER.size)
    except BaseException as error:  # As in `serve`.
        return MADE.pack(made, commands, who) + b"".join(parts), error
    return MADE.pack(made, commands, NOBODY) + b"".join(parts), None
