import { existsSync, globSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BubblewrapDriver } from "../src/adapters/bubblewrap/bubblewrap-driver.ts";
import { sandboxIdentity } from "../src/adapters/bubblewrap/identity.ts";
import { WarmSandboxes } from "../src/adapters/warm-sandboxes.ts";
import type { Collected } from "../src/app/collect.ts";
import { collect } from "../src/app/collect.ts";
import { readText, writeFile as writeInside } from "../src/app/workspace-files.ts";
import type { Sandbox, SandboxLimits } from "../src/ports/sandbox.ts";
import { defaultLimits } from "../src/ports/sandbox.ts";
import { temporaryFolder } from "./support/toolhost.ts";

const signal = AbortSignal.timeout(100_000);
const identity = sandboxIdentity(64_017);
const driver = new BubblewrapDriver(identity);
const report = await driver.probe(signal);
const resources = new AsyncDisposableStack();
const warm = resources.use(new WarmSandboxes(driver, { idleMs: 60_000, mostIdle: 4 }));
const countsMemory = report.works && report.bounds.memory;
const secret = "the-secret-of-the-host";
let folder: string;
let workspace: string;
let sandbox: Sandbox;

// Without bubblewrap there is nothing to attack; the reason is in the name of what is skipped.
const why = report.works ? "" : ` (skipped: ${report.reason})`;

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  await chmod(folder, 0o711);
  for (const run of ["run_a", "run_b"]) {
    await mkdir(join(folder, run), { mode: 0o700 });
    await writeFile(join(folder, run, "secret.txt"), secret);
    for (const path of [run, `${run}/secret.txt`]) {
      await chown(join(folder, path), identity.uid, identity.gid);
    }
  }
  workspace = join(folder, "run_a");
  sandbox = warm.over(workspace);
});

afterAll(() => resources.disposeAsync());

function run(
  argv: readonly string[],
  limits: Partial<SandboxLimits> = {},
  until = signal,
): Promise<Collected> {
  const bounded = { ...defaultLimits, timeoutMs: 20_000, ...limits };
  return collect(sandbox, { argv, limits: bounded }, until);
}

/** Runs Python and gives what it printed, or the last line of its complaint. */
async function python(code: string, limits: Partial<SandboxLimits> = {}): Promise<string> {
  const { text } = await run(["python3", "-I", "-c", code], limits);
  return text("stdout").trim() || (text("stderr").trim().split("\n").at(-1) ?? "");
}

