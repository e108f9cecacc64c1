import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/files/collect.ts";
import { writeFile } from "../../../src/files/workspace-files.ts";
import type { HostTest, SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, signal } from "./sandbox-bench.ts";

/** Tests commands: their input, their output, and how they end. */
export function commandContract(bench: () => SandboxBench, hostTest: HostTest = test): void {
  describe("runs a command", () => {
    test("in the workspace, with its input", async () => {
      const argv = ["/bin/sh", "-c", "pwd; cat; echo lost >&2; exit 3"];
      const command = { argv, stdin: Buffer.from("given"), limits: limitsOf() };
      const { end, text } = await collect(bench().box, command, signal);
      expect(end).toMatchObject({ reason: "exit", code: 3 });
      expect(text("stdout")).toBe(`${bench().inside}\ngiven`);
      expect(text("stderr")).toBe("lost\n");
    });

    test("whose name exceeds a pipe buffer, and reports only the beginning of the name", async () => {
      const { end, text } = await bench().run(["A".repeat(100_000)]);
      expect(end).toMatchObject({ reason: "exit", code: 126 });
      expect(text("stderr")).toMatch(/^A{200}: File name too long\n$/);
    });

    test("and yields its start, its output, and one end", async () => {
      const kinds: string[] = [];
      const argv = ["/bin/sh", "-c", "echo one; echo two >&2"];
      for await (const event of bench().box.exec({ argv, limits: limitsOf() }, signal)) {
        if (event.kind !== "keepalive") kinds.push(event.kind);
      }
      expect(kinds).toEqual(["start", "out", "out", "end"]);
    });

    test("and passes binary output and large input through unchanged", async () => {
      const stdin = Buffer.alloc(3_000_000, Buffer.from([0, 255, 10, 128]));
      const chunks: Uint8Array[] = [];
      const command = { argv: ["cat"], stdin, limits: limitsOf() };
      for await (const event of bench().box.exec(command, signal)) {
        if (event.kind === "out") chunks.push(event.bytes);
      }
      expect(Buffer.concat(chunks).equals(stdin)).toBe(true);
    });

    test("that does not read its input", async () => {
      const stdin = Buffer.alloc(3_000_000);
      const command = { argv: ["true"], stdin, limits: limitsOf() };
      const { end } = await collect(bench().box, command, signal);
      expect(end).toMatchObject({ reason: "exit", code: 0 });
    });

    test("and rejects with the error of its input", async () => {
      const stdin = (async function* () {
        yield Buffer.from("half");
        throw new Error("the source broke");
      })();
      const command = { argv: ["cat"], stdin, limits: limitsOf() };
      await expect(collect(bench().box, command, signal)).rejects.toThrow("the source broke");
    });

    test("only once if its input fails with the same kind of error as a lost sandbox", async () => {
      const { box, run } = bench();
      await run(["true"]);
      const stdin = (async function* () {
        yield Buffer.from("half");
        throw new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store is away");
      })();
      await expect(writeFile(box, "whole.txt", stdin, signal)).rejects.toThrow("the store is away");
    });

    test("at the speed of its reader, with back-pressure", async () => {
      const argv = ["head", "-c", "30000000", "/dev/zero"];
      const limits = limitsOf({ outputBytes: 40_000_000 });
      let bytes = 0;
      for await (const event of bench().box.exec({ argv, limits }, signal)) {
        await immediate();
        if (event.kind === "out") bytes += event.bytes.length;
      }
      expect(bytes).toBe(30_000_000);
    });
  });

  describe("ends a command", () => {
    hostTest("at its time limit, with all its processes", async () => {
      const { run, workspace } = bench();
      const argv = [
        "/bin/sh",
        "-c",
        "trap '' TERM; (setsid sh -c 'trap \"\" TERM HUP; while :; do date +%s%N > alive; done' &) ; sleep 60",
      ];
      const { end } = await run(argv, { timeoutMs: 1_000 });
      expect(end).toMatchObject({ reason: "timeout", code: undefined });
      const left = await readFile(join(workspace, "alive"), "utf8");
      // A surviving process would write while another command runs.
      await run(["true"]);
      expect(await readFile(join(workspace, "alive"), "utf8")).toBe(left);
    });

    // Requirement: KIT-8
    test("together with the processes that outlive it", async () => {
      const script = "(setsid sleep 300 > /dev/null 2>&1 &); (setsid sleep 300 &); echo done";
      const { end, text } = await bench().run(["/bin/sh", "-c", script]);
      expect(end).toMatchObject({ reason: "exit", code: 0 });
      expect(text("stdout")).toBe("done\n");
    });

    test("when its signal aborts", async () => {
      const stop = new AbortController();
      const argv = ["/bin/sh", "-c", "echo ready; sleep 60"];
      let reason = "";
      for await (const event of bench().box.exec({ argv, limits: limitsOf() }, stop.signal)) {
        if (event.kind === "out") stop.abort();
        if (event.kind === "end") ({ reason } = event);
      }
      expect(reason).toBe("cancelled");
    });

    hostTest("when its reader stops", async () => {
      const { box, run, workspace } = bench();
      const argv = ["/bin/sh", "-c", "while :; do date +%s%N | tee alive; done"];
      for await (const event of box.exec({ argv, limits: limitsOf() }, signal)) {
        if (event.kind === "out") break;
      }
      await run(["true"]);
      const left = await readFile(join(workspace, "alive"), "utf8");
      await run(["true"]);
      expect(await readFile(join(workspace, "alive"), "utf8")).toBe(left);
    });

    test("at its output limit, and keeps the output before it", async () => {
      const { end, text } = await bench().run(["yes"], { outputBytes: 100_000 });
      expect(end.reason).toBe("output_limit");
      expect(text("stdout").length).toBeLessThanOrEqual(100_000);
      expect(text("stdout").startsWith("y\ny\n")).toBe(true);
    });

    test("that a signal killed, and reports the signal", async () => {
      const { end } = await bench().run(["/bin/sh", "-c", "kill -USR1 $$; sleep 60"]);
      expect(end).toMatchObject({ reason: "signal", code: 138 });
    });
  });
}
