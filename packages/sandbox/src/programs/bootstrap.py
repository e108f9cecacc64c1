"""The initial program of a sandbox that cannot receive its agent at creation. It reads a program from standard input (the length
in four bytes, then the text) and executes it in its own process."""

import os, sys


def read_exactly(count):
    content = b""
    while len(content) < count:
        part = os.read(0, count - len(content))
        if not part:
            os._exit(0)
        content += part
    return content


exec(compile(read_exactly(int.from_bytes(read_exactly(4), "big")), "<agent>", "exec"))
