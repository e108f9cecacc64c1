import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { Phase, RunEventSchema, RunSchema, RunStatus, StepState } from "@reeve/contracts/run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { dropOrphans } from "@reeve/jetstream/projection/drop-orphans";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { MemoryLog } from "@reeve/jetstream/log/memory";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import type { RunFeed } from "@reeve/jetstream/feed/run-feed";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { IndexPorts } from "./run-index.ts";
import { indexRuns, runsOfLogs } from "./run-index.ts";
import { rowAfter, rowKinds } from "./run-row.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const key = { tenant: "acme", run: "run_abcdefgh" };

const approval = (state: ApprovalState): ExternalFact => ({
  case: "approval",
  value: { approval: { approvalId: "a", state } },
});
const status = (value: RunStatus): ExternalFact => ({ case: "status", value: { status: value } });

/** The batches of a run with everything that a list shows. */
const batches: readonly (readonly (ExternalFact & {
  readonly at?: Partial<Pick<RunEvent, "phase" | "parentId">>;
})[])[] = [
  [
    {
      case: "runCreated",
      value: { agentId: "a", input: "hello", labels: { team: "x" }, threadId: "t" },
    },
  ],
  [
    { case: "runClaimed", value: { worker: "w" } },
    status(RunStatus.STARTING),
    { case: "runPrepared", value: { scripted: true } },
  ],
  [
    { case: "error", value: { reason: "planner_failed" }, at: { phase: Phase.PLANNER } },
    { case: "step", value: { state: StepState.STARTED } },
  ],
  [{ case: "text", value: { text: "thinking" } }],
  [
    { case: "error", value: { reason: "child" }, at: { parentId: "s" } },
    approval(ApprovalState.PENDING),
    { case: "runParked", value: {} },
  ],
  [approval(ApprovalState.APPROVED)],
  [{ case: "runClaimed", value: { worker: "v" } }],
  // A delegate and a subtask below it fail, and one succeeds.
  [{ case: "subtask", value: { subtaskId: "s", agentId: "helper" } }],
  [
    {
      case: "subtask",
      value: { subtaskId: "s/1", ended: true, isError: true },
      at: { parentId: "s" },
    },
  ],
  [
    { case: "subtask", value: { subtaskId: "s", agentId: "helper", ended: true, isError: true } },
    { case: "subtask", value: { subtaskId: "t", ended: true } },
  ],
  // An event of a newer version.
  [{ case: undefined }],
  [
    { case: "error", value: { reason: "iteration_limit" } },
    { case: "costSummary", value: { llmCalls: 2 } },
    status(RunStatus.ERROR),
  ],
  [{ case: "runClaimed", value: { worker: "u" } }],
  [{ case: "runParked", value: {} }],
];

type Batch = MemoryLog<RunKey, RunEvent>["batches"][number];

/** A log with the first `count` batches of the run. */
async function logWith(count = batches.length) {
  const runs = memoryRunLog();
  let tail = emptyTail;
  for (const batch of batches.slice(0, count)) {
    const events = batch.map(({ at, ...event }, index) => {
      const sequence = tail.sequence + index + 1;
      const time = timestampFromMs(1_000 * sequence);
      return create(RunEventSchema, { runId: key.run, sequence, time, event, ...at });
    });
    const appended = await runs.append(key, tail, events, never);
    if (appended.kind === "appended") ({ tail } = appended);
  }
  return runs;
}

const isWanted = ({ events }: Batch) =>
  events.some(({ event }) => rowKinds.has(event.case ?? "unknown"));

/** Delivers the batches in this order, and returns the acknowledged ones. */
function feedOf(given: readonly Batch[]) {
  const acknowledged: Batch[] = [];
  const feed: RunFeed = {
    async *consume() {
      for (const batch of given) {
        yield { ...batch, acknowledge: () => acknowledged.push(batch) };
      }
    },
  };
  return { feed, acknowledged };
}

/** The row of the run according to its log. */
async function truth(runs: MemoryLog<RunKey, RunEvent>) {
  const { events } = await runs.read(key, emptyTail, never);
  return { ...runOf(foldHead(emptyHead, events)), output: "" };
}

