"""The first process of a sandbox. Makes one call after the other, each in a process that is forked from here.

The interpreter of a call has begun before the call came. Nothing of a call is left when the next one begins, and no code of
a call can speak to the toolhost in the agent's name: its end of the pipe is here, where nobody can look.
"""

BEAT_S = 5
# How long an agent waits for its first word from the toolhost.
FIRST_S = 60


class Call:
    """One call from its message to its end."""

    def __init__(self, host, call, programs):
        self.host, self.call = host, call
        self.program = programs.code(call["program"]) if call.get("program") else None
        self.to_call = bytearray()
        self.no_more_input = False
        self.kills = memory_kills()

    def make(self):
        if self.call.get("proxy"):
            begin_carrying(self.call["proxy"])
        (input, self.input), *outputs = self.pipes = [os.pipe() for _ in range(4)]
        failed, failure = os.pipe()
        # Where the call reads, it is the first end; where it writes, the second.
        ends = [input, *(end for _, end in outputs)]
        self.sources = {read: stream for (read, _), stream in zip(outputs, (b"o", b"e", b"r"))}
        self.pid = os.fork()
        if self.pid == 0:
            become_call(self.call, ends, failure, self.program)
        ended[self.pid] = None
        for end in (*ends, failure):
            os.close(end)
        if self.program is None and os.read(failed, 16):
            self.host.tell(END, too_long=True)
            os.waitpid(self.pid, 0)
            end_all()
            self.close(failed)
            return
        self.host.say(BEGAN)
        for end in (self.input, *self.sources):
            os.set_blocking(end, False)
        while not self.is_over():
            self.wait()
        end_all()
        status = ended[self.pid]
        while self.sources:
            self.wait()
        self.close(failed)
        self.host.tell(END, **told(status), oom=memory_kills() > self.kills)

    def close(self, *more):
        for end in (self.input, *self.sources, *more):
            if end is not None:
                os.close(end)
        ended.clear()

    def is_over(self):
        return ended[self.pid] is not None

    def wait(self):
        """Waits for something to do, and does it."""
        poll = select.poll()
        poll.register(self.host.input, select.POLLIN)
        poll.register(WOKEN, select.POLLIN)
        if self.host.waiting:
            poll.register(self.host.output, select.POLLOUT)
        if len(self.host.waiting) < MOST_WAITING:
            for source in self.sources:
                poll.register(source, select.POLLIN)
        if self.input is not None and (self.to_call or self.no_more_input):
            poll.register(self.input, select.POLLOUT)
        happened = poll.poll(BEAT_S * 1000)
        if not happened:
            self.host.say(ALIVE)
        for end, _ in happened:
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
                    self.taken(len(content))
            elif kind == INPUT_END:
                self.no_more_input = True
            elif kind == STOP:
                end_all()

    def feed(self):
        """A call that does not read what it is given is no mistake."""
        try:
            written = os.write(self.input, self.to_call[: 4 * CHUNK]) if self.to_call else 0
            done = self.no_more_input and written == len(self.to_call)
        except BlockingIOError:
            return
        except OSError:
            written, done = len(self.to_call), True
        if written:
            self.taken(written)
        if done:
            os.close(self.input)
            self.input = None

    def taken(self, count):
        del self.to_call[:count]
        self.host.say(TAKEN, count.to_bytes(4, "big"))

    def forward(self, source):
        chunk = os.read(source, CHUNK)
        if chunk:
            self.host.say(self.sources[source], chunk)
        else:
            os.close(source)
            del self.sources[source]


class Programs:
    """Our own programs, by their names; made ready for the interpreter once."""

    def __init__(self, texts):
        self.texts, self.made = texts, {}

    def code(self, name):
        if name not in self.made:
            self.made[name] = compile(self.texts[name], "<string>", "exec")
        return self.made[name]


def told(status):
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"code": os.WEXITSTATUS(status)}


def main():
    global WOKEN
    host = Host()
    speak_of_myself(False)
    for each in IGNORED:
        signal.signal(each, signal.SIG_IGN)
    WOKEN, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    programs = traces = None
    wanted = []
    host.say(READY)
    while True:
        for kind, content in host.messages():
            if kind == PROGRAMS:
                given = parsed(content)
                programs, wanted, idle_s = Programs(given["programs"]), given["imports"], given["idle_s"]
                traces = Traces(given["folders"])
            elif kind == CALL:
                Call(host, parsed(content), programs).make()
                host.tell(SETTLED, clean=traces.remove())
                break
        else:
            idle(host, wanted, idle_s if programs else FIRST_S)


def idle(host, wanted, idle_s):
    """What calls often import is imported while there is nothing else to do."""
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
        leave()


IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
try:
    main()
except BaseException as error:
    import traceback

    os.write(COMPLAINTS, "".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace"))
    leave()
