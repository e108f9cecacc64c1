"""The first word of a sandbox that cannot be given its agent when it is made. It waits for a program at its standard input
(the length in four bytes, then the text) and becomes that program."""

import os, sys


def take(count):
    taken = b""
    while len(taken) < count:
        part = os.read(0, count - len(taken))
        if not part:
            os._exit(0)
        taken += part
    return taken


exec(compile(take(int.from_bytes(take(4), "big")), "<agent>", "exec"))