function read() {
  return Promise.reject(new Error("the log must not be read"));
}

const rowIn = async ({ runs }: Pick<IndexPorts, "runs">) =>
  (await runs.get(`${key.tenant}.${key.run}`, never))?.record;

/** A row without its last sequence, which depends on batches that are not delivered. */
const shown = (row: Run | undefined) => row && { ...row, lastSequence: 0 };

test("the row agrees with the log after each batch", async () => {
  for (let count = 1; count <= batches.length; count++) {
    const runs = await logWith(count);
    const { events } = await runs.read(key, emptyTail, never);
    expect(events.reduce(rowAfter, create(RunSchema))).toEqual(await truth(runs));
  }
});

test("batches in order build the row without a read of the log", async () => {
  const runs = await logWith();
  const table = new MemoryTable<Run>();
  const { feed, acknowledged } = feedOf(runs.batches.filter(isWanted));
  await indexRuns(feed, { runs: table, log: { read }, logEnds: runs }, log, never);
  expect(acknowledged).toHaveLength(runs.batches.filter(isWanted).length);
  const row = await rowIn({ runs: table });
  expect(row).toEqual(await truth(runs));
  expect(row?.failedSubtasks).toBe(2);
});

test("batches of a run that arrive together are one write of its row", async () => {
  const runs = await logWith(3);
  const table = new MemoryTable<Run>();
  const { feed, acknowledged } = feedOf(runs.batches);
  await indexRuns(feed, { runs: table, log: { read }, logEnds: runs }, log, never);
  expect(acknowledged).toHaveLength(3);
  const [row, ...others] = await table.list("", never);
  expect(others).toEqual([]);
  // The first write of a table has the revision 1.
  expect(row).toMatchObject({ revision: 1, record: await truth(runs) });
});

test("a batch whose log was deleted before it was indexed is not delivered again", async () => {
  const runs = await logWith();
  const [, second] = runs.batches.filter(isWanted);
  if (second === undefined) throw new Error("the run has one batch only");
  await runs.remove(key, never);
  const table = new MemoryTable<Run>();
  const { feed, acknowledged } = feedOf([second]);
  await indexRuns(feed, { runs: table, log: runs, logEnds: runs }, log, never);
  expect(acknowledged).toEqual([second]);
  expect(await rowIn({ runs: table })).toBeUndefined();
});

test("batches in any order, and repeated ones, give the same row, which never becomes older", async () => {
  const runs = await logWith();
  const wanted = runs.batches.filter(isWanted);
  const all = await truth(runs);
  const orders = fc
    .array(fc.constantFrom(...wanted), { maxLength: 6 })
    .chain((more) => fc.shuffledSubarray([...wanted, ...more], { minLength: wanted.length }))
    .map((order) => [...order, ...wanted.filter((batch) => !order.includes(batch))]);
  await fc.assert(
    fc.asyncProperty(orders, async (order) => {
      const ports = { runs: new MemoryTable<Run>(), log: runs, logEnds: runs };
      let reached = 0;
      for (const batch of order) {
        await indexRuns(feedOf([batch]).feed, ports, log, never);
        const { lastSequence = 0 } = (await rowIn(ports)) ?? {};
        expect(lastSequence).toBeGreaterThanOrEqual(reached);
        reached = lastSequence;
      }
      expect(shown(await rowIn(ports))).toEqual(shown(all));
    }),
  );
});

test("two gateways that share the batches give the same row", async () => {
  const runs = await logWith();
  const wanted = runs.batches.filter(isWanted);
  await fc.assert(
    fc.asyncProperty(fc.subarray(wanted), async (mine) => {
      const ports = { runs: new MemoryTable<Run>(), log: runs, logEnds: runs };
      const theirs = wanted.filter((batch) => !mine.includes(batch));
      await Promise.all(
        [mine, theirs].map((part) => indexRuns(feedOf(part).feed, ports, log, never)),
      );
      expect(shown(await rowIn(ports))).toEqual(shown(await truth(runs)));
    }),
  );
});

