import type { Category } from "../support/attack.ts";
import { probe } from "../support/attack.ts";

const outside = { where: "outside" } as const;

export const secrets: Category = {
  title: "Secrets and other processes",
  attacks: [
    probe({
      id: "environments",
      attempt:
        "reads the environment of every process, of the agent and its own, for a secret of the toolhost",
      promise: "no environment holds it",
      control: outside,
      code: `
one = first()
def canary(pids):
    found = False
    for pid in pids:
        try: found = found or given["canary"] in open(f"/proc/{pid}/environ").read()
        except OSError: pass
    return found
way("every process", lambda: canary(processes()))
way("the agent", lambda: given["canary"] in open(f"/proc/{one}/environ").read())`,
    }),
    probe({
      id: "own-environment",
      attempt: "looks for unexpected variables in its own environment",
      promise: "only five variables, none of the toolhost",
      control: { where: "within", why: "PATH is set" },
      code: `
assert "PATH" in os.environ
way("variables", lambda: bool(set(os.environ) - {"HOME", "LANG", "PATH", "PWD", "TMPDIR", "LC_CTYPE"}) if given["first"] else True)`,
    }),
    probe({
      id: "foreign-processes",
      attempt: "looks for processes of other sessions and of the host",
      promise: "it sees only the agent and its own processes",
      control: outside,
      code: `
def others():
    mine = {1, os.getpid(), os.getppid()}
    return any(int(pid) not in mine and int(status_of(pid)["PPid"]) not in mine for pid in processes())
way("in /proc", others)
way("by number", lambda: any(os.path.exists(f"/proc/{pid}") for pid in range(300, 1_000_000) if pid not in (os.getpid(), os.getppid())) if not given["first"] else False)`,
    }),
    probe({
      id: "agent-memory",
      attempt: "reads memory, mappings, stack, file descriptors and folders of the agent",
      promise: "nothing of it can be read",
      control: {
        differs: "kernel.yama.ptrace_scope",
        where: "outside",
        except: ["stack", "syscall"],
      },
      code: `
one = first()
for each in ["mem", "maps", "environ", "auxv", "smaps", "pagemap", "stack", "syscall"]:
    way(each, lambda: open(f"/proc/{one}/{each}", "rb").read(0 if each == "mem" else 1))
way("mem for writing", lambda: open(f"/proc/{one}/mem", "r+b"))
for each in ["fd", "fdinfo", "map_files"]:
    way(each, lambda: os.listdir(f"/proc/{one}/{each}"))
for each in ["cwd", "root", "exe"]:
    way(each, lambda: os.readlink(f"/proc/{one}/{each}"))
way("thread", lambda: open(f"/proc/{one}/task/{one}/mem", "rb"))`,
    }),
    probe({
      id: "agent-descriptors",
      attempt: "opens or duplicates the pipes between agent and toolhost",
      promise: "they are out of reach, so no code can speak for the agent",
      control: { differs: "kernel.yama.ptrace_scope", where: "outside" },
      code: `
one = first()
def opened():
    for fd in range(256):
        try: os.open(f"/proc/{one}/fd/{fd}", os.O_WRONLY); return True
        except OSError as refusal: last = refusal
    raise last
def taken():
    process = call("pidfd_open", one, 0)
    for fd in range(256):
        try: call("pidfd_getfd", process, fd, 0); return True
        except OSError as refusal: last = refusal
    raise last
way("opened", opened)
way("taken", taken)`,
    }),
    probe({
      id: "keyrings",
      attempt: "reads and creates kernel keys, which all processes with its user id share",
      promise: "keys are not available",
      control: { differs: "kernels without keys", where: "outside", except: ["request_key"] },
      code: `
way("keyctl", lambda: call("keyctl", 0, -4, 1))
way("add_key", lambda: call("add_key", b"user", b"reeve:test", b"x", 1, -1))
way("request_key", lambda: call("request_key", b"user", b"reeve:test", 0, 0))`,
    }),
    probe({
      id: "tracing",
      attempt: "traces and reads processes: its child and the agent",
      promise: "no process can be traced, not even a child",
      control: {
        differs: "kernel.yama.ptrace_scope",
        where: "outside",
        except: ["SEIZE of the agent"],
      },
      code: `
def child():
    pid = os.fork()
    if pid == 0: time.sleep(20); os._exit(0)
    return pid
def memory(name, pid):
    mine = ctypes.create_string_buffer(8)
    vector = struct.pack("PN", ctypes.addressof(mine), 1)
    return call(name, pid, vector, 1, vector, 1, 0)
way("TRACEME", lambda: call("ptrace", 0, 0, 0, 0))
way("ATTACH to a child", lambda: call("ptrace", 16, child(), 0, 0))
way("SEIZE of the agent", lambda: call("ptrace", 0x4206, first(), 0, 0))
way("process_vm_readv", lambda: memory("process_vm_readv", child()))
way("process_vm_writev", lambda: memory("process_vm_writev", child()))
way("kcmp", lambda: call("kcmp", os.getpid(), child(), 0, 0, 0))
way("pidfd_getfd", lambda: call("pidfd_getfd", call("pidfd_open", child(), 0), 0, 0))`,
    }),
    probe({
      id: "host-facts",
      attempt: "learns about the machine: kernel, processors, memory, load, uptime",
      promise: "none of it is secret, and nothing else is revealed",
      control: outside,
      admitted: {
        bubblewrap:
          "/proc reveals kernel, processors, memory and load of the machine to everybody on it",
        docker:
          "/proc reveals kernel, processors, memory and load of the machine to everybody on it",
      },
      code: `
way("kernel", lambda: os.uname().release)
way("processors", lambda: open("/proc/cpuinfo").read())
way("load", lambda: open("/proc/loadavg").read())`,
    }),
  ],
};
