import { getEventListeners } from "node:events";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { DispatchSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { Dispatch } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { WorkerBench } from "../../test/support/worker-bench.ts";
import { workRuns } from "./work-runs.ts";

const never = new AbortController().signal;
const runs = Array.from({ length: 40 }, (_, index) => ({ tenant: "acme", run: `run_${index}` }));

/** A model that calls `count` once and then answers. */
const callsOnce: ModelProvider = {
  descriptor: create(ProviderDescriptorSchema, { name: "test" }),
  format: "test",
  async *stream({ messages }) {
    const isFirst = !messages.some(({ role }) => role === "verbatim");
    const calls = isFirst ? [{ providerCallId: "p", name: "count", argumentsText: "{}" }] : [];
    const finishReason = isFirst ? "tool_calls" : "stop";
    const turn = { messageJson: "{}", finishReason, calls, usage: undefined, model: "test" };
    yield { kind: "turn", turn };
  },
};

/** Counts what a worker holds of its runs at this moment. */
class HeldResources {
  follows = 0;
  deliveries = 0;

  /** Returns the log with its followers counted. */
  log(log: RunLog): RunLog {
    const follow: RunLog["follow"] = (...args) => this.#counted(log.follow(...args));
    return { append: log.append.bind(log), read: log.read.bind(log), follow };
  }

  /** Yields the deliveries, and counts those that are not settled. */
  async *take(taken: AsyncIterable<Delivery<Dispatch>>): AsyncIterable<Delivery<Dispatch>> {
    for await (const delivery of taken) {
      this.deliveries++;
      const settle = (how: () => void) => () => {
        this.deliveries--;
        how();
      };
      const acknowledge = settle(() => delivery.acknowledge());
      const abandon = settle(() => delivery.abandon());
      yield { ...delivery, acknowledge, abandon };
    }
  }

  async *#counted<Value>(values: AsyncIterable<Value>): AsyncIterable<Value> {
    this.follows++;
    try {
      yield* values;
    } finally {
      this.follows--;
    }
  }
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

async function statusOf(log: RunLog, key: (typeof runs)[number]): Promise<RunStatus> {
  return foldHead(emptyHead, (await log.read(key, emptyTail, never)).events).status;
}

// Requirement: HITL-6
test("no worker holds runs that wait for a person, and decisions continue them", async () => {
  const bench = new WorkerBench(callsOnce);
  const held = new HeldResources();
  const ports = { ...bench.ports("w"), log: held.log(bench.log) };
  const stop = new AbortController();
  const queue = {
    take: (concurrency: number, signal: AbortSignal) =>
      held.take(bench.dispatch.take(concurrency, signal)),
  };
  // With a concurrency of 1, a waiting run that the worker holds would block all others.
  const working = workRuns(queue, ports, 1, { now: stop.signal, drain: stop.signal });
  working.catch(() => undefined);
  const allAre = async (status: RunStatus) => {
    for (const key of runs) {
      while ((await statusOf(bench.log, key)) !== status) await new Promise(setImmediate);
    }
    while (held.deliveries > 0 || held.follows > 0) await new Promise(setImmediate);
  };
  const [timersBefore, listenersBefore] = [
    timers(),
    getEventListeners(stop.signal, "abort").length,
  ];
  for (const key of runs) {
    const spec = { model: "test:x", hitlTools: ["count"] };
    const value = { tenant: key.tenant, agentId: "a", input: "go", spec };
    const event = { case: "runCreated", value } as const;
    const created = create(RunEventSchema, { runId: key.run, sequence: 1, event });
    await bench.log.append(key, emptyTail, [created], never);
    const message = create(DispatchSchema, { tenant: key.tenant, runId: key.run });
    await bench.dispatch.publish(message, { dedupeId: key.run }, never);
  }
  await allAre(RunStatus.WAITING);
  expect(held).toMatchObject({ deliveries: 0, follows: 0 });
  expect(timers()).toBeLessThanOrEqual(timersBefore);
  // The queue has one listener, however many runs there are.
  expect(getEventListeners(stop.signal, "abort").length).toBeLessThanOrEqual(listenersBefore + 1);
  for (const key of runs) {
    await appendExternal(
      { log: bench.log, dispatch: bench.dispatch },
      key,
      (head) =>
        approvalsOf(head).map((pending) => ({
          case: "approval",
          value: { approval: { ...pending, state: ApprovalState.REJECTED } },
        })),
      never,
    );
  }
  await allAre(RunStatus.COMPLETED);
  stop.abort();
  await working.catch(() => undefined);
});
