import { describe, expect, test } from "vitest";
import type { Collected } from "../../../src/files/collect.ts";
import { collect } from "../../../src/files/collect.ts";
import type { SandboxSession } from "../../../src/port.ts";
import type { HostTest, SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, signal } from "./sandbox-bench.ts";

/** The agent is the first process of every sandbox: what code can do to it, and by it to the calls that follow. */
export function agentContract(bench: () => SandboxBench, hostTest: HostTest = test): void {
  describe("has an agent that", () => {
    test("nobody can look into", async () => {
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

    test("no signal ends or holds up", async () => {
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

    test("nobody can speak for", async () => {
      await using session = await bench().open();
      // As the agent would tell that the call has ended well.
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

    hostTest("leaves nothing of a call for the next one but the workspace", async () => {
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
except ConnectionRefusedError: print("nobody listens")`;
      expect((await inside(session, looking)).text("stdout")).toBe(
        "[] [] True True\nTrue\nnobody listens\n",
      );
    });

    test("gives the next call its folders with the rights that they had", async () => {
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
      ["objects of System V", "import ctypes; print(ctypes.CDLL(None).semget(0, 1, 0o1600) >= 0)"],
      [
        "other limits for the agent",
        "import resource as r; r.prlimit(1, r.RLIMIT_NOFILE, (9, 9)); print(True)",
      ],
      ["another priority of the agent", "import os; os.setpriority(0, 1, 9); print(True)"],
      ["more than can be taken away", "for n in range(3000): open(f'/tmp/{n}', 'w')\nprint(True)"],
      [
        "what cannot be taken away",
        "import os; os.makedirs('/tmp/a/b'); os.chmod('/tmp/a', 0); print(True)",
      ],
    ])("is not used again after %s", async (_, code) => {
      await using session = await bench().open();
      expect((await inside(session, code)).text("stdout")).toBe("True\n");
      expect(await session.settled()).toBe(false);
      await expect(inside(session, "print(1)")).rejects.toMatchObject({ kind: "unavailable" });
    });

    test("begins each call with an interpreter that no call has touched", async () => {
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
  return collect({ isolation: "", exec: (...given) => session.exec(...given) }, command, signal);
}
