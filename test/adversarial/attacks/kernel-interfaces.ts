import type { Category } from "../support/attack.ts";
import { probe } from "../support/attack.ts";

export const kernelInterfaces: Category = {
  title: "Kernel interfaces",
  attacks: [
    probe({
      id: "io-uring",
      attempt: "uses io_uring, whose operations bypass system call filters",
      promise: "it is not available",
      control: { differs: "kernel.io_uring_disabled", where: "outside" },
      code: `way("io_uring_setup", lambda: call("io_uring_setup", 4, ctypes.create_string_buffer(256)))`,
    }),
    probe({
      id: "userfaultfd",
      attempt: "stalls the kernel with userfaultfd",
      promise: "refused",
      control: { differs: "kernels without it", where: "outside" },
      code: `way("userfaultfd", lambda: call("userfaultfd", 1))`,
    }),
    probe({
      id: "perf-events",
      attempt: "opens performance counters",
      promise: "refused",
      control: { differs: "kernel.perf_event_paranoid", where: "outside" },
      code: `
attributes = struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(64)
way("software clock", lambda: call("perf_event_open", attributes, 0, -1, -1, 0))`,
    }),
    probe({
      id: "fanotify",
      attempt: "watches all files of a mount with fanotify",
      promise: "refused",
      control: { differs: "kernels without it", where: "outside" },
      code: `way("fanotify_init", lambda: call("fanotify_init", 0x200, 0))`,
    }),
    probe({
      id: "message-queues",
      attempt: "creates a message queue, which outlives its creator",
      promise: "none is available",
      control: { differs: "kernels without it", where: "outside" },
      code: `
# The name is gone again at once.
way("mq_open", lambda: (call("mq_open", b"reeve-attack", 0o102, 0o600, 0), libc.mq_unlink(b"/reeve-attack")))`,
    }),
    probe({
      id: "memory-policy",
      attempt: "asks on which memory node its memory is",
      promise: "refused",
      control: { differs: "kernels without NUMA", where: "outside" },
      code: `way("get_mempolicy", lambda: call("get_mempolicy", 0, 0, 0, 0, 0))`,
    }),
    probe({
      id: "personalities",
      attempt: "changes its personality: fixed addresses, executable memory",
      promise: "only the default one",
      control: { where: "outside" },
      code: `
for name, persona in [("no randomness", 0x0040000), ("executable", 0x0400000), ("compatible layout", 0x0200000), ("all but one", 0xfffffffe)]:
    way(name, lambda: call("personality", persona))`,
    }),
    probe({
      id: "terminal-injection",
      attempt: "injects input into a terminal, also with an ioctl number that has extra high bits",
      promise: "refused",
      control: { differs: "dev.tty.legacy_tiocsti", where: "outside", except: ["TIOCLINUX"] },
      code: `
libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
def injected(request):
    if os.path.exists("/dev/ptmx"):
        _, terminal = os.openpty()
        libc.ioctl(terminal, 0x540E, None)
    else: terminal = 0
    if libc.ioctl(terminal, request, ctypes.create_string_buffer(b"x")) == -1: refuse(ctypes.get_errno())
way("TIOCSTI", lambda: injected(0x5412))
way("TIOCSTI, bits above", lambda: injected(1 << 32 | 0x5412))
way("TIOCLINUX", lambda: injected(0x541C))`,
    }),
    probe({
      id: "other-calling-conventions",
      attempt: "calls the kernel through its 32-bit entry, where the numbers mean other calls",
      promise: "the kernel kills it or does not support the entry",
      control: {
        differs: "kernels without the 32-bit entry",
        where: process.arch === "x64" ? "outside" : "none",
        why: "only x64 has another calling convention",
        except: ["x32"],
      },
      code: `
import mmap
def entry32():
    if platform.machine() != "x86_64": return False
    # mov eax, 20 (getpid); int 0x80; ret
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    return function() == os.getpid()
def x32():
    return platform.machine() == "x86_64" and libc.syscall(ctypes.c_long(0x40000000 | 39)) >= 0
way("int 0x80", entry32)
way("x32", x32)`,
    }),
    probe({
      id: "programs-from-memory",
      attempt: "runs programs from memory and by descriptor, to escape filter and limits",
      promise: "they run under the same filter, without privileges",
      control: { where: "outside" },
      code: `
script = "import sys; s = open('/proc/self/status').read(); sys.exit(0 if 'Seccomp:\\\\t2' in s and 'NoNewPrivs:\\\\t1' in s else 3)"
def from_memory():
    fd = call("memfd_create", b"program", 0)
    with open(os.path.realpath(sys.executable), "rb") as source: data = source.read()
    while data: data = data[os.write(fd, data):]
    # The interpreter is not at its installed path, so PYTHONHOME names its library.
    env = {"PYTHONHOME": sys.base_prefix}
    child = subprocess.run([f"/proc/self/fd/{fd}", "-c", script], pass_fds=[fd], env=env)
    assert child.returncode in (0, 3), child.returncode
    return child.returncode == 3
def by_descriptor():
    fd = os.open(os.path.realpath(sys.executable), os.O_RDONLY)
    pid = os.fork()
    if pid == 0: os.execve(fd, ["python3", "-I", "-c", script], {})
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 3), code
    return code == 3
way("memfd", from_memory)
way("fexecve", by_descriptor)`,
    }),
    probe({
      id: "filter-replaced",
      attempt: "installs another filter that permits everything",
      promise: "the stricter filter wins",
      control: { where: "outside" },
      code: `
def replaced():
    program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
    prctl(38, 1, 0, 0, 0)
    prctl(22, 2, ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(program))), 0, 0)
    call("unshare", 0x10000000)
way("seccomp", replaced)`,
    }),
  ],
};
