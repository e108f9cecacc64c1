"""The agent's side of the pipe to the toolhost. The first part of the program that is the first process of a sandbox.

Each message is its length in four bytes, a byte that says what it is, and what it holds. The program does without `json`
and `signal`, in favour of what they stand on: to import them takes longer than to start the interpreter.
"""

import _json
import _signal as signal
import errno
import os
import select
import sys

CALL, INPUT, INPUT_END, STOP, PROGRAMS = b"C", b"I", b"E", b"K", b"P"
READY, BEGAN, TAKEN, END, SETTLED, ALIVE = b"R", b"B", b"T", b"X", b"S", b"A"
CHUNK = 1 << 16
# How much may wait to be written to the toolhost before what a call writes is left in its pipes.
MOST_WAITING = 1 << 19
# Ends of the pipe lie above what calls use.
CONTROL = 100
COMPLAINTS = CONTROL + 2


class Host:
    def __init__(self):
        self.input, self.output = CONTROL, CONTROL + 1
        for fd, to in ((0, self.input), (1, self.output), (2, COMPLAINTS)):
            os.dup2(fd, to, inheritable=False)
            os.set_blocking(to, False)
        nothing = os.open(os.devnull, os.O_RDWR)
        # No pipe of a call gets a number that a call needs.
        for fd in range(5):
            if fd != nothing:
                os.dup2(nothing, fd, inheritable=fd < 3)
        self.arrived = bytearray()
        self.waiting = bytearray()

    def say(self, kind, content=b""):
        self.waiting += len(content).to_bytes(4, "big") + kind + content
        self.push()

    def tell(self, kind, **numbers):
        """Numbers and truths by their names, as JSON."""
        self.say(kind, ("{" + ", ".join(f'"{name}": {str(each).lower()}' for name, each in numbers.items()) + "}").encode())

    def push(self):
        """Writes as much as the toolhost takes now."""
        try:
            while self.waiting:
                with memoryview(self.waiting)[: 4 * CHUNK] as part:
                    written = os.write(self.output, part)
                del self.waiting[:written]
        except BlockingIOError:
            pass
        except OSError:
            leave()

    def pull(self):
        """Reads what the toolhost has said. Without a toolhost there is nothing to live for."""
        try:
            chunk = os.read(self.input, 4 * CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            leave()
        self.arrived += chunk

    def messages(self):
        while len(self.arrived) >= 5:
            length = int.from_bytes(self.arrived[:4], "big")
            if len(self.arrived) < 5 + length:
                return
            kind, content = bytes(self.arrived[4:5]), bytes(self.arrived[5 : 5 + length])
            del self.arrived[: 5 + length]
            yield kind, content


class Plain:
    """How values of JSON are read."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, float


def parsed(content):
    return _json.make_scanner(Plain)(content.decode("utf-8", "surrogatepass"), 0)[0]


def leave():
    end_all()
    os._exit(0)


def speak_of_myself(yes):
    """Whether others with our id may look into this process and its descriptors."""
    import _ctypes

    prctl = _ctypes.dlsym(_ctypes.dlopen(None, 2), "prctl")
    PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
    if _ctypes.call_function(prctl, (PR_SET_DUMPABLE, int(yes), 0, 0, 0)) != 0:
        raise OSError("the process cannot be hidden")
    if not yes:
        _ctypes.call_function(prctl, (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
