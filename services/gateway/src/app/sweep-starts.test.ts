import { createLogger } from "@reeve/platform/logger";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../test/support/memory-ports.ts";
import { appendFacts, memoryPorts } from "../../test/support/memory-ports.ts";
import type { SweepClock } from "./sweep-starts.ts";
import { StartSweeper } from "./sweep-starts.ts";

const log = createLogger("test", "silent");
const key = { tenant: "acme", run: "run_forgotten" };

/** A clock that runs to whatever is waited for. */
function eagerClock(): SweepClock & { readonly slept: number[] } {
  const slept: number[] = [];
  let nowMs = 0;
  return {
    slept,
    now: () => nowMs,
    async sleep(delayMs, signal) {
      signal.throwIfAborted();
      slept.push(delayMs);
      nowMs += delayMs;
      await new Promise(setImmediate);
    },
  };
}

async function swept(
  ports: MemoryPorts,
  tell: (sweeper: StartSweeper) => void = () => undefined,
): Promise<readonly number[]> {
  const clock = eagerClock();
  const sweeper = new StartSweeper(ports, clock);
  const ending = new AbortController();
  const sweeping = sweeper.sweep(log, ending.signal).catch(() => undefined);
  sweeper.accepted(key);
  tell(sweeper);
  while (clock.slept.length === 0) await new Promise(setImmediate);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  ending.abort();
  await sweeping;
  return clock.slept;
}

test("a run that nobody dispatched is dispatched after a while", async () => {
  const ports = memoryPorts();
  await appendFacts(ports.log, key.run, { case: "runCreated", value: {} });
  expect(await swept(ports)).toEqual([10_000]);
  expect(ports.dispatch.length).toBe(1);
});

test.each([
  ["that a worker has", { case: "runClaimed", value: { worker: "w", epoch: 1 } }],
  ["that has ended", { case: "status", value: { status: 7 } }],
] as const)("a run %s is left alone", async (_, fact) => {
  const ports = memoryPorts();
  await appendFacts(ports.log, key.run, { case: "runCreated", value: {} }, fact);
  await swept(ports);
  expect(ports.dispatch.length).toBe(0);
});

test("a run that is said to be taken is not looked at", async () => {
  const ports = memoryPorts();
  const looked: string[] = [];
  const log: MemoryPorts["log"] = Object.create(ports.log, {
    read: { value: (asked: typeof key) => Promise.reject(new Error(`${looked.push(asked.run)}`)) },
  });
  await swept({ ...ports, log }, (sweeper) => {
    sweeper.accepted({ ...key, run: "run_untaken0" });
    sweeper.claimed(key);
  });
  expect(looked).toEqual(["run_untaken0"]);
});

test("a run that waits for its turn in a thread is left to the thread", async () => {
  const ports = memoryPorts();
  await appendFacts(ports.log, key.run, { case: "runCreated", value: { threadId: "t1" } });
  await swept(ports);
  expect(ports.dispatch.length).toBe(0);
});
