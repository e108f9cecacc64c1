"""The way out of a sandbox that may use a network. Follows agent_tidy.py in its program.

Programs know proxies by a host and a port. A process beside the call carries what comes to a port of the sandbox's own loopback
to the socket of the toolhost's proxy, which decides. It ends with the call.
"""

PROXY_PORT = 3128
# Of connections at a time; others wait to be taken.
MOST_CARRIED = 64


def begin_carrying(proxy):
    """Returns when the port is open, so that nothing of the call comes too early."""
    # Not before it is wanted: most sandboxes have no network.
    import _socket as sockets

    door = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
    door.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    door.bind(("127.0.0.1", PROXY_PORT))
    door.listen(MOST_CARRIED)
    if os.fork() == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            # Nothing that could speak for the agent.
            kept = door.fileno()
            os.closerange(3, kept)
            os.closerange(kept + 1, 1 << 16)
            Carrier(sockets, door, proxy).carry()
        finally:
            os._exit(1)
    door.close()


class End:
    """One end of a connection that is carried."""

    def __init__(self, socket):
        socket.setblocking(False)
        self.socket, self.waiting = socket, bytearray()
        # Whether all of it is read, and whether the other end's end was passed on to it.
        self.is_read = self.is_told = False


class Carrier:
    def __init__(self, sockets, door, proxy):
        self.sockets, self.door, self.proxy = sockets, door, proxy
        self.ends = {}
        self.poll = select.poll()
        self.door.setblocking(False)
        self.poll.register(door.fileno(), select.POLLIN)

    def carry(self):
        while True:
            for fd, _ in self.poll.poll():
                if fd == self.door.fileno():
                    self.take()
                elif fd in self.ends:
                    self.move(self.ends[fd])

    def take(self):
        try:
            fd, _ = self.door._accept()
        except OSError:
            return
        inner = End(self.sockets.socket(fileno=fd))
        outer = End(self.sockets.socket(self.sockets.AF_UNIX, self.sockets.SOCK_STREAM))
        inner.other, outer.other = outer, inner
        try:
            outer.socket.connect(self.proxy)
        except OSError:
            inner.socket.close()
            outer.socket.close()
            return
        for end in (inner, outer):
            self.ends[end.socket.fileno()] = end
            self.await_(end)
        if len(self.ends) >= 2 * MOST_CARRIED:
            self.poll.unregister(self.door.fileno())

    def move(self, end):
        try:
            if not end.is_read and len(end.other.waiting) < CHUNK:
                self.read(end)
            for each in (end, end.other):
                self.write(each)
        except OSError:
            return self.close(end)
        if end.is_told and end.other.is_told:
            return self.close(end)
        self.await_(end)
        self.await_(end.other)

    def read(self, end):
        try:
            chunk = end.socket.recv(CHUNK)
        except BlockingIOError:
            return
        end.other.waiting += chunk
        end.is_read = not chunk

    def write(self, end):
        try:
            while end.waiting:
                with memoryview(end.waiting) as part:
                    written = end.socket.send(part)
                del end.waiting[:written]
        except BlockingIOError:
            return
        if end.other.is_read and not end.is_told:
            end.is_told = True
            end.socket.shutdown(self.sockets.SHUT_WR)

    def await_(self, end):
        """Nothing is awaited of an end of which nothing is wanted: it would be told of for ever."""
        wanted = 0 if end.is_read or len(end.other.waiting) >= CHUNK else select.POLLIN
        wanted |= select.POLLOUT if end.waiting else 0
        if wanted:
            self.poll.register(end.socket.fileno(), wanted)
        else:
            try:
                self.poll.unregister(end.socket.fileno())
            except KeyError:
                pass

    def close(self, end):
        if len(self.ends) >= 2 * MOST_CARRIED:
            self.poll.register(self.door.fileno(), select.POLLIN)
        for each in (end, end.other):
            fd = each.socket.fileno()
            try:
                self.poll.unregister(fd)
            except KeyError:
                pass
            del self.ends[fd]
            each.socket.close()
