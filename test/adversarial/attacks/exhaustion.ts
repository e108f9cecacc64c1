import type { EndReason } from "@reeve/sandbox/port";
import type { Attack, Category, Control } from "../support/attack.ts";
import { bounded, harmed } from "../support/attack.ts";
import type { AttackBench, PythonOptions } from "../support/attack.ts";
import { limitsOf } from "../support/attack-bench.ts";

const mebibyte = 2 ** 20;
const within: Control = {
  where: "within",
  why: "the attack reports how far it came, or is ended with the matching reason",
};

interface Exhaustion extends Pick<Attack, "id" | "attempt" | "promise" | "admitted" | "needs"> {
  readonly code: string;
  readonly limits?: PythonOptions["limits"];
  /** Permitted end reasons. With `exit`, the code must print `bounded`. */
  readonly ends: readonly EndReason[];
  /** Code that another session runs meanwhile. It must print 42. Default: a computation. */
  readonly other?: string;
}

/** Creates an attack that exhausts a resource. Another session and the next call of the same session must still work. */
function exhaustion({
  code,
  limits = {},
  ends,
  other: work = "print(6 * 7)",
  ...attack
}: Exhaustion): Attack {
  return {
    ...attack,
    control: within,
    run: async (bench) => {
      const used = bench.python(code, { limits });
      const other = await bench.python(work, { box: bench.otherBox });
      const { end, text } = await used;
      const printed = `${text("stdout").slice(-500)}${text("stderr").slice(-500)}`;
      if (other.text("stdout") !== "42\n")
        return harmed(`another session: ${other.text("stderr")}`);
      const next = await bench.python("print('next')");
      if (next.text("stdout") !== "next\n") return harmed(`the next call: ${next.text("stderr")}`);
      if (!ends.includes(end.reason)) return harmed(`it ended by ${end.reason} ${printed}`);
      if (end.reason === "exit" && !printed.includes("bounded")) return harmed(printed);
      await clear(bench);
      return bounded;
    },
  };
}

async function clear(bench: AttackBench): Promise<void> {
  const argv = ["/bin/sh", "-c", "chmod -R u+rwx . 2>/dev/null; rm -rf ./* ./.[!.]*"];
  for await (const _ of bench.box.exec({ argv, limits: limitsOf() }, bench.signal));
}

/** Why neither driver stops these attacks. */
const unmeasured =
  "deleted open files are in no folder that could be measured; they are gone with the call. A file system with a quota limits them";
const shared =
  "the kernel counts inotify instances per user, and all sandboxes of a machine share one user; raise fs.inotify.max_user_instances";

