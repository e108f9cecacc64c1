import { setImmediate as endOfTurn } from "node:timers/promises";
import { RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { ByteBudget } from "@reeve/platform/async/coordination/byte-budget";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { expect, test } from "vitest";
import { applyAll } from "../domain/state/apply.ts";
import { initialState } from "../domain/state/run-state.ts";
import { drivenWith } from "../../test/support/media/driven-media.ts";
import { generating, images, painter, paintingAgent } from "../../test/support/media-model.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

/** Resolves when the generation of a run waits for memory. */
async function untilWaiting({ log }: WorkerBench): Promise<void> {
  for await (const { events } of log.follow(key, emptyTail, never)) {
    const waits = events.some(
      ({ event }) => event.case === "mediaCallStarted" && event.value.isWaiting,
    );
    if (waits) return;
  }
}

test("a generation waits for memory for its answer, which its time does not include", async () => {
  const fileMemory = new ByteBudget(1_000);
  const held = await fileMemory.acquire("globex", 10, never);
  const { runs, model, driven } = await drivenWith(() => ({ fileMemory }));
  await untilWaiting(runs);
  expect(model.asked).toEqual([]);
  held[Symbol.dispose]();
  await driven;
  const events = await runs.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(model.asked).toHaveLength(1);
  const waited = events.flatMap(({ event }) =>
    event.case === "mediaCallStarted" ? [[event.value.attempt, event.value.isWaiting]] : [],
  );
  expect(waited).toEqual([
    [1, false],
    [1, true],
    [1, false],
  ]);
});

// Requirement: CAN-3, TURN-4
test("a run that is cancelled while its generation waits for memory costs nothing", async () => {
  const fileMemory = new ByteBudget(1_000);
  await fileMemory.acquire("globex", 10, never);
  const { runs, model, driven } = await drivenWith(() => ({ fileMemory }));
  await untilWaiting(runs);
  await cancelRun(runs, key, { requestedBy: "ann", reason: "enough" }, never);
  await driven;
  const events = await runs.events();
  expectWhole(events, RunStatus.CANCELLED);
  const ended = events.find(({ event }) => event.case === "mediaCallEnded");
  expect(ended?.event.value).toMatchObject({ failure: "cancelled", mayBeBilled: false });
  const { head, lostUsd } = applyAll(initialState, events);
  expect({ costUsd: head.spent.costUsd, lostUsd }).toEqual({ costUsd: 0, lostUsd: 0 });
  expect(model.asked).toEqual([]);
  expect(fileMemory.waiting).toBe(0);
  expect(fileMemory.available).toBe(990);
});

// Requirement: TURN-4
test("a provider is asked only when the log says that its generation waits no longer", async () => {
  const fileMemory = new ByteBudget(1_000);
  const held = await fileMemory.acquire("globex", 10, never);
  const { promise: hasAppended, resolve: append } = Promise.withResolvers<void>();
  let appends = Infinity;
  const { runs, model, driven } = await drivenWith(({ log }) => ({
    fileMemory,
    log: {
      ...log,
      read: log.read.bind(log),
      follow: log.follow.bind(log),
      append: async (...given: Parameters<typeof log.append>) => {
        if (--appends < 0) await hasAppended;
        return await log.append(...given);
      },
    },
  }));
  await untilWaiting(runs);
  appends = 0;
  held[Symbol.dispose]();
  for (let turn = 0; turn < 20; turn++) await endOfTurn();
  expect(model.asked).toEqual([]);
  append();
  await driven;
  expect(model.asked).toHaveLength(1);
});

// Requirement: DUR-4
test("a worker that drains gives back a run whose generation waits for memory, and another one generates once", async () => {
  const fileMemory = new ByteBudget(1_000);
  await fileMemory.acquire("globex", 10, never);
  const model = generating(images);
  const runs = await new WorkerBench(model, [painter]).create(paintingAgent);
  const drain = new AbortController();
  const stop = { now: never, drain: drain.signal };
  const driven = runs.drive("w1", 1, stop, 1, { ...runs.ports("w1"), fileMemory });
  await untilWaiting(runs);
  drain.abort();
  expect(await driven).toBe("given back");
  expect(fileMemory.waiting).toBe(0);
  await runs.drive("w2", 1, undefined, 2);
  const events = await runs.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(model.asked).toHaveLength(1);
  const { head, lostUsd } = applyAll(initialState, events);
  expect({ costUsd: head.spent.costUsd, lostUsd }).toEqual({ costUsd: 0.04, lostUsd: 0 });
});
