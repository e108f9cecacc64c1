"""The spawner: starts programs for a toolhost, which is too large to fork quickly. Runs as long as its standard input is open.

The toolhost opens one connection for each descriptor of a program, and one that controls it. The first bytes of each connection
name the program and the descriptor, so that a descriptor of the program is a connection to the toolhost.
"""

import json
import os
import select
import signal
import socket
import struct
import sys

# A connection begins with the id of its program, and with the number of the descriptor or with "c".
ID_BYTES = 16
# How long a connection may take to send its first message.
FIRST_MESSAGE_S = 10
# Descriptors of programs are below, so that none of ours is replaced before it is copied.
FIRST_DESCRIPTOR = 64
# What the toolhost sends to all processes of a terminal ends the toolhost, and with it this process.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Python ignores them, which programs would inherit.
RESTORED = (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)


class Spawner:
    def __init__(self, server, wakeup):
        self.server, self.wakeup = server, wakeup
        self.arrived = {}
        self.requests = {}
        self.controls = {}
        self.programs = {}
        self.poll = select.poll()
        for source in (0, wakeup, server.fileno()):
            self.poll.register(source, select.POLLIN)

    def run(self):
        while True:
            for source, _ in self.poll.poll():
                if source == 0:
                    return
                elif source == self.wakeup:
                    os.read(source, 4096)
                    self.report_ends()
                elif source == self.server.fileno():
                    self.accept()
                else:
                    self.obey(source)

    def accept(self):
        connection, _ = self.server.accept()
        try:
            if peer_of(connection) != os.getppid():
                return connection.close()
            connection.settimeout(FIRST_MESSAGE_S)
            id, part = receive(connection, ID_BYTES), receive(connection, 1).decode()
            if part == "c":
                (size,) = struct.unpack(">I", receive(connection, 4))
                self.requests[id] = json.loads(receive(connection, size)), connection
            else:
                self.arrived.setdefault(id, {})[int(part)] = connection
            connection.settimeout(None)
            self.start_complete(id)
        except (OSError, ValueError):
            connection.close()

    def start_complete(self, id):
        request, control = self.requests.get(id, (None, None))
        if request is None or len(self.arrived.get(id, {})) < request["descriptors"]:
            return
        del self.requests[id]
        descriptors = self.arrived.pop(id)
        pid = os.fork()
        if pid == 0:
            become(request, [descriptors[index].fileno() for index in sorted(descriptors)])
        for connection in descriptors.values():
            connection.close()
        self.programs[pid] = control
        self.controls[control.fileno()] = pid
        self.poll.register(control, select.POLLIN)
        send(control, f"{pid}\n")

    def obey(self, source):
        """Kills the program whose toolhost asks for it, or has closed the connection."""
        self.poll.unregister(source)
        pid = self.controls.pop(source, None)
        # It is not waited for yet, so no other process has its id.
        if pid in self.programs:
            os.kill(pid, signal.SIGKILL)

    def report_ends(self):
        while self.programs:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            control = self.programs.pop(pid)
            if self.controls.pop(control.fileno(), None) is not None:
                self.poll.unregister(control)
            control.close()


def become(request, descriptors):
    try:
        signal.set_wakeup_fd(-1)
        for number in RESTORED:
            signal.signal(number, signal.SIG_DFL)
        if request["uid"] is not None:
            os.setgroups([])
            os.setgid(request["gid"])
            os.setuid(request["uid"])
        os.chdir("/")
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.execve(request["program"], [request["program"], *request["args"]], {})
    except BaseException as error:
        os.write(2, f"{request['program']} did not run: {error}".encode())
    finally:
        os._exit(127)


def peer_of(connection):
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[0]


def receive(connection, size):
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise OSError("the connection has ended")
        received += part
    return received


def send(control, text):
    try:
        control.sendall(text.encode())
    except OSError:
        pass


def main():
    path = sys.argv.pop()
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    # What we inherited, programs would inherit.
    for number in [int(name) for name in os.listdir("/proc/self/fd")]:
        if number > 2:
            try:
                os.close(number)
            except OSError:
                pass  # It was that of the list.
    # Low numbers are those of programs: their copies must not replace a connection.
    for number in range(3, FIRST_DESCRIPTOR):
        os.dup2(0, number, inheritable=False)
    wakeup, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(128)
    os.write(1, b"ready\n")
    try:
        Spawner(server, wakeup).run()
    finally:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))


main()
