import { setImmediate as immediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { ownerName } from "../../../src/host/owner.ts";
import { WarmSandboxes } from "../../../src/lifecycle/warm-sandboxes.ts";
import { collect } from "../../../src/files/collect.ts";
import { newMark } from "../new-mark.ts";
import { processesWith } from "../processes-with.ts";
import type { SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, signal } from "./sandbox-bench.ts";

/** Tests how sandboxes are started, listed, and ended. */
export function sessionContract(bench: () => SandboxBench): void {
  describe("as a session", () => {
    test("is listed while it exists, and not as an orphan", async () => {
      const { driver, open } = bench();
      const session = await open();
      const { sessionId } = session;
      expect(await driver.list(signal)).toContainEqual({ sessionId, isOrphan: false });
      await session[Symbol.asyncDispose]();
      await vi.waitFor(async () => {
        expect((await driver.list(signal)).map((each) => each.sessionId)).not.toContain(sessionId);
      }, 10_000);
    });

    test("ends its command as lost when it is destroyed", async () => {
      const { driver, open } = bench();
      const session = await open();
      const argv = ["/bin/sh", "-c", "echo ready; sleep 60"];
      let reason = "";
      for await (const event of session.exec({ argv, limits: limitsOf() }, signal)) {
        if (event.kind === "out") await driver.destroy(session.sessionId, signal);
        if (event.kind === "end") ({ reason } = event);
      }
      expect(reason).toBe("sandbox_lost");
      expect(await session.settled()).toBe(false);
      await driver.destroy(session.sessionId, signal);
    });

    test("is replaced without an error if it was destroyed while idle", async () => {
      const { driver, workspace } = bench();
      await using warm = new WarmSandboxes(driver, { idleMs: 300_000, maxIdle: 4 });
      const before = await ids(bench());
      const box = warm.sandboxFor(workspace);
      await collect(box, { argv: ["true"], limits: limitsOf() }, signal);
      for (const sessionId of await ids(bench())) {
        if (!before.includes(sessionId)) await driver.destroy(sessionId, signal);
      }
      const { end } = await collect(box, { argv: ["true"], limits: limitsOf() }, signal);
      expect(end).toMatchObject({ reason: "exit", code: 0 });
    });

    test("runs one command at a time", async () => {
      await using session = await bench().open();
      const argv = ["/bin/sh", "-c", "echo ready; sleep 60"];
      for await (const event of session.exec({ argv, limits: limitsOf() }, signal)) {
        if (event.kind !== "out") continue;
        const second = Array.fromAsync(session.exec({ argv, limits: limitsOf() }, signal));
        await expect(second).rejects.toMatchObject({ kind: "unavailable" });
        break;
      }
      // Its value is no matter of this test: a sandbox that shares the IPC namespace of the host finds the objects of others there.
      await session.settled();
    });

    test("leaves nothing behind, no matter when its command is ended", async () => {
      const { box, driver } = bench();
      const mark = newMark();
      const endedAfter = async (turns: number) => {
        const stop = new AbortController();
        const command = { argv: ["sleep", mark], limits: limitsOf() };
        const collected = collect(box, command, stop.signal);
        for (let turn = 0; turn < turns; turn++) await immediate();
        stop.abort();
        return (await collected).end.reason;
      };
      for (let turns = 0; turns < 400; turns += 16) {
        expect(await endedAfter(turns)).toBe("cancelled");
      }
      await vi.waitFor(() => expect(processesWith(mark)).toEqual([]), 10_000);
      await vi.waitFor(async () => {
        const records = await driver.list(signal);
        const own = records.filter(({ sessionId }) => sessionId.includes(ownerName() ?? ""));
        expect(own.filter(({ isOrphan }) => isOrphan)).toEqual([]);
      }, 10_000);
    });
  });
}

async function ids({ driver }: SandboxBench): Promise<readonly string[]> {
  return (await driver.list(signal)).map(({ sessionId }) => sessionId);
}
