import type { Category } from "../support/attack.ts";
import { probe } from "../support/attack.ts";

const namespace = { where: "namespace" } as const;

export const namespaces: Category = {
  title: "Namespaces, mounts, and privileges",
  attacks: [
    probe({
      id: "new-namespaces",
      attempt: "creates namespaces with unshare, clone and clone3, to be root there",
      promise: "none can be created, by any call",
      control: { differs: "kernels without time namespaces", where: "outside" },
      code: `
USER = 0x10000000
FLAGS = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0, "pid": 0x20000000, "net": 0x40000000, "time": 0x80}
def cloned():
    pid = call("clone", USER | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
def cloned3():
    arguments = struct.pack("8Q", USER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call("clone3", arguments, len(arguments))
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
for name, flag in FLAGS.items():
    way("unshare " + name, lambda: call("unshare", USER | flag))
way("clone", cloned)
way("clone3", cloned3)
way("unshare, with bits above", lambda: call("unshare", USER | 1 << 40) if given["first"] else call("unshare", USER))`,
    }),
    probe({
      id: "entering-namespaces",
      attempt: "enters namespaces: the agent's and its own",
      promise: "refused",
      control: namespace,
      code: `
one = first() if given["first"] else "self"
for kind in ["mnt", "net", "ipc", "uts"]:
    way(kind, lambda: call("setns", os.open(f"/proc/{one}/ns/{kind}", os.O_RDONLY), 0))
    way("own " + kind, lambda: call("setns", os.open(f"/proc/self/ns/{kind}", os.O_RDONLY), 0))`,
    }),
    probe({
      id: "mounts",
      attempt: "mounts, remounts and unmounts, with the old and the new system calls",
      promise: "the mounts do not change",
      control: { where: "namespace", except: ["remount of /", "remount of /usr"] },
      code: `
os.makedirs("m", exist_ok=True)
def mount(*arguments): alone(); call("mount", *arguments)
RDONLY, REMOUNT, BIND, REC, MOVE = 1, 32, 4096, 16384, 8192
def unmounted():
    alone()
    try: call("mount", b"none", b"m", b"tmpfs", 0, 0)
    except OSError: pass
    call("umount2", b"m" if not given["first"] else b"/tmp", 2)
way("tmpfs", lambda: mount(b"none", b"m", b"tmpfs", 0, 0))
way("bind", lambda: mount(b"/tmp", b"m", 0, BIND | REC, 0))
way("proc", lambda: mount(b"none", b"m", b"proc", 0, 0))
way("remount of /", lambda: mount(b"none", b"/", 0, REMOUNT | BIND, 0))
way("remount of /usr", lambda: mount(b"none", b"/usr", 0, REMOUNT | BIND, 0))
way("propagation", lambda: mount(b"none", b"/", 0, REC | 1 << 20, 0))
way("unmounting", unmounted)
way("fsopen", lambda: call("fsopen", b"tmpfs", 0))
way("open_tree", lambda: call("open_tree", -100, b"/tmp", 1 | 0x8000 | os.O_CLOEXEC))
way("mount_setattr", lambda: alone() or call("mount_setattr", -100, b"/proc", 0, struct.pack("4Q", 2, 0, 0, 0), 32))
way("fspick", lambda: call("fspick", -100, b"/proc", 0))`,
    }),
    probe({
      id: "another-root",
      attempt: "leaves its root with chroot and pivot_root",
      promise: "refused",
      control: namespace,
      code: `
def pivoted():
    os.makedirs("root", exist_ok=True)
    alone()
    try:
        call("mount", b"none", b"/", 0, 16384 | 1 << 18, 0)
        call("mount", b"none", b"root", b"tmpfs", 0, 0)
    except OSError: pass
    os.makedirs("root/old", exist_ok=True)
    call("pivot_root", b"root", b"root/old")
way("chroot", lambda: call("chroot", b"/tmp"))
way("pivot_root", pivoted)`,
    }),
    probe({
      id: "devices",
      attempt: "creates devices, opens disks, and looks for unneeded devices in /dev",
      promise: "only a few harmless devices",
      control: {
        where: "outside",
        except: ["mknod block", "mknod char", "disks", "net/tun", "fuse", "kvm"],
      },
      code: `
HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "stdin", "stdout", "stderr", "core", "console", "mqueue"}
import stat
def disks():
    for name in os.listdir("/dev"):
        if stat.S_ISBLK(os.lstat("/dev/" + name).st_mode): open("/dev/" + name, "rb").read(1); return True
    return False
way("mknod block", lambda: os.mknod("block", 0o600 | stat.S_IFBLK, os.makedev(8, 0)))
way("mknod char", lambda: os.mknod("char", 0o600 | stat.S_IFCHR, os.makedev(1, 1)))
way("disks", disks)
for name in ["net/tun", "fuse", "kvm"]:
    way(name, lambda: open("/dev/" + name, "r+b"))
way("others", lambda: bool(set(os.listdir("/dev")) - HARMLESS))`,
    }),
    probe({
      id: "setuid-programs",
      attempt: "runs the setuid programs of the system",
      promise: "they give no privileges",
      control: { differs: "systems without such programs", where: "outside" },
      code: `
import glob, stat
def becomes_root(path):
    # The pipe is full, so that the program waits in its first words, for us to look at it.
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True: os.write(write, bytes(4096))
    except BlockingIOError: pass
    os.set_blocking(write, True)
    child = subprocess.Popen([path, "--help"], stdin=subprocess.DEVNULL, stdout=write, stderr=write)
    try:
        for _ in range(200):
            if state_of(child.pid) in "SZX" and os.readlink(f"/proc/{child.pid}/exe") != os.readlink("/proc/self/exe"): break
            time.sleep(0.01)
        return status_of(child.pid)["Uid"].split()[1] == "0"
    except PermissionError:
        # Only the status of a root process is readable.
        return status_of(child.pid)["Uid"].split()[1] == "0"
    except (FileNotFoundError, ProcessLookupError):
        return False
    finally:
        os.close(read)
        child.kill() if child.poll() is None else None
def any_of_them():
    found = [path for path in glob.glob("/usr/bin/*") + glob.glob("/bin/*") + glob.glob("/usr/sbin/*") if os.stat(path).st_mode & stat.S_ISUID]
    return any(becomes_root(path) for path in found)
way("any", any_of_them)`,
    }),
    probe({
      id: "own-privileges",
      attempt:
        "gives itself privileges: another user id, and process, file and ambient capabilities",
      promise: "no privileges can be gained, and that cannot be undone",
      control: { where: "namespace", except: ["ambient", "no_new_privs cleared", "groups"] },
      code: `
def capable():
    open("f", "w").close()
    os.chmod("f", 0o755)
    os.setxattr("f", "security.capability", struct.pack("<5I", 0x02000001, 0xffffffff, 0, 0xffffffff, 0))
def ambient():
    prctl(47, 2, 21, 0, 0)
def cleared():
    prctl(38, 0, 0, 0, 0)
def status(name, harmless):
    return status_of("self")[name] != harmless
way("setuid", lambda: os.setresuid(0, 0, 0))
way("setgid", lambda: os.setresgid(0, 0, 0))
way("file capabilities", capable)
way("ambient", ambient)
way("no_new_privs cleared", cleared)
way("no_new_privs absent", lambda: status("NoNewPrivs", "1"))
way("no filter", lambda: status("Seccomp", "2"))
for name in ["CapEff", "CapPrm", "CapBnd"]:
    way(name, lambda: status(name, "0" * 16))
way("groups", lambda: bool(set(os.getgroups()) - {os.getgid(), 65534}))`,
    }),
    probe({
      id: "wider-limits",
      attempt: "raises its resource limits or its priority",
      promise: "limits can only be lowered",
      control: { where: "outside", except: ["priority", "real time", "oom score"] },
      code: `
import resource as r
def wider(which):
    soft, hard = r.getrlimit(which)
    if given["first"]:
        try: r.setrlimit(which, (soft, hard + 1 if hard != r.RLIM_INFINITY else hard))
        except ValueError: refuse(errno.EPERM)
    return hard == r.RLIM_INFINITY or hard > 10_000
for name in ["CORE", "FSIZE", "NOFILE", "AS", "CPU"]:
    way(name, lambda: wider(getattr(r, "RLIMIT_" + name)))
way("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
way("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
def protected():
    with open("/proc/self/oom_score_adj", "w") as file: file.write("-900")
way("oom score", protected)`,
    }),
  ],
};
