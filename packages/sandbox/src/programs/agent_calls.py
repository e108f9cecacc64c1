"""The process of one call, after the fork. Concatenated after agent_host.py.

This process runs untrusted code, or becomes an untrusted program. It holds no resources of the agent except its four descriptors.
"""

import resource

RESULT = 3
FAILURE = 4
# Length limit of an error message. The pipe is not read before the call has started, so a message that does not fit into it would
# block.
MAX_ERROR = 200


def become_call(call, ends, failure, program):
    """Runs the call in this process, and never returns. Writes to `failure` if the command cannot start; it closes on start."""
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
        prefer_oom_kill()
        os.environ.clear()
        os.environ.update(call["env"], PWD=call["folder"])
        for name, (soft, hard) in call["limits"].items():
            limit(getattr(resource, name), soft, hard)
        if program is None:
            become_program(call["argv"])
        run_program(program, call["argv"])
    except BaseException as error:
        complaint = repr(error)[:MAX_ERROR]
        os.write(2, f"the call could not be started: {complaint}\n".encode("utf-8", "backslashreplace"))
    finally:
        os._exit(70)


def prefer_oom_kill():
    """Makes the kernel kill this process, not the agent, when memory is exhausted."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def limit(which, soft, hard):
    """Sets a resource limit. Never raises a limit that is already set."""
    _, maximum = resource.getrlimit(which)
    if maximum != resource.RLIM_INFINITY:
        soft, hard = min(soft, maximum), min(hard, maximum)
    resource.setrlimit(which, (soft, hard))


def become_program(argv):
    argv = [word.encode("utf-8", "surrogatepass") for word in argv]
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        if error.errno == errno.E2BIG:
            os.write(FAILURE, b"too long")
            os._exit(126)
        os.write(2, argv[0][:MAX_ERROR] + f": {error.strerror}\n".encode())
        os._exit(127 if error.errno in (errno.ENOENT, errno.ENOTDIR) else 126)


def run_program(code, arguments):
    """Runs one of our programs as the interpreter would: as `__main__`, and with the default handling of SIGINT and SIGPIPE."""
    set_dumpable(True)
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
