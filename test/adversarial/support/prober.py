"""Runs attacks and reports the outcome of each of their ways. The same program runs in a sandbox and, as the control, without
one.

It reads {"given": …, "probes": {id: code}} and writes {id: {way: "harm" | "refused: why" | "broken: why"}}. A way does harm if
it returns. It is refused if the kernel returns an error (OSError), if the kernel kills it with SIGSYS, or if it returns False.
Any other outcome is a bug in the attack, and counts as neither.
"""

import ctypes
import errno
import json
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback

WAY_S = 15
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
COLUMN = {"x86_64": 0, "aarch64": 1}[platform.machine()]
# System call numbers, defined independently of those that the filter uses: x86_64, aarch64.
NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, 435),
    "delete_module": (176, 106), "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433), "getpid": (39, 172), "get_mempolicy": (239, 236),
    "init_module": (175, 105), "io_uring_setup": (425, 425), "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "memfd_create": (319, 279), "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "mq_open": (240, 180), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "openat2": (437, 437), "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pivot_root": (155, 41), "process_madvise": (440, 440), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218),
    "setdomainname": (171, 162), "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170), "swapoff": (168, 225),
    "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
}  # fmt: skip

task = json.load(sys.stdin)
given = task["given"]
outcomes = {}
victims = []


def call(name, *args):
    """Executes a system call by its number, bypassing all wrappers of the C library."""
    result = libc.syscall(ctypes.c_long(NUMBERS[name][COLUMN]), *map(word, args))
    if result == -1:
        refuse(ctypes.get_errno())
    return result


def word(value):
    return ctypes.c_long(value) if isinstance(value, int) else value


def refuse(number):
    raise OSError(number, os.strerror(number))


def privileged(name, *args):
    """Returns if a system call passes the privilege check. Errors after that check are ignored."""
    try:
        call(name, *args)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise


def alone():
    """Without a sandbox, creates a mount namespace, so that changes of this way do not affect the next one."""
    if not given["first"]:
        call("unshare", 0x20000)


def prctl(*args):
    if libc.prctl(*map(word, args)) == -1:
        refuse(ctypes.get_errno())


def writable(path):
    os.close(os.open(path, os.O_WRONLY))


def first():
    """Returns the process to attack: the agent in a sandbox, otherwise a new process."""
    if given["first"]:
        return given["first"]
    script = "import time; print(flush=True); time.sleep(60)"
    victim = subprocess.Popen(
        [sys.executable, "-I", "-c", script], env={"CANARY": given["canary"]}, stdout=subprocess.PIPE
    )
    victim.stdout.readline()
    victims.append(victim)
    return victim.pid


def state_of(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(") ")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def status_of(pid):
    return dict(line.rstrip("\n").split(":\t", 1) for line in open(f"/proc/{pid}/status") if ":\t" in line)


def processes():
    return [name for name in os.listdir("/proc") if name.isdigit()]


def attempted(attempt):
    try:
        return "refused: did nothing" if attempt() is False else "harm"
    except OSError as refusal:
        return f"refused: {errno.errorcode.get(refusal.errno, refusal)}"
    except BaseException:
        return "broken: " + traceback.format_exc(limit=-2)


def way(name, attempt):
    """Tries one way in a separate process, so that it does not affect the next one."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.write(write, attempted(attempt).encode()[:2000])
        os._exit(0)
    os.close(write)
    outcome = b""
    if select.select([read], [], [], WAY_S)[0]:
        outcome = os.read(read, 4096)
    os.close(read)
    for target in (-pid, pid):
        try:
            os.kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    _, status = os.waitpid(pid, 0)
    ending = f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "reported nothing"
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS
    found[name] = outcome.decode() or ("refused: SIGSYS" if killed else f"broken: {ending}")


for probe, code in task["probes"].items():
    found = outcomes[probe] = {}
    # Each probe has its own folder.
    folder = os.path.join(given["workspace"], probe)
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    try:
        exec(compile(code, f"<{probe}>", "exec"), globals())
    except BaseException:
        found["all"] = "broken: " + traceback.format_exc(limit=-2)
    for victim in victims:
        victim.kill()
        victim.wait()
    victims.clear()
json.dump(outcomes, sys.stdout)
sys.stdout.flush()
os._exit(0)
