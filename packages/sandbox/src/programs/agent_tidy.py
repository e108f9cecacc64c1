"""Ends all that a call has left. Follows agent_host.py in its program."""

# How much is taken away; a sandbox with more is not used again.
MOST_LEFT = 2_000
LIMITS = 16
ROUND_S = 0.002


def end_all():
    """Returns when no process is left but this one."""
    while True:
        if os.getpid() == 1:
            # All at once, so that nothing can be begun meanwhile by what is not ended yet.
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
        else:
            for pid in descendants():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if not reap():
            return
        # What was begun while the others were looked for is found in the next round.
        select.select([], [], [], ROUND_S)


# How processes ended whose end is waited for.
ended = {}


def remember(pid, status):
    if pid in ended:
        ended[pid] = status


def reap():
    """Takes note of what has ended, so that it is not counted against a limit. False when there is nothing that could."""
    try:
        while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            remember(*found)
    except ChildProcessError:
        return False
    return True


def descendants():
    """Without a namespace of processes of our own: those that this process is above of."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parents[int(name)] = int(file.read().rpartition(b") ")[2].split()[1])
            except OSError:
                continue
    found = [os.getpid()]
    for above in found:
        found += [pid for pid, parent in parents.items() if parent == above]
    return found[1:]


def memory_kills():
    """How many processes the kernel has ended because memory was full, where it is told inside. An agent is the last."""
    for counter in ("memory.events", "memory/memory.oom_control"):
        try:
            with open(f"/sys/fs/cgroup/{counter}") as lines:
                return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
        except OSError:
            continue
    return 0


class Traces:
    """What a call could leave for the next one, other than the workspace."""

    def __init__(self, folders):
        self.rights = {folder: rights(folder) for folder in folders}
        self.before = self.own()

    def own(self):
        """Whoever has our id may change some properties of this process."""
        limits = tuple(resource.getrlimit(which) for which in range(LIMITS))
        return limits, os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)

    def remove(self):
        """False when something is left, or it cannot be told."""
        try:
            return all(restored(*each) for each in self.rights.items()) and not shares_memory() and self.own() == self.before
        except Exception:
            return False


def rights(folder):
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return None
    return found.st_mode, found.st_uid, found.st_gid


def restored(folder, before):
    """Whose id is its owner's may have changed the folder itself. One that was not there has nothing in it."""
    if before is None:
        return rights(folder) is None
    if rights(folder) != before:
        os.chmod(folder, before[0] & 0o7777)
    return emptied(folder) and rights(folder) == before


REGULAR, KINDS = 0o100000, 0o170000


def emptied(folder):
    """A file that others put there for commands to write to is emptied as well."""
    if os.lstat(folder).st_mode & KINDS == REGULAR:
        os.truncate(folder, 0)
        return True
    left = 0
    stack = [folder]
    while stack:
        with os.scandir(stack[-1]) as found:
            entries = list(found)
        for entry in entries:
            left += 1
            if left > MOST_LEFT:
                return False
            if entry.is_dir(follow_symlinks=False):
                stack.append(entry.path)
                break
            os.unlink(entry.path)
        else:
            done = stack.pop()
            if stack:
                os.rmdir(done)
    return True


def shares_memory():
    """Whether there are objects of System V, which outlive the processes that made them."""
    for kind in ("msg", "sem", "shm"):
        try:
            with open(f"/proc/sysvipc/{kind}", "rb") as table:
                if len(table.read(CHUNK).splitlines()) > 1:
                    return True
        except FileNotFoundError:
            continue
    return False