export const exhaustions: Category = {
  title: "Resource exhaustion",
  attacks: [
    exhaustion({
      id: "fork-bomb",
      attempt: "forks endlessly, with children that also fork and are never reaped",
      promise: "64 processes at most, and all of them are gone at the end",
      code: `
import os, time
made = 0
try:
    while made < 5_000:
        pid = os.fork()
        if pid == 0:
            try:
                while True: os.fork()
            except OSError: time.sleep(30)
            os._exit(0)
        made += 1
except OSError as error:
    print("bounded", made, error.errno) if made < 64 else print("made", made)`,
      ends: ["exit"],
    }),
    exhaustion({
      id: "threads",
      attempt: "starts threads endlessly",
      promise: "they count as processes",
      code: `
import threading, time
try:
    for n in range(5_000): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
except RuntimeError: print("bounded", n, flush=True)
import os; os._exit(0)`,
      ends: ["exit"],
    }),
    exhaustion({
      id: "memory",
      attempt: "fills memory in one process",
      promise: "the memory of a call is limited, and the result says so",
      code: `
try: print("filled", len([bytearray(2 ** 20) for _ in range(2_000)]))
except MemoryError: print("bounded")`,
      limits: { memoryBytes: 128 * mebibyte },
      // If memory is limited for each process only, the interpreter raises MemoryError first.
      ends: ["oom", "exit"],
    }),
    exhaustion({
      id: "shared-pages",
      needs: "memory",
      attempt: "fills memory by files in memory, pipes and many processes",
      promise: "the limit applies to all of it together",
      code: `
import os, time
held = []
for _ in range(8):
    fd = os.memfd_create("x"); held.append(fd)
    for _ in range(40): os.write(fd, bytes(2 ** 20))
    if os.fork() == 0: time.sleep(30); os._exit(0)
print("filled")`,
      limits: { memoryBytes: 128 * mebibyte },
      ends: ["oom", "sandbox_lost"],
    }),
    exhaustion({
      id: "temporary-files",
      attempt: "fills /tmp and /dev/shm",
      promise: "both have a size limit, and their content counts as memory",
      code: `
def filled(folder):
    written = 0
    try:
        with open(folder + "/x", "wb") as file:
            while written < 2 ** 30: written += file.write(bytes(2 ** 20)); file.flush()
    except OSError as error: return error.errno == 28
print("bounded" if filled("/dev/shm") and filled("/tmp") else "filled")`,
      ends: ["exit", "oom"],
    }),
    exhaustion({
      id: "disk",
      attempt: "fills the workspace with many files",
      promise: "the workspace has a size limit; the call is ended",
      code: `
import time
for n in range(200): open(f"part{n}", "wb").write(bytes(2 ** 20))
time.sleep(60)`,
      limits: { workspaceBytes: 20 * mebibyte },
      ends: ["disk_limit"],
    }),
    exhaustion({
      id: "inodes",
      attempt: "creates empty files and links endlessly",
      promise: "their number is limited; the call is ended",
      code: `
import os, time
for n in range(1_500): open(f"f{n}", "w").close()
for n in range(1_500): os.link("f1", f"l{n}")
time.sleep(60)`,
      limits: { workspaceFiles: 1_000 },
      ends: ["disk_limit"],
    }),
    exhaustion({
      id: "hidden-files",
      attempt: "fills folders that it has made unreadable",
      promise: "what cannot be measured does not count as empty",
      code: `
import os, time
os.mkdir("closed"); os.mkdir("closed/deep")
for n in range(60): open(f"closed/deep/{n}", "wb").write(bytes(2 ** 20))
os.chmod("closed", 0)
time.sleep(8)
print("not noticed")`,
      limits: { workspaceBytes: 20 * mebibyte },
      ends: ["disk_limit"],
    }),
    exhaustion({
      id: "deleted-files",
      attempt: "fills deleted files that it keeps open",
      promise: "they are measured as well",
      code: `
import os, time
held = []
for n in range(60):
    held.append(open(f"gone{n}", "wb")); os.unlink(f"gone{n}"); held[-1].write(bytes(2 ** 20)); held[-1].flush()
time.sleep(3)
print("not noticed")`,
      limits: { workspaceBytes: 20 * mebibyte },
      ends: ["disk_limit"],
      admitted: {
        bubblewrap: unmeasured,
        docker: unmeasured,
      },
    }),
    exhaustion({
      id: "large-file",
      attempt: "creates one file above the size limit, written and sparse",
      promise: "the kernel refuses",
      code: `
import errno, os
fd = os.open("large", os.O_WRONLY | os.O_CREAT)
try: os.ftruncate(fd, 2 ** 40); print("sparse")
except OSError as error: first = error.errno
try: os.pwrite(fd, b"x", 2 ** 40); print("written")
except OSError as error: print("bounded" if first == error.errno == errno.EFBIG else "other")`,
      ends: ["exit", "signal"],
    }),
    exhaustion({
      id: "file-descriptors",
      attempt: "opens files and pipes endlessly",
      promise: "1,024 per process at most",
      code: `
import os, socket
held = []
try:
    while len(held) < 100_000: held += os.pipe()
except OSError as error: print("bounded" if len(held) < 1_024 and error.errno == 24 else len(held))`,
      ends: ["exit"],
    }),
    exhaustion({
      id: "processor-time",
      attempt: "computes endlessly in many processes",
      promise: "the call ends at its time limit, and others continue to work",
      code: `
import os
for _ in range(20):
    if os.fork() == 0: break
while True: pass`,
      limits: { timeoutMs: 1_500 },
      ends: ["timeout"],
    }),
    exhaustion({
      id: "watches",
      attempt: "takes all inotify instances that the kernel gives to one user",
      promise: "other sessions keep theirs",
      code: `
import ctypes, time
libc = ctypes.CDLL(None)
taken = 0
while libc.inotify_init() >= 0 and taken < 900: taken += 1
print("bounded", taken, flush=True)
time.sleep(3)`,
      other: `
import ctypes, os, time
libc = ctypes.CDLL(None)
for _ in range(40):
    watch = libc.inotify_init()
    if watch < 0: print("no watches"); break
    os.close(watch); time.sleep(0.05)
else: print(42)`,
      ends: ["exit"],
      admitted: { bubblewrap: shared, docker: shared },
    }),
  ],
};
