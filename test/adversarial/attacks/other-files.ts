import type { Category } from "../support/attack.ts";
import { probe } from "../support/attack.ts";

const outside = { where: "outside" } as const;

export const otherFiles: Category = {
  title: "Files of other sessions",
  attacks: [
    probe({
      id: "other-session-paths",
      attempt:
        "opens a file of another session by its path, through links, and from the parent folder",
      promise: "no path leads to another session",
      control: outside,
      code: `
secret, name = given["secret"], os.path.basename(given["secret"])
def by_link(target):
    os.symlink(target, "link"); open("link").read()
    os.unlink("link")
def by_parent():
    here = os.open(given["workspace"], os.O_RDONLY)
    os.open("../run_b/" + name, os.O_RDONLY, dir_fd=here)
way("path", lambda: open(secret).read())
way("absolute link", lambda: by_link(secret))
way("relative link", lambda: by_link("../../run_b/" + name))
way("folder above", by_parent)
way("hard link", lambda: os.link(secret, "hard"))
way("listing above", lambda: "run_b" in os.listdir(given["workspace"] + "/.."))`,
    }),
    probe({
      id: "other-session-by-proc",
      attempt:
        "reaches for host files through root, current folder and mappings of other processes",
      promise: "no visible process has another root",
      control: outside,
      code: `
one = first()
for each in ["root", "cwd/" + "../" * 20]:
    way(each[:4], lambda: open(f"/proc/{one}/{each}/{given['hostFile']}").read())
way("listing", lambda: os.listdir(f"/proc/{one}/root"))
way("mappings", lambda: os.listdir(f"/proc/{one}/map_files"))`,
    }),
    probe({
      id: "file-handles",
      attempt: "uses file handles, which bypass folder permissions",
      promise: "handles can be neither created nor opened",
      control: { where: "outside" },
      code: `
handle, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.c_int()
way("name_to_handle_at", lambda: call("name_to_handle_at", -100, given["workspace"].encode(), handle, ctypes.byref(mount), 0))`,
    }),
    probe({
      id: "host-files",
      attempt:
        "looks for host files: accounts, home folders, secrets of services, a public file in /tmp",
      promise: "they are not visible",
      control: {
        where: "outside",
        except: ["/etc/shadow content", "/var/run/secrets", "/home/user"],
      },
      code: `
for path in ["/etc/passwd", "/etc/shadow", "/var/log", "/home/user", "/var/run/secrets", given["hostFile"], given["elsewhere"]]:
    way(path if path.count("/") < 3 or "secrets" in path else "a file of this test " + str(path == given["hostFile"]), lambda: os.stat(path))
way("/etc/shadow content", lambda: open("/etc/shadow").read())`,
    }),
    probe({
      id: "system-files",
      attempt: "changes the interpreter, the C library, and the loader's files",
      promise: "the system is read-only",
      control: { where: "none", why: "they belong to root on every machine" },
      code: `
for path in [os.__file__, json.__file__, sys.executable, os.path.realpath("/proc/self/exe"), "/proc/self/exe", "/bin/sh", "/etc/ld.so.cache", "/etc/ld.so.conf"]:
    way("write " + path, lambda: writable(path))
for path in ["/etc/ld.so.preload", "/etc/passwd", "/usr/lib/x", "/usr/local/lib/x", "/usr/bin/x", "/bin/x", "/x", "/dev/x", "/proc/x"]:
    way("make " + path, lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)))
way("rename /usr", lambda: os.rename("/usr", "/usr2"))
way("agent's program", lambda: writable("/proc/1/exe"))`,
    }),
    probe({
      id: "descriptors",
      attempt: "looks for file descriptors that the toolhost left open",
      promise: "only the three standard streams and the result are open",
      control: { where: "within", why: "the standard streams are open" },
      code: `
def held():
    found = {}
    for fd in os.listdir("/proc/self/fd"):
        try: found[int(fd)] = os.readlink("/proc/self/fd/" + fd)
        except FileNotFoundError: pass
    return found
def foreign():
    mine = held()
    assert 0 in mine and 1 in mine and 2 in mine
    return any(fd > 4 and what != "/dev/null" and not what.startswith(("pipe:", "/proc/")) for fd, what in mine.items())
way("more than three", foreign)
way("another file than pipes", lambda: any(held()[fd] not in ("/dev/null",) and not held()[fd].startswith("pipe:") for fd in (0, 1, 2)))`,
    }),
  ],
};
