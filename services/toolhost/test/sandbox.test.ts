import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { chmod, chown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probeBubblewrap } from "../src/adapters/bubblewrap/probe-bubblewrap.ts";
import type { ExecOutcome } from "../src/app/collect-exec.ts";
import { collectExec } from "../src/app/collect-exec.ts";
import type { Sandbox } from "../src/ports/sandbox.ts";

const never = new AbortController().signal;
const uid = 64_017;
const user = process.getuid?.() === 0 ? { uid, gid: uid } : undefined;
const folder = mkdtempSync(join(tmpdir(), "reeve-sandbox-"));
const workspace = join(folder, "mine");
const neighbour = join(folder, "theirs");
let sandbox: Sandbox;

beforeAll(async () => {
  await chmod(folder, 0o711);
  for (const path of [workspace, neighbour]) {
    await mkdir(path, { mode: 0o700 });
    if (user !== undefined) await chown(path, user.uid, user.gid);
  }
  await writeFile(join(neighbour, "secret.txt"), "theirs", { mode: 0o644 });
  const probe = await probeBubblewrap(folder, user, never);
  if (probe.kind === "unusable") throw new Error(`${probe.why}; ${probe.fix}`);
  sandbox = probe.driver.open(workspace);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Attempt {
  readonly timeoutMs?: number;
  readonly outputBytes?: number;
  readonly signal?: AbortSignal;
}

function python(code: string, attempt: Attempt = {}): Promise<ExecOutcome> {
  const { timeoutMs = 20_000, outputBytes = 1_000_000, signal = never } = attempt;
  const argv = ["/usr/bin/python3", "-I", "-c", code];
  return collectExec(sandbox.exec({ argv, stdin: "", timeoutMs, outputBytes }, signal));
}

/** What Python prints for `expression`, or the name of the error that it raises. */
async function tried(expression: string, setup = ""): Promise<string> {
  const code = `${setup}
try:
    print(${expression})
except BaseException as error:
    print(type(error).__name__, getattr(error, "errno", ""))`;
  return (await python(code)).text("stdout").trim();
}

describe("code in a sandbox", () => {
  test("works with the files of its workspace", async () => {
    expect((await python("open('a.txt', 'w').write('mine')")).end).toMatchObject({
      reason: "exit",
      code: 0,
    });
    expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("mine");
  });

  test("sees neither the host's files nor another workspace", async () => {
    for (const path of [
      "/etc/shadow",
      "/etc/passwd",
      "/root",
      folder,
      join(neighbour, "secret.txt"),
      process.cwd(),
    ]) {
      expect(await tried(`__import__('os').stat('${path}')`)).toMatch(/^FileNotFoundError/);
    }
  });

  test("cannot reach the host by a link in its workspace", async () => {
    await symlink(join(neighbour, "secret.txt"), join(workspace, "link.txt"));
    expect(await tried("open('link.txt').read()")).toMatch(/^FileNotFoundError/);
  });

  test("is not root, and has no capabilities", async () => {
    expect(await tried("__import__('os').getuid()")).toBe("1000");
    const status =
      "[line for line in open('/proc/self/status') if line.startswith(('CapEff', 'NoNewPrivs', 'Seccomp:'))]";
    const said = await tried(status);
    expect(said).toContain("0000000000000000");
    expect(said).toContain("NoNewPrivs:\\t1");
    expect(said).toContain("Seccomp:\\t2");
  });

  test("finds no environment of the service, in its own or in its parent's", async () => {
    const environments = "[open(f'/proc/{p}/environ').read() for p in (1, 'self')]";
    const said = await tried(environments);
    expect(said).not.toMatch(/REEVE|OPENAI|NODE|npm|SECRET/i);
  });

  test("reaches no network: not the host's loopback, not the world", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    try {
      await new Promise((resolve) => server.once("listening", resolve));
      const { port } = server.address() as AddressInfo;
      const connect = `__import__('socket').create_connection(('127.0.0.1', ${port}), 2)`;
      expect(await tried(connect)).toMatch(/^ConnectionRefusedError/);
      expect(await tried("__import__('socket').create_connection(('192.0.2.1', 80), 2)")).toMatch(
        /^OSError 101/,
      );
    } finally {
      server.close();
    }
  });

  test("cannot write to the system, nor change the kernel's settings", async () => {
    for (const path of ["/usr/x", "/bin/x", "/etc/x", "/x", "/proc/sys/kernel/hostname"]) {
      expect(await tried(`open('${path}', 'w')`)).toMatch(/^(OSError 30|PermissionError)/);
    }
  });

  test.each([
    ["unshare", "libc.unshare(0x10000000)"],
    ["mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)"],
    ["ptrace", "libc.ptrace(16, 1, 0, 0)"],
    ["bpf", "libc.syscall(321, 0, 0, 0)"],
    ["io_uring_setup", "libc.syscall(425, 1, 0)"],
    ["keyctl", "libc.syscall(250, 0, 0)"],
    ["a namespace by clone", "libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)"],
  ])("is refused the system call %s", async (_, call) => {
    const setup = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)";
    expect(await tried(`(${call}, ctypes.get_errno())`, setup)).toBe("(-1, 1)");
  });

  test("is refused raw and netlink sockets", async () => {
    expect(await tried("__import__('socket').socket(16, 3, 0)")).toMatch(/^OSError 97/);
    expect(await tried("__import__('socket').socket(17, 3, 0)")).toMatch(/^OSError 97/);
  });

  test("ends at its time limit with all that it started, however detached and deaf", async () => {
    const code = `import os, signal, time
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open("alive.txt", "w").write(str(time.time()))
            time.sleep(0.01)
while True: time.sleep(1)`;
    const outcome = await python(code, { timeoutMs: 700 });
    expect(outcome.end.reason).toBe("timeout");
    const last = await readFile(join(workspace, "alive.txt"), "utf8");
    await python("import time; time.sleep(0.2)");
    expect(await readFile(join(workspace, "alive.txt"), "utf8")).toBe(last);
  });

  test("ends when it writes more than is kept", async () => {
    const outcome = await python("while True: print('x' * 1000)", { outputBytes: 100_000 });
    expect(outcome.end.reason).toBe("output_limit");
    expect(outcome.bytes("stdout").length).toBeLessThanOrEqual(100_000);
  });

  test("ends when the call is cancelled, at whatever moment, and leaves nothing behind", async () => {
    const sleeping = "import time; time.sleep(60)";
    const waits = Array.from({ length: 40 }, (_, index) => index / 2);
    const ends = await Promise.all(
      waits.map(async (waitMs) => {
        const stop = new AbortController();
        const running = python(sleeping, { signal: stop.signal });
        setTimeout(() => stop.abort(), waitMs);
        return (await running).end.reason;
      }),
    );
    expect(new Set(ends)).toEqual(new Set(["cancelled"]));
    const left = execFileSync("ps", ["-eo", "args"]).toString();
    expect(left.split("\n").filter((line) => line.includes(workspace))).toEqual([]);
  });

  test("gets no more memory, processes and file than its limits", async () => {
    expect(await tried("len(bytearray(4 * 1024**3))")).toMatch(/^MemoryError/);
    const forks = `import os
made = 0
try:
    while made < 2000:
        if os.fork() == 0:
            os.pause() if hasattr(os, "pause") else __import__("time").sleep(60)
        made += 1
except OSError:
    pass`;
    const outcome = await python(`${forks}\nprint(made < 2000, flush=True)\nos._exit(0)`);
    expect(outcome.text("stdout").trim()).toBe("True");
    const large = "f = open('large', 'wb'); f.truncate(1024**3)";
    expect(
      (await python(`import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); ${large}`)).text(
        "stderr",
      ),
    ).toContain("File too large");
  });

  test("is not misled by modules that lie in the workspace", async () => {
    await writeFile(join(workspace, "json.py"), "raise SystemExit('hijacked')");
    expect(await tried("__import__('json').dumps([1])")).toBe("[1]");
  });
});