test("a batch without a row, or with a lagging log, is not taken for the whole run", async () => {
  const runs = await logWith();
  const ports = { runs: new MemoryTable<Run>(), log: runs, logEnds: runs };
  const last = runs.batches.filter(isWanted).slice(-1);
  await indexRuns(feedOf(last).feed, ports, log, never);
  expect(await rowIn(ports)).toEqual(await truth(runs));
  const lagging = { ...ports, log: await logWith(2) };
  const { feed, acknowledged } = feedOf(runs.batches.slice(0, 1));
  await indexRuns(feed, lagging, log, never);
  expect(acknowledged).toEqual([]);
  expect(await rowIn(ports)).toEqual(await truth(runs));
});

test("a row that is written after the run was deleted is dropped again", async () => {
  const runs = await logWith();
  const ports = { runs: new MemoryTable<Run>(), log: runs, logEnds: runs };
  const first = runs.batches.slice(0, 1);
  // What a deletion leaves at the key of the row.
  const marked = await ports.runs.put(`${key.tenant}.${key.run}`, create(RunSchema), never);
  await ports.runs.deleteVersion(marked.key, marked.revision, never);
  await runs.remove(key, never);
  const { feed, acknowledged } = feedOf(first);
  await indexRuns(feed, ports, log, never);
  expect(acknowledged).toHaveLength(1);
  expect(await rowIn(ports)).toBeUndefined();
});

test("the row of a run whose deletion has begun changes only for a new run with the same id", async () => {
  const runs = await logWith();
  const ports = { runs: new MemoryTable<Run>(), log: { read }, logEnds: runs };
  const marked = create(RunSchema, { runId: key.run, lastSequence: 100, deleting: true });
  await ports.runs.put(`${key.tenant}.${key.run}`, marked, never);
  const late = feedOf(runs.batches.slice(1, 2));
  await indexRuns(late.feed, ports, log, never);
  expect(late.acknowledged).toHaveLength(1);
  expect(await rowIn(ports)).toEqual(marked);
  await indexRuns(feedOf(runs.batches.slice(0, 1)).feed, ports, log, never);
  expect(await rowIn(ports)).toMatchObject({ status: RunStatus.QUEUED, deleting: false });
});

test("the first batch of a run whose deletion has begun leaves its row when it is delivered again", async () => {
  const runs = await logWith();
  const first = runs.batches.slice(0, 1);
  const createdAt = first[0]?.events[0]?.time;
  const marked = create(RunSchema, {
    runId: key.run,
    deleting: true,
    ...(createdAt && { createdAt }),
  });
  const ports = { runs: new MemoryTable<Run>(), log: { read }, logEnds: runs };
  await ports.runs.put(`${key.tenant}.${key.run}`, marked, never);
  const whole = feedOf(first);
  await indexRuns(whole.feed, ports, log, never);
  expect(whole.acknowledged).toHaveLength(1);
  expect(await rowIn(ports)).toEqual(marked);
  await runs.remove(key, never);
  await indexRuns(feedOf(first).feed, ports, log, never);
  expect(await rowIn(ports)).toEqual(marked);
});

test("rows of deleted runs are dropped, and others stay", async () => {
  const runs = await logWith();
  const ports = { runs: new MemoryTable<Run>(), log: runs, logEnds: runs };
  await indexRuns(feedOf(runs.batches.filter(isWanted)).feed, ports, log, never);
  await ports.runs.put("acme.run_deleted1", create(RunSchema), never);
  expect(await dropOrphans(runsOfLogs(ports), never)).toEqual({ dropped: 1, failed: 0 });
  expect((await ports.runs.list("", never)).map((row) => row.key)).toEqual([
    `${key.tenant}.${key.run}`,
  ]);
});

test("a preview never splits a character", async () => {
  const input = `x${"🙂".repeat(300)}`;
  const event = { case: "runCreated", value: { input } } as const;
  const created = create(RunEventSchema, { runId: key.run, sequence: 1, event });
  const { inputPreview } = rowAfter(create(RunSchema), created);
  expect(inputPreview.isWellFormed()).toBe(true);
  expect(Array.from(inputPreview)).toHaveLength(200);
});