describe.skipIf(!report.works)(`a bubblewrap sandbox${why}`, () => {
  test("runs a command in the workspace, with what it is given", async () => {
    const command = {
      argv: ["/bin/sh", "-c", "pwd; cat; echo lost >&2; exit 3"],
      stdin: Buffer.from("given"),
      limits: { ...defaultLimits, timeoutMs: 20_000 },
    };
    const { end, text } = await collect(sandbox, command, signal);
    expect(end).toMatchObject({ reason: "exit", code: 3 });
    expect(text("stdout")).toBe("/workspace\ngiven");
    expect(text("stderr")).toBe("lost\n");
  });

  test("passes binary output and large input through unchanged", async () => {
    const stdin = Buffer.alloc(3_000_000, Buffer.from([0, 255, 10, 128]));
    const limits = { ...defaultLimits, timeoutMs: 20_000 };
    const chunks: Uint8Array[] = [];
    for await (const event of sandbox.exec({ argv: ["cat"], stdin, limits }, signal)) {
      if (event.kind === "out") chunks.push(event.bytes);
    }
    expect(Buffer.concat(chunks).equals(stdin)).toBe(true);
  });

  test("fails with its source when what it is given breaks off", async () => {
    const stdin = (async function* () {
      yield Buffer.from("half");
      throw new Error("the source broke");
    })();
    const limits = { ...defaultLimits, timeoutMs: 20_000 };
    await expect(collect(sandbox, { argv: ["cat"], stdin, limits }, signal)).rejects.toThrow(
      "the source broke",
    );
  });

  test.each(["/etc/shadow", "/etc/passwd", "/root", "/home", "/var", "/run", "/sys"])(
    "does not have %s of the host",
    async (path) => {
      expect(await python(`import os; print(os.path.exists(${JSON.stringify(path)}))`)).toBe(
        "False",
      );
    },
  );

  test("does not see the workspace of another run, by whatever way", async () => {
    await symlink("../run_b/secret.txt", join(workspace, "up"));
    await symlink(join(folder, "run_b/secret.txt"), join(workspace, "absolute"));
    for (const path of ["up", "absolute", "/proc/1/root" + folder + "/run_b/secret.txt"]) {
      expect(await python(`print(open(${JSON.stringify(path)}).read())`)).toMatch(
        /FileNotFoundError|PermissionError/,
      );
    }
  });

  test("has none of the environment of the toolhost, in no process", async () => {
    const code = `
import glob, os
print(sorted(os.environ))
for path in glob.glob("/proc/[0-9]*/environ"):
    try: print(open(path).read())
    except OSError: pass`;
    process.env["REEVE_TEST_SECRET"] = secret;
    const { text } = await run(["python3", "-I", "-c", code]);
    delete process.env["REEVE_TEST_SECRET"];
    expect(text("stdout")).toContain("['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']");
    expect(text("stdout")).not.toContain(secret);
  });

  test("shows no process but its own", async () => {
    const own =
      "import os; print([p for p in os.listdir('/proc') if p.isdigit()] == ['1', str(os.getpid())])";
    expect(await python(own)).toBe("True");
  });

  test.each(["/usr/x", "/etc/x", "/x", "/dev/x", "/proc/sys/kernel/hostname", "/bin/x"])(
    "cannot write %s",
    async (path) => {
      expect(await python(`open(${JSON.stringify(path)}, "w")`)).toMatch(/Error: /);
    },
  );

  test("has no network, not even to this machine", async () => {
    const server = createServer().listen(0, "0.0.0.0");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    for (const host of ["127.0.0.1", "169.254.169.254", "192.0.2.1"]) {
      const code = `import socket; socket.create_connection((${JSON.stringify(host)}, ${port}), 2)`;
      expect(await python(code)).toMatch(/refused|unreachable/);
    }
    expect(await python("import socket; socket.gethostbyname('example.com')")).toMatch(/gaierror/);
    server.close();
  });

  test.each([
    ["unshare", "libc.unshare(0x10000000)"],
    ["a user namespace by clone", "libc.syscall(SYS['clone'], 0x10000011, 0, 0, 0, 0)"],
    ["mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0)"],
    ["ptrace", "libc.ptrace(0, 0, 0, 0)"],
    ["bpf", "libc.syscall(SYS['bpf'], 0, 0, 0)"],
    ["keyctl", "libc.syscall(SYS['keyctl'], 0, 0, 0)"],
    ["chroot", "libc.chroot(b'/tmp')"],
    ["another personality", "libc.personality(0x0040000)"],
  ])("may not call %s", async (_, call) => {
    expect(await python(`${libc}\nprint(${call}, ctypes.get_errno())`)).toBe("-1 1");
  });

  test("finds io_uring and clone3 missing, and other families of sockets too", async () => {
    const missing = `print([(libc.syscall(n, 0, 0), ctypes.get_errno()) for n in (425, 435)])`;
    expect(await python(`${libc}\n${missing}`)).toBe("[(-1, 38), (-1, 38)]");
    expect(await python("import socket; socket.socket(socket.AF_NETLINK, 3)")).toMatch(/Errno 97/);
    expect(await python("import socket; socket.socketpair(); print('fine')")).toBe("fine");
  });

  test("gains no privileges, and is not root", async () => {
    const status = await python("print(open('/proc/self/status').read())");
    expect(status).toMatch(/^CapEff:\t0000000000000000$/m);
    expect(status).toMatch(/^CapBnd:\t0000000000000000$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    expect(status).not.toMatch(/^Uid:\t0\t/m);
  });

  test("ends with its time, and everything that it started with it", async () => {
    const argv = [
      "/bin/sh",
      "-c",
      "trap '' TERM; (setsid sh -c 'trap \"\" TERM HUP; while :; do date +%s%N > alive; done' &) ; sleep 60",
    ];
    const { end } = await run(argv, { timeoutMs: 500 });
    expect(end.reason).toBe("timeout");
    const alive = join(workspace, "alive");
    const left = await readFile(alive, "utf8");
    // A fresh sandbox over the same workspace: whatever still ran would have written by the time it is up.
    await run(["true"]);
    expect(await readFile(alive, "utf8")).toBe(left);
  });

  test("ends what is left behind when its command ends by itself", async () => {
    const argv = ["/bin/sh", "-c", "(setsid sleep 300 > /dev/null 2>&1 &); echo done"];
    const { end, text } = await run(argv);
    expect(end).toMatchObject({ reason: "exit", code: 0 });
    expect(text("stdout")).toBe("done\n");
  });

  test("ends when nobody wants it any more", async () => {
    const stop = new AbortController();
    const limits = { ...defaultLimits, timeoutMs: 60_000 };
    const argv = ["/bin/sh", "-c", "echo ready; sleep 60"];
    let reason = "";
    for await (const event of sandbox.exec({ argv, limits }, stop.signal)) {
      if (event.kind === "out") stop.abort();
      if (event.kind === "end") ({ reason } = event);
    }
    expect(reason).toBe("cancelled");
  });

  test("leaves nothing behind at whatever moment it is ended", async () => {
    const mark = "86399.5";
    const limits = { ...defaultLimits, timeoutMs: 60_000 };
    const endedAfter = async (turns: number) => {
      const stop = new AbortController();
      const collected = collect(sandbox, { argv: ["sleep", mark], limits }, stop.signal);
      for (let turn = 0; turn < turns; turn++) await immediate();
      stop.abort();
      return (await collected).end.reason;
    };
    for (let turns = 0; turns < 400; turns += 8) expect(await endedAfter(turns)).toBe("cancelled");
    await vi.waitFor(() => expect(processesWith(mark)).toEqual([]), 10_000);
  });

  test("holds no descriptor of the toolhost", async () => {
    const code = `
import os
held = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 3 and os.path.exists(f"/proc/self/fd/{fd}")}
print({fd: what for fd, what in held.items() if what != "/dev/null"})`;
    expect(await python(code)).toBe("{}");
  });

  test("ends when it writes too much, and keeps what came before", async () => {
    const { end, text } = await run(["yes"], { outputBytes: 100_000 });
    expect(end.reason).toBe("output_limit");
    expect(text("stdout").length).toBeLessThanOrEqual(100_000);
    expect(text("stdout").startsWith("y\ny\n")).toBe(true);
  });

  test("bounds its processes, without harm to other sandboxes", async () => {
    const code = `
import os
made = 0
try:
    while made < 10_000:
        if os.fork() == 0:
            import time; time.sleep(30); os._exit(0)
        made += 1
except OSError as error:
    print(made < 64, error.errno, flush=True)
os._exit(0)`;
    const bomb = run(["python3", "-I", "-c", code]);
    expect(await python("print(6 * 7)")).toBe("42");
    expect((await bomb).text("stdout")).toBe("True 11\n");
  });

  test("bounds its memory, whether as one process or as many", async () => {
    const limits = { memoryBytes: 128 * 2 ** 20 };
    const one = await run(["python3", "-I", "-c", "b = b'x' * (300 * 2 ** 20)"], limits);
    expect(one.end).toMatchObject(countsMemory ? { reason: "oom" } : { reason: "exit", code: 1 });
    if (!countsMemory) return;
    const many = `
import os, time
for _ in range(8):
    if os.fork() == 0:
        b = b"x" * (40 * 2 ** 20)
        time.sleep(300)
os.wait()`;
    expect((await run(["python3", "-I", "-c", many], limits)).end.reason).toBe("oom");
  });

  test("bounds the size of a file, of temporary files and of the workspace", async () => {
    const big = "f = open('big', 'wb')\nfor _ in range(100): f.write(bytes(2 ** 20)); f.flush()";
    expect(await python(big, { fileBytes: 10 * 2 ** 20 })).toMatch(/File too large|^$/);
    const temporary = big.replace("big'", "/tmp/big'").replace("100", "300");
    expect(await python(temporary)).toMatch(/No space left/);
    const many = `
import time
for n in range(30): open(f"part{n}", "wb").write(bytes(2 ** 20))
time.sleep(30)`;
    const { end } = await run(["python3", "-I", "-c", many], { workspaceBytes: 20 * 2 ** 20 });
    expect(end.reason).toBe("disk_limit");
  });

  test("mounts the workspace read-only on request", async () => {
    const limits = { ...defaultLimits, timeoutMs: 20_000 };
    const command = { argv: ["touch", "/workspace/x"], limits, readOnly: true };
    const { end, text } = await collect(sandbox, command, signal);
    expect(end.code).toBe(1);
    expect(text("stderr")).toContain("Read-only file system");
  });

  test("is not taken in by modules in the workspace", async () => {
    await writeFile(join(workspace, "json.py"), "raise SystemExit('hijacked')");
    expect(await python("import json; print(json.dumps(1))")).toBe("1");
    const outcome = await writeInside(sandbox, "fine.txt", Buffer.from("fine"), signal);
    expect(outcome.kind).toBe("done");
  });
});

describe.skipIf(!report.works)(`files of a workspace${why}`, () => {
  test("are written with their folders and read back, whole or in lines", async () => {
    const content = Buffer.from("one\ntwo\nthree");
    await writeInside(sandbox, "a/b/c.txt", content, signal);
    expect(await read("a/b/c.txt")).toMatchObject({ kind: "done", text: "one\ntwo\nthree" });
    expect(await read("/workspace/a/b/c.txt")).toMatchObject({ kind: "done" });
    const some = { path: "a/b/c.txt", offset: 1, limit: 1 };
    expect(await readText(sandbox, some, signal)).toMatchObject({ kind: "done", text: "two\n" });
  });

  test.each([
    ["/etc/ld.so.cache", "outside"],
    ["../../usr/bin/env", "outside"],
    ["out", "outside"],
    ["folder", "is a folder"],
    ["pipe", "not a regular file"],
    ["nothing", "does not exist"],
    ["binary", "not a text file"],
    ["", "empty"],
  ])("are refused when the path is %s", async (path, reason) => {
    const prepare = "ln -sfn /usr/bin/env out; mkdir -p folder; mkfifo pipe; printf '\\0' > binary";
    await run(["/bin/sh", "-c", prepare]);
    expect(await read(path)).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining(reason) as string,
    });
  });

  test("are not written through links that lead out", async () => {
    await run(["/bin/sh", "-c", "ln -sfn /tmp away; ln -sfn /tmp/x gone"]);
    for (const path of ["away/x", "gone"]) {
      const outcome = await writeInside(sandbox, path, Buffer.from("x"), signal);
      expect(outcome).toMatchObject({ kind: "refused" });
    }
  });

  test("that are too large are refused unless lines of them are asked for", async () => {
    await writeInside(sandbox, "large.csv", Buffer.from("0123456789\n".repeat(200_000)), signal);
    expect(await read("large.csv")).toMatchObject({ kind: "refused" });
    const some = { path: "large.csv", offset: 199_999, limit: 5 };
    expect(await readText(sandbox, some, signal)).toMatchObject({ text: "0123456789\n" });
    expect(existsSync(join(workspace, "large.csv"))).toBe(true);
  });
});

function read(path: string) {
  return readText(sandbox, { path, offset: 0, limit: undefined }, signal);
}

/** Commands of this machine's processes that have `word` as an argument. */
function processesWith(word: string): readonly string[] {
  return globSync("/proc/[0-9]*/cmdline").flatMap((path) => {
    try {
      const argv = readFileSync(path, "utf8").split("\0");
      return argv.includes(word) ? [argv.join(" ")] : [];
    } catch {
      return [];
    }
  });
}

const libc = `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
SYS = {"x86_64": {"clone": 56, "bpf": 321, "keyctl": 250}, "aarch64": {"clone": 220, "bpf": 280, "keyctl": 219}}[platform.machine()]`;
