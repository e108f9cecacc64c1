"""The agent: the first process of a sandbox. Executes one call after another, each in a process that is forked from it.

The Python interpreter of a call is therefore already running when the call arrives. The agent removes everything that a call
left behind before the next call starts. Code of a call cannot impersonate the agent, because only the agent holds the pipe to
the toolhost, and no other process can access its descriptors.
"""

HEARTBEAT_S = 5
# How long an agent waits for its first message from the toolhost.
FIRST_MESSAGE_S = 60


class Call:
    """One call, from its message to its end."""

    def __init__(self, host, call, programs):
        self.host, self.call = host, call
        self.program = programs.code(call["program"]) if call.get("program") else None
        self.to_call = bytearray()
        self.no_more_input = False
        self.kills = memory_kills()

    def execute(self):
        if self.call.get("proxy"):
            start_forwarding(self.call["proxy"])
        (input, self.input), *outputs = self.pipes = [os.pipe() for _ in range(4)]
        failed, failure = os.pipe()
        # The call reads from the first end of its input pipe, and writes to the second end of its output pipes.
        ends = [input, *(end for _, end in outputs)]
        self.sources = {read: stream for (read, _), stream in zip(outputs, (b"o", b"e", b"r"))}
        self.pid = os.fork()
        if self.pid == 0:
            become_call(self.call, ends, failure, self.program)
        ended[self.pid] = None
        for end in (*ends, failure):
            os.close(end)
        if self.program is None and os.read(failed, 16):
            self.host.send_json(END, too_long=True)
            os.waitpid(self.pid, 0)
            kill_all()
            self.close(failed)
            return
        self.host.send(BEGAN)
        for end in (self.input, *self.sources):
            os.set_blocking(end, False)
        while not self.is_over():
            self.wait()
        kill_all()
        status = ended[self.pid]
        while self.sources:
            self.wait()
        self.close(failed)
        self.host.send_json(END, **exit_report(status), oom=memory_kills() > self.kills)

    def close(self, *more):
        for end in (self.input, *self.sources, *more):
            if end is not None:
                os.close(end)
        ended.clear()

    def is_over(self):
        return ended[self.pid] is not None

    def wait(self):
        """Waits for the next events and handles them. Sends a heartbeat if there are none."""
        poll = select.poll()
        poll.register(self.host.input, select.POLLIN)
        poll.register(WOKEN, select.POLLIN)
        if self.host.waiting:
            poll.register(self.host.output, select.POLLOUT)
        if len(self.host.waiting) < MAX_PENDING:
            for source in self.sources:
                poll.register(source, select.POLLIN)
        if self.input is not None and (self.to_call or self.no_more_input):
            poll.register(self.input, select.POLLOUT)
        events = poll.poll(HEARTBEAT_S * 1000)
        if not events:
            self.host.send(ALIVE)
        for end, _ in events:
            if end == self.host.input:
                self.host.pull()
                self.listen()
            elif end == self.host.output:
                self.host.push()
            elif end == self.input:
                self.feed()
            elif end == WOKEN:
                os.read(WOKEN, CHUNK)
                reap()
            else:
                self.forward(end)

    def listen(self):
        for kind, content in self.host.messages():
            if kind == INPUT:
                self.to_call += content
                if self.input is None:
                    self.acknowledge(len(content))
            elif kind == INPUT_END:
                self.no_more_input = True
            elif kind == STOP:
                kill_all()

    def feed(self):
        """Writes input to the call. A call that does not read its input is not an error."""
        try:
            written = os.write(self.input, self.to_call[: 4 * CHUNK]) if self.to_call else 0
            done = self.no_more_input and written == len(self.to_call)
        except BlockingIOError:
            return
        except OSError:
            written, done = len(self.to_call), True
        if written:
            self.acknowledge(written)
        if done:
            os.close(self.input)
            self.input = None

    def acknowledge(self, count):
        del self.to_call[:count]
        self.host.send(TAKEN, count.to_bytes(4, "big"))

    def forward(self, source):
        chunk = os.read(source, CHUNK)
        if chunk:
            self.host.send(self.sources[source], chunk)
        else:
            os.close(source)
            del self.sources[source]


class Programs:
    """Our own programs by name. Each is compiled once."""

    def __init__(self, texts):
        self.texts, self.compiled = texts, {}

    def code(self, name):
        if name not in self.compiled:
            self.compiled[name] = compile(self.texts[name], "<string>", "exec")
        return self.compiled[name]


def exit_report(status):
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"code": os.WEXITSTATUS(status)}


def main():
    global WOKEN
    host = Host()
    set_dumpable(False)
    for each in IGNORED:
        signal.signal(each, signal.SIG_IGN)
    WOKEN, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    programs = leftovers = None
    wanted = []
    host.send(READY)
    while True:
        for kind, content in host.messages():
            if kind == PROGRAMS:
                given = parsed(content)
                programs, wanted, idle_s = Programs(given["programs"]), given["imports"], given["idle_s"]
                leftovers = Leftovers(given["folders"])
            elif kind == CALL:
                Call(host, parsed(content), programs).execute()
                host.send_json(SETTLED, clean=leftovers.remove())
                break
        else:
            idle(host, wanted, idle_s if programs else FIRST_MESSAGE_S)


def idle(host, wanted, idle_s):
    """Waits for the next message. Meanwhile, imports modules that calls often use. Exits when the idle time is over."""
    poll = select.poll()
    poll.register(host.input, select.POLLIN)
    if host.waiting:
        poll.register(host.output, select.POLLOUT)
    ready = poll.poll(0 if wanted else idle_s * 1000)
    if host.waiting:
        host.push()
    if any(end == host.input for end, _ in ready):
        host.pull()
    elif wanted:
        try:
            __import__(wanted.pop(0))
        except ImportError:
            pass
    elif not ready:
        exit_agent()


IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
try:
    main()
except BaseException as error:
    import traceback

    os.write(STDERR, "".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace"))
    exit_agent()
