"""Cleans up after a call. Concatenated after agent_host.py."""

# Maximum number of files that are removed after a call. A sandbox with more is not reused.
MAX_LEFTOVERS = 2_000
# Number of resource limits that Linux has.
LIMITS = 16
ROUND_S = 0.002


def kill_all():
    """Kills all other processes, and returns when none is left."""
    while True:
        if os.getpid() == 1:
            # Kills all processes at once, so that none of them can start another one in the meantime.
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
        # The next round finds processes that were started during this one.
        select.select([], [], [], ROUND_S)


# Exit status by process id, for processes that are waited for. None while the process is running.
ended = {}


def remember(pid, status):
    if pid in ended:
        ended[pid] = status


def reap():
    """Reaps ended processes, so that they no longer count against limits. Returns False if there are no child processes."""
    try:
        while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            remember(*found)
    except ChildProcessError:
        return False
    return True


def descendants():
    """Returns the ids of all descendants. Needed if the sandbox has no PID namespace."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parents[int(name)] = int(file.read().rpartition(b") ")[2].split()[1])
            except OSError:
                continue
    found = [os.getpid()]
    for ancestor in found:
        found += [pid for pid, parent in parents.items() if parent == ancestor]
    return found[1:]


def memory_kills():
    """Returns how many processes the kernel has killed because memory was exhausted, or 0 if the sandbox cannot see that."""
    for counter in ("memory.events", "memory/memory.oom_control"):
        try:
            with open(f"/sys/fs/cgroup/{counter}") as lines:
                return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
        except OSError:
            continue
    return 0


class Leftovers:
    """Everything outside the workspace that a call could leave for the next one."""

    def __init__(self, folders):
        self.modes = {folder: mode_and_owner(folder) for folder in folders}
        self.before = self.properties()

    def properties(self):
        """Returns the properties of this process that other processes of the same user can change."""
        limits = tuple(resource.getrlimit(which) for which in range(LIMITS))
        return limits, os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)

    def remove(self):
        """Removes the leftovers. Returns False if something is left, or if that cannot be determined."""
        try:
            return all(restored(*each) for each in self.modes.items()) and not shares_memory() and self.properties() == self.before
        except Exception:
            return False


def mode_and_owner(folder):
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return None
    return found.st_mode, found.st_uid, found.st_gid


def restored(folder, before):
    """Restores a folder, whose mode the call may have changed, and empties it. A folder that did not exist must not exist now."""
    if before is None:
        return mode_and_owner(folder) is None
    if mode_and_owner(folder) != before:
        os.chmod(folder, before[0] & 0o7777)
    return emptied(folder) and mode_and_owner(folder) == before


REGULAR, KINDS = 0o100000, 0o170000


def emptied(folder):
    """Empties a folder. A regular file at this path, which commands may write to, is truncated."""
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
            if left > MAX_LEFTOVERS:
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
    """Returns whether System V IPC objects exist, which outlive the processes that created them."""
    for kind in ("msg", "sem", "shm"):
        try:
            with open(f"/proc/sysvipc/{kind}", "rb") as table:
                if len(table.read(CHUNK).splitlines()) > 1:
                    return True
        except FileNotFoundError:
            continue
    return False
