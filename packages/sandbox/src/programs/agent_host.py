"""The agent's side of the pipe to the toolhost. The first part of the agent, the first process of a sandbox.

Each message consists of its length in four bytes, one byte for its kind, and its content. The agent uses the C modules below
`json` and `signal`, because importing these two takes longer than starting the interpreter.
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
# Bytes that may wait to be written to the toolhost. Above this limit, the output of a call stays in its pipes.
MAX_PENDING = 1 << 19
# First descriptor of the pipe to the toolhost. It is above the descriptors that calls use.
CONTROL = 100
STDERR = CONTROL + 2


class Host:
    def __init__(self):
        self.input, self.output = CONTROL, CONTROL + 1
        for fd, to in ((0, self.input), (1, self.output), (2, STDERR)):
            os.dup2(fd, to, inheritable=False)
            os.set_blocking(to, False)
        nothing = os.open(os.devnull, os.O_RDWR)
        # Occupies the low descriptors, so that no pipe of a call gets a number that the call itself needs.
        for fd in range(5):
            if fd != nothing:
                os.dup2(nothing, fd, inheritable=fd < 3)
        self.arrived = bytearray()
        self.waiting = bytearray()

    def send(self, kind, content=b""):
        self.waiting += len(content).to_bytes(4, "big") + kind + content
        self.push()

    def send_json(self, kind, **values):
        """Sends a message with numbers and booleans as a JSON object."""
        self.send(kind, ("{" + ", ".join(f'"{name}": {str(each).lower()}' for name, each in values.items()) + "}").encode())

    def push(self):
        """Writes as many pending bytes as the pipe accepts."""
        try:
            while self.waiting:
                with memoryview(self.waiting)[: 4 * CHUNK] as part:
                    written = os.write(self.output, part)
                del self.waiting[:written]
        except BlockingIOError:
            pass
        except OSError:
            exit_agent()

    def pull(self):
        """Reads what the toolhost has sent. Exits if the toolhost has closed the pipe."""
        try:
            chunk = os.read(self.input, 4 * CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            exit_agent()
        self.arrived += chunk

    def messages(self):
        while len(self.arrived) >= 5:
            length = int.from_bytes(self.arrived[:4], "big")
            if len(self.arrived) < 5 + length:
                return
            kind, content = bytes(self.arrived[4:5]), bytes(self.arrived[5 : 5 + length])
            del self.arrived[: 5 + length]
            yield kind, content


class JsonContext:
    """Settings of the JSON scanner."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, float


def parsed(content):
    return _json.make_scanner(JsonContext)(content.decode("utf-8", "surrogatepass"), 0)[0]


def exit_agent():
    kill_all()
    os._exit(0)


def set_dumpable(dumpable):
    """Sets whether other processes of the same user can inspect this process and its descriptors."""
    import _ctypes

    prctl = _ctypes.dlsym(_ctypes.dlopen(None, 2), "prctl")
    PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
    if _ctypes.call_function(prctl, (PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)) != 0:
        raise OSError("prctl(PR_SET_DUMPABLE) did not succeed")
    if not dumpable:
        _ctypes.call_function(prctl, (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
