import { expect, test } from "vitest";
import type { ExecEvent, SandboxDriver, SandboxSession } from "../ports/sandbox.ts";
import { defaultLimits } from "../ports/sandbox.ts";
import { SandboxGone } from "./agent/sandbox-gone.ts";
import { SessionSandboxes } from "./session-sandboxes.ts";

const signal = new AbortController().signal;
const command = { argv: ["true"], limits: { ...defaultLimits, timeoutMs: 1_000 } };

function never(): Promise<never> {
  return Promise.reject(new Error("nobody asks"));
}

/** A driver whose sandboxes tell when commands begin and end. */
function telling() {
  const told: string[] = [];
  let isGone = false;
  const session = (): SandboxSession => ({
    sessionId: "one",
    async *exec({ argv }): AsyncIterable<ExecEvent> {
      if (isGone) {
        isGone = false;
        throw new SandboxGone("it is gone");
      }
      told.push(`begin ${argv[0]}`);
      await Promise.resolve();
      told.push(`end ${argv[0]}`);
      yield { kind: "end", reason: "exit", code: 0, durationMs: 0 };
    },
    settled: () => Promise.resolve(true),
    [Symbol.asyncDispose]: () => Promise.resolve(void told.push("closed")),
  });
  const open = () => Promise.resolve((told.push("opened"), session()));
  const driver: SandboxDriver = { name: "pods", probe: never, open, list: never, destroy: never };
  return { told, driver, lose: () => (isGone = true) };
}

test("commands of a workspace run one after the other in one sandbox", async () => {
  const { told, driver } = telling();
  await using sandboxes = new SessionSandboxes(driver, { idleMs: 60_000 });
  const box = sandboxes.over("run_1");
  const both = ["a", "b"].map((name) =>
    Array.fromAsync(box.exec({ ...command, argv: [name] }, signal)),
  );
  await Promise.all(both);
  expect(told).toEqual(["opened", "begin a", "end a", "begin b", "end b"]);
});

test("a sandbox that went away while nobody used it is replaced", async () => {
  const { told, driver, lose } = telling();
  await using sandboxes = new SessionSandboxes(driver, { idleMs: 60_000 });
  const box = sandboxes.over("run_1");
  await Array.fromAsync(box.exec(command, signal));
  lose();
  const events = await Array.fromAsync(box.exec(command, signal));
  expect(events.at(-1)).toMatchObject({ kind: "end", code: 0 });
  expect(told.filter((each) => each === "opened")).toHaveLength(2);
});

test("code does not run over a workspace that is to be read only", async () => {
  const { told, driver } = telling();
  await using sandboxes = new SessionSandboxes(driver, { idleMs: 60_000 });
  const run = Array.fromAsync(sandboxes.over("run_1").exec({ ...command, readOnly: true }, signal));
  await expect(run).rejects.toMatchObject({ kind: "unsupported" });
  expect(told).toEqual([]);
});
