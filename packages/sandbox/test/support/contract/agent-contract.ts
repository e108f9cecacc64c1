import { describe, expect, test } from "vitest";
import type { Collected } from "../../../src/files/collect.ts";
import { collect } from "../../../src/files/collect.ts";
import type { SandboxSession } from "../../../src/port.ts";
import type { HostTest, SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, signal } from "./sandbox-bench.ts";

/** Tests the agent, the first process of every sandbox: what code can do to it, and through it to later calls. */
export function agentContract(bench: () => SandboxBench, hostTest: HostTest = test): void {
  describe("has an agent that", () => {
    test("code cannot inspect", async () => {
      const code = `
import os
for path in ["mem", "maps", "environ", "fd", "cwd/x", "root/etc", "task/1/mem", "stack", "syscall", "auxv"]:
    try:
        path = "/proc/1/" + path
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
        print("open:", path)
    except OSError: pass
for fd in range(256):
    try: print("open:", os.open(f"/proc/1/fd/{fd}", os.O_RDWR))
    except OSError: pass
print("done")`;
      expect(await bench().python(code)).toBe("done");
    });

    test("code cannot end or stop by signals", async () => {
      await using session = await bench().open();
      const code = `
import os
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
print("still here")`;
      expect((await inside(session, code)).text("stdout")).toBe("still here\n");
      expect((await inside(session, "print('again')")).text("stdout")).toBe("again\n");
    });

    test("code cannot impersonate", async () => {
      await using session = await bench().open();
      // The message with which the agent would report success.
      const code = `
import json, os
content = json.dumps({"code": 0, "seconds": 0}).encode()
message = len(content).to_bytes(4, "big") + b"X" + content
for fd in range(300):
    try: os.write(fd, message)
    except OSError: pass
os._exit(7)`;
      expect((await inside(session, code)).end).toMatchObject({ reason: "exit", code: 7 });
      expect((await inside(session, "print('again')")).text("stdout")).toBe("again\n");
    });

    hostTest("leaves nothing but the workspace to the next call", async () => {
      await using session = await bench().open();
      const leaving = `
import os, socket, time
os.makedirs("/tmp/deep/er"); open("/tmp/deep/er/left", "w"); open("/tmp/.left", "w"); open("/dev/shm/left", "w")
os.symlink("/workspace", "/tmp/link"); open("kept", "w")
listener = socket.socket(socket.AF_UNIX); listener.bind("\\0left"); listener.listen()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(300)
    os._exit(0)
os.wait()`;
      expect((await inside(session, leaving)).end).toMatchObject({ reason: "exit", code: 0 });
      expect(await session.settled()).toBe(true);
      const looking = `
import os, socket
print(os.listdir("/tmp"), os.listdir("/dev/shm"), os.path.exists("kept"), os.path.exists("secret.txt"))
print([p for p in os.listdir("/proc") if p.isdigit()] == ["1", str(os.getpid())])
try: socket.socket(socket.AF_UNIX).connect("\\0left")
except ConnectionRefusedError: print("no listener")`;
      expect((await inside(session, looking)).text("stdout")).toBe(
        "[] [] True True\nTrue\nno listener\n",
      );
    });

    test("restores the permissions of its folders for the next call", async () => {
      await using session = await bench().open();
      const look = "import os\nfor f in ['/tmp', '/dev/shm']: print(oct(os.stat(f).st_mode))\n";
      const close = "for f in ['/tmp', '/dev/shm']: open(f + '/x', 'w'); os.chmod(f, 0o100)";
      const before = (await inside(session, look + close)).text("stdout");
      expect(before).toMatch(/^(0o\d+\n){2}$/);
      expect(await session.settled()).toBe(true);
      const write = "for f in ['/tmp', '/dev/shm']: open(f + '/x', 'x')";
      const after = await inside(session, look + write);
      expect(after.text("stdout") + after.text("stderr")).toBe(before);
    });

    test.each([
      ["System V IPC objects", "import ctypes; print(ctypes.CDLL(None).semget(0, 1, 0o1600) >= 0)"],
      [
        "a change of the agent's resource limits",
        "import resource as r; r.prlimit(1, r.RLIMIT_NOFILE, (9, 9)); print(True)",
      ],
      ["a change of the agent's priority", "import os; os.setpriority(0, 1, 9); print(True)"],
      [
        "more files than the cleanup can delete",
        "for n in range(3000): open(f'/tmp/{n}', 'w')\nprint(True)",
      ],
      [
        "files that the cleanup cannot delete",
        "import os; os.makedirs('/tmp/a/b'); os.chmod('/tmp/a', 0); print(True)",
      ],
    ])("is not reused after %s", async (_, code) => {
      await using session = await bench().open();
      expect((await inside(session, code)).text("stdout")).toBe("True\n");
      expect(await session.settled()).toBe(false);
      await expect(inside(session, "print(1)")).rejects.toMatchObject({ kind: "unavailable" });
    });

    test("starts each call with a fresh interpreter", async () => {
      const { box } = bench();
      const poison = "import builtins, json\nbuiltins.len = json.dumps = lambda *_: 'poisoned'\n1";
      const draw = "import random\nrandom.random()";
      const results: string[] = [];
      for (const code of [poison, "import json\njson.dumps(len('four'))", draw, draw]) {
        const request = JSON.stringify({ code, allowed_imports: ["builtins", "json", "random"] });
        const command = { program: "execute_code", argv: [], stdin: Buffer.from(request) } as const;
        const { text } = await collect(box, { ...command, limits: limitsOf() }, signal);
        results.push(text("result").replace(/"execution_time_ms".*/, ""));
      }
      expect(results[0]).toContain('"result": "1"');
      expect(results[1]).toContain('"result": "4"');
      expect(results[2]).not.toBe(results[3]);
    });
  });
}

function inside(session: SandboxSession, code: string): Promise<Collected> {
  const command = { argv: ["python3", "-I", "-c", code], limits: limitsOf() };
  return collect({ isolation: "", exec: (...args) => session.exec(...args) }, command, signal);
}
