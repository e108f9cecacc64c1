import { create } from "@bufbuild/protobuf";
import { QueueKind } from "@reeve/contracts/operations";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import type { WorkerPresence } from "@reeve/contracts/worker-presence";
import { WorkerPresenceSchema } from "@reeve/contracts/worker-presence";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import type { DeploymentPorts } from "./deployment.ts";
import { Deployment } from "./deployment.ts";

const never = new AbortController().signal;
const nowMs = 100_000;
const runs = { name: "", waiting: 2, taken: 1, redelivered: 1, oldestMs: nowMs - 5_000 };

async function deploymentWith(store: Partial<DeploymentPorts["store"]> = {}): Promise<Deployment> {
  const workers = new MemoryTable<WorkerPresence>();
  const driven = [
    { tenant: "acme", runId: "run_own" },
    { tenant: "globex", runId: "run_of_others" },
  ];
  const worker = { worker: "runtime-1", slots: 4, active: 2, runs: driven };
  await workers.put("runtime-1", create(WorkerPresenceSchema, worker), never);
  const toolhosts = new MemoryTable<ToolhostPresence>();
  const calls = driven.map((run) => ({ ...run, callId: "c" }));
  const host = { host: "toolhost-1", pool: "default", slots: 8, busy: 2, calls, spareSandboxes: 1 };
  await toolhosts.put("toolhost-1", create(ToolhostPresenceSchema, host), never);
  return new Deployment({
    workers,
    toolhosts,
    store: {
      runQueue: () => Promise.resolve([runs]),
      toolCallQueues: () => Promise.resolve([]),
      notificationQueues: () => Promise.resolve([]),
      feeds: () => Promise.resolve([{ name: "run-index", batchesBehind: 3 }]),
      usage: () => Promise.resolve({ bytes: 10, maxBytes: 0, streams: [] }),
      ...store,
    },
    isReserveInUse: () => false,
    clock: new ManualClock(nowMs),
  });
}

// Requirement: OPS-10
test("an operator sees how much all tenants do, and the ids of the own runs only", async () => {
  const shown = await (await deploymentWith()).shownTo("acme");
  expect(shown.workers).toMatchObject([{ name: "runtime-1", active: 2, runIds: ["run_own"] }]);
  expect(shown.toolhosts).toMatchObject([
    { name: "toolhost-1", busy: 2, runIds: ["run_own"], spareSandboxes: 1 },
  ]);
  expect(shown.queues).toMatchObject([
    { kind: QueueKind.RUNS, waiting: 2n, redelivered: 1n, oldestAge: { seconds: 5n } },
  ]);
  expect(shown.feeds).toEqual([{ name: "run-index", batchesBehind: 3n }]);
  expect(shown.problems).toEqual([]);
});

test("a part that cannot be read is a problem, and the other parts are shown", async () => {
  const silent = { usage: () => Promise.reject(storeUnavailable()) };
  const shown = await (await deploymentWith(silent)).shownTo("acme");
  expect(shown.store).toBeUndefined();
  expect(shown.problems).toEqual([expect.stringMatching(/^store: /)]);
  expect(shown.workers).toHaveLength(1);
});
