import { describe, expect, test } from "vitest";
import type { HostTest, SandboxBench } from "./sandbox-bench.ts";

/** Tests how much of the machine a command can use. */
export function boundsContract(bench: () => SandboxBench, hostTest: HostTest = test): void {
  // Requirement: KIT-8
  describe("limits", () => {
    test("the number of processes, without harm to other sandboxes", async () => {
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
      const bomb = bench().run(["python3", "-I", "-c", code]);
      expect(await bench().python("print(6 * 7)")).toBe("42");
      expect((await bomb).text("stdout")).toBe("True 11\n");
    });

    hostTest("the memory of one process and of many together", async () => {
      const { run, bounds } = bench();
      const limits = { memoryBytes: 128 * 2 ** 20 };
      const one = await run(["python3", "-I", "-c", "b = b'x' * (300 * 2 ** 20)"], limits);
      expect(one.end).toMatchObject(
        bounds.memory ? { reason: "oom" } : { reason: "exit", code: 1 },
      );
      if (!bounds.memory) return;
      const many = `
import os, time
for _ in range(8):
    if os.fork() == 0:
        b = b"x" * (40 * 2 ** 20)
        time.sleep(300)
os.wait()`;
      expect((await run(["python3", "-I", "-c", many], limits)).end.reason).toBe("oom");
    });

    test("memory, and reports it only for the call that exceeded it", async () => {
      const { run } = bench();
      const limits = { memoryBytes: 128 * 2 ** 20 };
      await run(["python3", "-I", "-c", "b = b'x' * (300 * 2 ** 20)"], limits);
      const { end } = await run(["true"], limits);
      expect(end).toMatchObject({ reason: "exit", code: 0 });
    });

    hostTest("the size of a file, of temporary files, and of the workspace", async () => {
      const { run, python } = bench();
      const big = "f = open('big', 'wb')\nfor _ in range(100): f.write(bytes(2 ** 20)); f.flush()";
      expect(await python(big, { fileBytes: 10 * 2 ** 20 })).toMatch(/File too large|^$/);
      const temporary = big.replace("big'", "/tmp/big'").replace("100", "300");
      expect(await python(temporary)).toMatch(/No space left/);
      const many = `
import time
for n in range(30): open(f"part{n}", "wb").write(bytes(2 ** 20))
time.sleep(60)`;
      const { end } = await run(["python3", "-I", "-c", many], { workspaceBytes: 20 * 2 ** 20 });
      expect(end.reason).toBe("disk_limit");
      await run(["/bin/sh", "-c", "rm -f big part*"]);
    });

    test("the number of open files, and core dumps to none", async () => {
      const code =
        "import resource as r; print(r.getrlimit(r.RLIMIT_NOFILE), r.getrlimit(r.RLIMIT_CORE))";
      expect(await bench().python(code)).toBe("(1024, 1024) (0, 0)");
    });
  });
}
