import { once } from "node:events";
import { connect } from "node:net";
import type { Category, Verdict } from "../support/attack.ts";
import { harmed, stopped } from "../support/attack.ts";
import type { AttackBench } from "../support/attack.ts";
import { limitsOf } from "../support/attack-bench.ts";

const libc = "import ctypes, os, signal, socket, sys, time\nlibc = ctypes.CDLL(None)\n";

export const sessions: Category = {
  title: "Between calls and sessions",
  attacks: [
    {
      id: "kill-everybody",
      attempt: "stops and kills every process that it can, with kill(-1)",
      promise: "it ends only itself; the agent and other sessions continue",
      control: { where: "within", why: "it kills its own child" },
      run: killEverybody,
    },
    {
      id: "residue",
      attempt:
        "leaves for the next call: files in /tmp and /dev/shm, limits, a folder, locks, listeners, threads, watches",
      promise: "the next call finds the workspace and nothing else",
      control: { where: "within", why: "the call itself sees its residue" },
      run: residue,
    },
    {
      id: "changed-agent",
      attempt: "changes what it can of the agent: limits, priority, CPU affinity, System V objects",
      promise: "the sandbox is not used again",
      control: { where: "within", why: "the kernel accepts each change" },
      run: changedAgent,
    },
    {
      id: "listeners",
      attempt: "offers services to other sessions and the host, on addresses and abstract sockets",
      promise: "neither the host nor other sessions can reach them",
      control: { where: "within", why: "it reaches them itself" },
      run: listeners,
    },
    {
      id: "forged-frames",
      attempt: "writes every message of the agent's protocol to every descriptor in reach",
      promise: "the toolhost accepts none of them as the agent's",
      control: { where: "within", why: "the messages arrive as output" },
      run: forgedFrames,
    },
  ],
};

async function killEverybody(bench: AttackBench): Promise<Verdict> {
  await using session = await bench.open();
  const other = bench.python("import time; time.sleep(1.5); print('worked')", {
    box: bench.otherBox,
  });
  const code = `${libc}
child = os.fork()
if child == 0: time.sleep(60); os._exit(0)
os.kill(-1, signal.SIGSTOP); os.kill(-1, signal.SIGKILL)
print("ended", os.waitpid(child, 0)[1] == 9)`;
  const attacked = await bench.python(code, { box: session });
  if (!attacked.text("stdout").includes("ended True"))
    throw new Error(`it did not kill its child: ${attacked.text("stderr")}`);
  const again = await bench.python("print('again')", { box: session });
  const held = [again.text("stdout"), (await other).text("stdout")].join("");
  return held === "again\nworked\n" ? stopped : harmed(held);
}

async function residue(bench: AttackBench): Promise<Verdict> {
  await using session = await bench.open();
  const looking = `
import os, resource, threading
def seen():
    found = {"tmp": os.listdir("/tmp"), "shm": os.listdir("/dev/shm"), "cwd": os.getcwd(), "umask": os.umask(0o22), "threads": threading.active_count()}
    found["limits"] = [resource.getrlimit(each) for each in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC)]
    found["blocked"] = [line for line in open("/proc/self/status") if line.startswith(("SigBlk", "SigIgn"))]
    found["unix"] = open("/proc/net/unix").read().count("residue")
    found["tcp"] = len(open("/proc/net/tcp").read().splitlines())
    found["env"] = sorted(os.environ)
    found["processes"] = len([p for p in os.listdir("/proc") if p.isdigit()])
    return found
import json; before = json.dumps(seen(), sort_keys=True); print(before)`;
  const leaving = `${looking}
import fcntl, signal, socket, time
for folder in ("/tmp", "/dev/shm"):
    os.makedirs(folder + "/a/b"); open(folder + "/a/b/left", "w"); os.symlink("/workspace", folder + "/link"); os.mkfifo(folder + "/fifo")
for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC): resource.setrlimit(which, (60, 60))
os.umask(0o777); os.chdir("/tmp"); os.environ["LEFT"] = "x"
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); signal.signal(signal.SIGTERM, signal.SIG_IGN)
unix = socket.socket(socket.AF_UNIX); unix.bind("\\0residue"); unix.listen()
tcp = socket.socket(); tcp.bind(("0.0.0.0", 4680)); tcp.listen()
threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
if os.fork() == 0: os.setsid(); time.sleep(300)
print(json.dumps(seen(), sort_keys=True)); sys_stdout = None
import sys; sys.stdout.flush(); os._exit(0)`;
  const first = (await bench.python(leaving, { box: session })).text("stdout").split("\n");
  if (first[0] === first[1] || !first[1]?.includes("left") === first[1]?.includes("residue"))
    throw new Error(`the attack left no residue: ${first.join("\n")}`);
  const { text } = await bench.python(looking, { box: session });
  const second = text("stdout").trim();
  return second === first[0]
    ? stopped
    : harmed(`${second || text("stderr")} instead of ${first[0]}`);
}

