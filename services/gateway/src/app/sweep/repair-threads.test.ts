import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { RunCreatedSchema, RunStatus } from "@reeve/contracts/run";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { shardCount } from "@reeve/jetstream/local-index/agenda";
import type { Clock } from "@reeve/platform/async/clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { readThread, refreshThread } from "@reeve/run/thread/read-thread";
import { queueTurn } from "@reeve/run/thread/queue-turn";
import { threadRow } from "@reeve/run/thread/thread-row";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../../test/support/memory-ports.ts";
import { appendFacts, kindsOf, memoryPorts } from "../../../test/support/memory-ports.ts";
import { listThreads, openThreadLists } from "../threads/list-threads.ts";
import { getThread } from "../threads/get-thread.ts";
import { repairThread } from "@reeve/run/thread/repair-thread";
import { repairThreads } from "./repair-threads.ts";

const never = new AbortController().signal;
const logger = createLogger("test", "silent");
const key = { tenant: "acme", thread: "t1" };

/** A gateway queues a run in the thread, and dies. */
async function place(ports: MemoryPorts, runId: string): Promise<void> {
  const created = create(RunCreatedSchema, { tenant: "acme", threadId: "t1", input: runId });
  const runCreated = anyPack(RunCreatedSchema, created);
  const seen = await refreshThread(ports.threads, key, undefined, never);
  await queueTurn(ports, key, seen, { runId, runCreated, whenBusy: "queue" }, never);
}

/** Adds the thread to the index. */
async function note(ports: MemoryPorts): Promise<void> {
  const row = threadRow("t1", await readThread(ports.threads, key, never));
  if (row !== undefined) await ports.threadIndex.put("acme.t1", row, never);
}

/** A clock that a test moves: each `pass` lets the repair do one round. */
class ManualClock implements Clock {
  #nowMs = 0;
  #asleep = Promise.withResolvers<{ readonly delayMs: number; readonly wake: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  async sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    this.#asleep.resolve({ delayMs, wake: resolve });
    await promise;
  }

  /** Resolves when the repair has done its round and sleeps again. */
  async pass(): Promise<void> {
    const { delayMs, wake } = await this.#asleep.promise;
    this.#asleep = Promise.withResolvers();
    this.#nowMs += delayMs;
    wake();
    await this.#asleep.promise;
  }
}

async function repairing(
  ports: Omit<MemoryPorts, "threads"> & { readonly threads: ThreadLog },
  passes: number,
): Promise<void> {
  const clock = new ManualClock();
  const end = new AbortController();
  const home = { folder: undefined, log: logger, clock };
  await using threadLists = openThreadLists(ports.threadIndex, home, never);
  // The index has the existing rows before the first round.
  await listThreads(threadLists, "acme", { pageSize: 1, pageToken: "" }, never);
  const shards = { owned: Array.from({ length: shardCount }, (_, shard) => shard) };
  const repair = repairThreads({ ...ports, threadLists, shards }, clock, logger, end.signal);
  for (let pass = 0; pass < passes; pass++) await clock.pass();
  end.abort(new Error("enough"));
  await expect(repair).rejects.toThrow("enough");
}

test("a run whose gateway died before it wrote the run is written and dispatched", async () => {
  const ports = memoryPorts();
  await place(ports, "run_a");
  await note(ports);
  await repairing(ports, 1);
  expect(await kindsOf(ports.log, "run_a")).toEqual(["runCreated"]);
  expect(ports.dispatch.length).toBe(1);
});

test("a turn whose run has ended is ended, and the next one starts", async () => {
  const ports = memoryPorts();
  await place(ports, "run_a");
  await place(ports, "run_b");
  await note(ports);
  await repairing(ports, 1);
  await appendFacts(ports.log, "run_a", {
    case: "status",
    value: { status: RunStatus.COMPLETED },
  });
  await note(ports);
  await repairing(ports, 1);
  const thread = await getThread(ports, key, never);
  expect(thread).toMatchObject({ activeRunId: "run_b", endedTurns: 1 });
});

test("an unchanged thread is repaired at increasing intervals", async () => {
  const ports = memoryPorts();
  await place(ports, "run_a");
  await note(ports);
  await repairThread(ports, key, never);
  let looks = 0;
  const threads: ThreadLog = {
    last: (...args) => {
      looks += 1;
      return ports.threads.last(...args);
    },
    read: (...args) => ports.threads.read(...args),
    readPart: (...args) => ports.threads.readPart(...args),
    append: (...args) => ports.threads.append(...args),
    follow: (...args) => ports.threads.follow(...args),
  };
  await repairing({ ...ports, threads }, 32);
  // After 15, 45, 105, 225 and 465 seconds.
  expect(looks).toBe(5);
});

test("several gateways may repair a thread concurrently", async () => {
  const ports = memoryPorts();
  for (const runId of ["run_a", "run_b", "run_c"]) await place(ports, runId);
  await note(ports);
  await Promise.all([repairing(ports, 2), repairing(ports, 2), repairing(ports, 2)]);
  expect(ports.dispatch.length).toBe(1);
  for (const run of ["run_a", "run_b", "run_c"]) {
    expect(await kindsOf(ports.log, run)).toEqual(["runCreated"]);
  }
});
