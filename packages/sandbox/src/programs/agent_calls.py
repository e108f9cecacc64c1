"""The process of one call, from the fork on. Follows agent_host.py in its program.

It runs foreign code, or becomes a foreign program: it holds nothing of the agent but its four descriptors.
"""

import resource

RESULT = 3
FAILURE = 4
# Of a complaint: nobody reads the pipe before the call has begun, so that more than it takes would never be written.
MOST_TOLD = 200


def become_call(call, ends, failure, program):
    """Never returns. What keeps a command from beginning is told by `failure`, which closes when it has begun."""
    try:
        os.setsid()
        for at, end in enumerate(ends):
            os.dup2(end, at)
        os.dup2(failure, FAILURE, inheritable=False)
        os.closerange(FAILURE + 1, 1 << 20)
        for each in (signal.SIGPIPE, signal.SIGXFSZ, *IGNORED):
            signal.signal(each, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.chdir(call["folder"])
        prefer_to_end()
        os.environ.clear()
        os.environ.update(call["env"], PWD=call["folder"])
        for name, (soft, hard) in call["limits"].items():
            limit(getattr(resource, name), soft, hard)
        if program is None:
            become_program(call["argv"])
        run_program(program, call["argv"])
    except BaseException as error:
        complaint = repr(error)[:MOST_TOLD]
        os.write(2, f"the call could not be begun: {complaint}\n".encode("utf-8", "backslashreplace"))
    finally:
        os._exit(70)


def prefer_to_end():
    """When memory is full the kernel is to end what fills it, not the agent."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def limit(which, soft, hard):
    """What is bounded already is never widened."""
    _, most = resource.getrlimit(which)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(which, (soft, hard))


def become_program(argv):
    argv = [word.encode("utf-8", "surrogatepass") for word in argv]
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        if error.errno == errno.E2BIG:
            os.write(FAILURE, b"too long")
            os._exit(126)
        os.write(2, argv[0][:MOST_TOLD] + f": {error.strerror}\n".encode())
        os._exit(127 if error.errno in (errno.ENOENT, errno.ENOTDIR) else 126)


def run_program(code, arguments):
    """Runs a program of ours as the interpreter would: it is `__main__`, and has an interrupt and a pipe of its own."""
    speak_of_myself(True)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.close(FAILURE)
    sys.argv = ["-c", *arguments]
    main = type(sys)("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    status = 0
    try:
        exec(code, main.__dict__)
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        status = 1
        sys.excepthook(*sys.exc_info())
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)
