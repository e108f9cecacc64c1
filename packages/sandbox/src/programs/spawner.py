"""The spawner: starts programs for a toolhost, which is too large to fork quickly. Runs as long as its standard input is open.

The toolhost opens one connection that controls a program, and then one for each of its descriptors. The first bytes of each connection
name the program and the descriptor, so that a descriptor of the program is a connection to the toolhost.
"""

import json
import os
import select
import signal
import socket
import struct
import sys
import time

# A connection begins with the id of its program, and with the number of the descriptor or with "c".
ID_BYTES = 16
# How long a connection may take to send its first message.
FIRST_MESSAGE_S = 10
# How long no connection is accepted after one could not be.
RETRY_S = 0.05
# Descriptors of programs are below, so that none of ours is replaced before it is copied.
FIRST_DESCRIPTOR = 64
# What the toolhost sends to all processes of a terminal ends the toolhost, and with it this process.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Python ignores them, which programs would inherit.
RESTORED = (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)


class Spawner:
    def __init__(self, server, wakeup):
        self.server, self.wakeup = server, wakeup
        # By the id that the toolhost gave it: a program that lacks descriptors, its control, and the descriptors that it has.
        self.requests = {}
        # By descriptor of the control: the id of such a program, or that of its process.
        self.controls = {}
        self.programs = {}
        self.poll = select.poll()
        for source in (0, wakeup, server.fileno()):
            self.poll.register(source, select.POLLIN)

    def run(self):
        while True:
            ready = {source for source, _ in self.poll.poll()}
            if 0 in ready:
                return
            # Ends come last: a connection that is closed frees its number for one that is accepted.
            for source in ready & self.controls.keys():
                self.obey(source)
            if self.server.fileno() in ready:
                self.accept()
            if self.wakeup in ready:
                os.read(self.wakeup, 4096)
                self.report_ends()

    def accept(self):
        try:
            connection, _ = self.server.accept()
        except OSError:
            # Too many are open: it waits until one is closed.
            return time.sleep(RETRY_S)
        try:
            if peer_of(connection) != os.getppid():
                return connection.close()
            connection.settimeout(FIRST_MESSAGE_S)
            id, part = receive(connection, ID_BYTES), receive(connection, 1).decode()
            if part == "c":
                (size,) = struct.unpack(">I", receive(connection, 4))
                self.requests[id] = json.loads(receive(connection, size)), connection, {}
                self.controls[connection.fileno()] = id
                self.poll.register(connection, select.POLLIN)
            elif id in self.requests:
                self.requests[id][2][int(part)] = connection
            else:
                return connection.close()
            connection.settimeout(None)
            self.start_complete(id)
        except (OSError, ValueError):
            connection.close()

    def start_complete(self, id):
        request, control, descriptors = self.requests[id]
        if len(descriptors) < request["descriptors"]:
            return
        try:
            pid = os.fork()
        except OSError:
            return self.give_up(id)
        if pid == 0:
            become(request, [descriptors[index].fileno() for index in sorted(descriptors)])
        del self.requests[id]
        for connection in descriptors.values():
            connection.close()
        self.programs[pid] = control
        self.controls[control.fileno()] = pid
        send(control, f"{pid}\n")

    def obey(self, source):
        """Kills the program whose toolhost asks for it, or has closed the connection."""
        program = self.controls[source]
        if program in self.requests:
            return self.give_up(program)
        self.poll.unregister(source)
        del self.controls[source]
        # It is not waited for yet, so no other process has its id.
        os.kill(program, signal.SIGKILL)

    def give_up(self, id):
        """Forgets a program that was not started."""
        _, control, descriptors = self.requests.pop(id)
        self.poll.unregister(control)
        del self.controls[control.fileno()]
        for connection in (control, *descriptors.values()):
            connection.close()

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