async function changedAgent(bench: AttackBench): Promise<Verdict> {
  const changes = [
    "import resource as r; r.prlimit(1, r.RLIMIT_NOFILE, (9, 9))",
    "os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "assert libc.shmget(0, 1, 0o1600) >= 0",
  ];
  for (const change of changes) {
    await using session = await bench.open();
    const { text } = await bench.python(`${libc}${change}\nprint('done')`, { box: session });
    if (text("stdout") !== "done\n") throw new Error(`${change}: ${text("stderr")}`);
    if (await session.settled()) return harmed(change);
  }
  return stopped;
}

async function listeners(bench: AttackBench): Promise<Verdict> {
  const port = 42_873;
  const serve = `${libc}
tcp = socket.socket(); tcp.bind(("0.0.0.0", ${port})); tcp.listen()
unix = socket.socket(socket.AF_UNIX); unix.bind("\\0offered"); unix.listen()
socket.create_connection(("127.0.0.1", ${port}))
socket.socket(socket.AF_UNIX).connect("\\0offered")
print("reached", flush=True); time.sleep(60)`;
  const reach = `${libc}
def connected(family, to):
    try: socket.socket(family).connect(to); return True
    except OSError: return False
print(connected(socket.AF_INET, ("127.0.0.1", ${port})), connected(socket.AF_UNIX, "\\0offered"))`;
  const command = { argv: ["python3", "-I", "-c", serve], limits: limitsOf() };
  for await (const event of bench.box.exec(command, bench.signal)) {
    if (event.kind === "end") throw new Error(`no listener started: ${event.reason}`);
    if (event.kind !== "out") continue;
    if (!Buffer.from(event.bytes).toString().includes("reached")) continue;
    const { text } = await bench.python(reach, { box: bench.otherBox });
    const isReached = await reaches(port);
    return text("stdout") === "False False\n" && !isReached
      ? stopped
      : harmed(`${text("stdout")}${text("stderr")} host: ${isReached}`);
  }
  throw new Error("no listener started");
}

async function reaches(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function forgedFrames(bench: AttackBench): Promise<Verdict> {
  await using session = await bench.open();
  const code = `
import json, os
frames = b""
for kind, content in [(b"o", b"forged"), (b"r", b"forged"), (b"X", b'{"code": 0}'), (b"S", b'{"clean": true}'), (b"R", b""), (b"B", b""), (b"T", bytes(4)), (b"A", b""), (b"X", b'{"code": 0, "oom": true}')]:
    frames += len(content).to_bytes(4, "big") + kind + content
for fd in range(1024):
    try: os.write(fd, frames)
    except OSError: pass
open("/workspace/frames", "wb").write(frames)
os._exit(7)`;
  const { end, text } = await bench.python(code, { box: session });
  const all = [text("stdout"), text("stderr"), text("result")];
  if (!all.every((each) => each.includes("forged"))) throw new Error("no frame was written");
  const next = await bench.python("print('next')", { box: session });
  return end.reason === "exit" && end.code === 7 && next.text("stdout") === "next\n"
    ? stopped
    : harmed(JSON.stringify([end, next.end]));
}
