"""Network access of a sandbox. Concatenated after agent_cleanup.py.

Programs address a proxy by host and port. A separate process forwards connections from a port on the loopback interface of the
sandbox to the Unix socket of the toolhost's proxy, which decides whether to allow them. The process ends with the call.
"""

PROXY_PORT = 3128
# Maximum number of concurrent connections. Further connections wait to be accepted.
MAX_CONNECTIONS = 64


def start_forwarding(proxy):
    """Starts the forwarding process. Returns when the port is open, so that the call can connect at once."""
    # Imported only on demand, because most sandboxes have no network.
    import _socket as sockets

    listener = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
    listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", PROXY_PORT))
    listener.listen(MAX_CONNECTIONS)
    if os.fork() == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            # Closes every other descriptor, in particular the pipe to the toolhost.
            kept = listener.fileno()
            os.closerange(3, kept)
            os.closerange(kept + 1, 1 << 16)
            Forwarder(sockets, listener, proxy).run()
        finally:
            os._exit(1)
    listener.close()


class End:
    """One end of a forwarded connection."""

    def __init__(self, socket):
        socket.setblocking(False)
        self.socket, self.waiting = socket, bytearray()
        # Whether this end was read to its end, and whether its write side was shut down.
        self.is_read = self.is_shut_down = False


class Forwarder:
    def __init__(self, sockets, listener, proxy):
        self.sockets, self.listener, self.proxy = sockets, listener, proxy
        self.ends = {}
        self.poll = select.poll()
        self.listener.setblocking(False)
        self.poll.register(listener.fileno(), select.POLLIN)

    def run(self):
        while True:
            for fd, _ in self.poll.poll():
                if fd == self.listener.fileno():
                    self.accept()
                elif fd in self.ends:
                    self.forward(self.ends[fd])

    def accept(self):
        try:
            fd, _ = self.listener._accept()
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
            self.register(end)
        if len(self.ends) >= 2 * MAX_CONNECTIONS:
            self.poll.unregister(self.listener.fileno())

    def forward(self, end):
        try:
            if not end.is_read and len(end.other.waiting) < CHUNK:
                self.read(end)
            for each in (end, end.other):
                self.write(each)
        except OSError:
            return self.close(end)
        if end.is_shut_down and end.other.is_shut_down:
            return self.close(end)
        self.register(end)
        self.register(end.other)

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
        if end.other.is_read and not end.is_shut_down:
            end.is_shut_down = True
            end.socket.shutdown(self.sockets.SHUT_WR)

    def register(self, end):
        """Registers the events to wait for. An end without any is unregistered; otherwise it would be reported repeatedly."""
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
        if len(self.ends) >= 2 * MAX_CONNECTIONS:
            self.poll.register(self.listener.fileno(), select.POLLIN)
        for each in (end, end.other):
            fd = each.socket.fileno()
            try:
                self.poll.unregister(fd)
            except KeyError:
                pass
            del self.ends[fd]
            each.socket.close()
