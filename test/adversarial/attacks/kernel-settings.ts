import type { Category } from "../support/attack.ts";
import { probe } from "../support/attack.ts";

const needsRoot = {
  where: "none",
  why: "it requires root on the machine, and attacks never run as root",
} as const;

export const kernelSettings: Category = {
  title: "Kernel settings",
  attacks: [
    probe({
      id: "tunables",
      attempt:
        "writes kernel settings: host name, core_pattern, modprobe, sysrq, overcommit, binfmt_misc",
      promise: "none can be written",
      control: needsRoot,
      code: `
for path in ["kernel/hostname", "kernel/core_pattern", "kernel/modprobe", "kernel/sysrq", "kernel/randomize_va_space", "vm/overcommit_memory", "vm/drop_caches", "fs/file-max", "fs/suid_dumpable", "net/ipv4/ip_forward"]:
    way(path, lambda: writable("/proc/sys/" + path))
way("sysrq-trigger", lambda: writable("/proc/sysrq-trigger"))
def every():
    for folder, _, files in os.walk("/proc/sys"):
        for name in files:
            try: writable(os.path.join(folder, name))
            except OSError: continue
            return True
    return False
way("any of all", every)
way("binfmt_misc", lambda: writable("/proc/sys/fs/binfmt_misc/register"))`,
    }),
    probe({
      id: "sysfs",
      attempt: "writes anything to /sys, uevent_helper first",
      promise: "it is absent, or nothing in it can be written",
      control: needsRoot,
      code: `
def every():
    looked = 0
    for top in ["/sys/kernel", "/sys/fs", "/sys/module", "/sys/power", "/sys/block", "/sys/class/net"]:
        for folder, folders, files in os.walk(top):
            for name in files:
                looked += 1
                try: writable(os.path.join(folder, name))
                except OSError: continue
                return True
            if looked > 20_000: return False
    return False
way("uevent_helper", lambda: writable("/sys/kernel/uevent_helper"))
way("any of all", every)`,
    }),
    probe({
      id: "kernel-memory",
      attempt: "reads memory, messages and symbol addresses of the kernel",
      promise: "nothing can be read",
      control: needsRoot,
      code: `
for path in ["/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/proc/kcore", "/proc/kmsg"]:
    way(path, lambda: open(path, "rb").read(1) != b"" )
def addresses():
    return any(int(line.split()[0], 16) != 0 for line in open("/proc/kallsyms"))
way("kallsyms", addresses)
way("syslog", lambda: call("syslog", 3, ctypes.create_string_buffer(100), 100))`,
    }),
    probe({
      id: "cgroup-escape",
      attempt:
        "leaves its control group: with release_agent, new groups, or by mounting the hierarchy",
      promise: "no control group can be written or mounted",
      control: {
        where: "namespace",
        except: ["v1 release_agent", "any file", "a new group", "cgroup v1"],
      },
      code: `
def every(suffix=""):
    for folder, _, files in os.walk("/sys/fs/cgroup"):
        for name in files:
            if not name.endswith(suffix): continue
            try: writable(os.path.join(folder, name))
            except OSError: continue
            return True
    return False
def grouped():
    for folder, _, _ in os.walk("/sys/fs/cgroup"):
        try: os.mkdir(os.path.join(folder, "escape"))
        except OSError: continue
        os.rmdir(os.path.join(folder, "escape"))
        return True
    return False
os.makedirs("m", exist_ok=True)
way("v1 release_agent", lambda: every("release_agent"))
way("any file", every)
way("a new group", grouped)
way("cgroup v1", lambda: alone() or call("mount", b"none", b"m", b"cgroup", 0, b"memory"))
way("cgroup v2", lambda: alone() or call("mount", b"none", b"m", b"cgroup2", 0, 0))`,
    }),
    probe({
      id: "administration",
      attempt:
        "tries what only root may: modules, kexec, reboot, swap, accounting, quotas, bpf, files by handle",
      promise: "each is refused",
      control: needsRoot,
      code: `
# None of these would do anything if it were permitted: what they are given is not valid.
way("init_module", lambda: privileged("init_module", 0, 0, b""))
way("finit_module", lambda: privileged("finit_module", -1, b"", 0))
way("delete_module", lambda: privileged("delete_module", b"no such module", 0))
way("kexec_load", lambda: privileged("kexec_load", 0, 99, 0, 0))
way("kexec_file_load", lambda: privileged("kexec_file_load", -1, -1, 0, b"", 0))
way("reboot", lambda: privileged("reboot", 0, 0, 0, 0))
way("swapon", lambda: privileged("swapon", b"/nothing", 0))
way("swapoff", lambda: privileged("swapoff", b"/nothing"))
way("acct", lambda: privileged("acct", b"/nothing"))
way("quotactl", lambda: privileged("quotactl", 0, b"/nothing", 0, 0))
way("bpf", lambda: privileged("bpf", 5, 0, 0))
way("open_by_handle_at", lambda: privileged("open_by_handle_at", -1, ctypes.create_string_buffer(64), 0))`,
    }),
    probe({
      id: "clock",
      attempt: "sets and queries the clock",
      promise: "refused",
      control: { where: "outside", except: ["settimeofday", "clock_settime"] },
      code: `
way("settimeofday", lambda: privileged("settimeofday", 0, 0))
way("clock_settime", lambda: privileged("clock_settime", 0, 0))
way("adjtimex", lambda: call("adjtimex", ctypes.create_string_buffer(256)))
way("clock_adjtime", lambda: call("clock_adjtime", 0, ctypes.create_string_buffer(256)))`,
    }),
    probe({
      id: "host-name",
      attempt: "changes the host name",
      promise: "refused",
      control: { where: "namespace" },
      code: `
way("sethostname", lambda: call("sethostname", b"mine", 4))
way("setdomainname", lambda: call("setdomainname", b"mine", 4))`,
    }),
  ],
};
