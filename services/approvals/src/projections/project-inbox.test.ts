import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { MemoryLog } from "@reeve/jetstream/log/memory";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import type { RunFeed } from "@reeve/jetstream/feed/run-feed";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compareApprovals, projectInbox } from "./project-inbox.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const key = { tenant: "acme", run: "run_abcdefgh" };
const { PENDING, APPROVED, REJECTED, SUPERSEDED, WITHDRAWN } = ApprovalState;

type Batch = MemoryLog<RunKey, RunEvent>["batches"][number];

const asked = (name: string, state: ApprovalState): ExternalFact => ({
  case: "approval",
  value: { approval: { approvalId: name, runId: key.run, state } },
});
const ended = (status: RunStatus): ExternalFact => ({ case: "status", value: { status } });

async function logOf(...facts: readonly ExternalFact[]) {
  const runs = memoryRunLog();
  let tail = emptyTail;
  for (const event of facts) {
    const next = create(RunEventSchema, { runId: key.run, sequence: tail.sequence + 1, event });
    const appended = await runs.append(key, tail, [next], never);
    if (appended.kind === "appended") ({ tail } = appended);
  }
  return runs;
}

function feedOf(given: readonly Batch[]): RunFeed {
  return {
    async *consume() {
      for (const batch of given) yield { ...batch, acknowledge: () => undefined };
    },
  };
}

async function statesIn(inbox: MemoryTable<Approval>): Promise<Record<string, ApprovalState>> {
  const rows = await inbox.list(key.tenant, never);
  return Object.fromEntries(rows.map(({ record }) => [record.approvalId, record.state]));
}

test.each([
  [RunStatus.CANCELLED, WITHDRAWN],
  [RunStatus.ERROR, WITHDRAWN],
])("a run that ends with status %i withdraws its pending approvals", async (status, withdrawn) => {
  const runs = await logOf(
    asked("a", PENDING),
    asked("b", PENDING),
    asked("a", APPROVED),
    ended(status),
  );
  const inbox = new MemoryTable<Approval>();
  await projectInbox(feedOf(runs.batches), { inbox, log: runs, logEnds: runs }, log, never);
  expect(await statesIn(inbox)).toEqual({ a: APPROVED, b: withdrawn });
});

test("batches in any order, and repeated, result in the same inbox", async () => {
  const runs = await logOf(
    asked("a", PENDING),
    asked("b", PENDING),
    asked("c", PENDING),
    asked("a", APPROVED),
    asked("b", REJECTED),
    ended(RunStatus.CANCELLED),
  );
  const orders = fc
    .array(fc.constantFrom(...runs.batches), { maxLength: 4 })
    .chain((more) => fc.shuffledSubarray([...runs.batches, ...more], { minLength: 6 }))
    .map((order) => [...order, ...runs.batches.filter((batch) => !order.includes(batch))]);
  await fc.assert(
    fc.asyncProperty(orders, async (order) => {
      const inbox = new MemoryTable<Approval>();
      await projectInbox(feedOf(order), { inbox, log: runs, logEnds: runs }, log, never);
      expect(await statesIn(inbox)).toEqual({ a: APPROVED, b: REJECTED, c: WITHDRAWN });
    }),
  );
});

test("an approval whose files changed after the decision is superseded, in any order of batches", async () => {
  const runs = await logOf(asked("a", PENDING), asked("a", APPROVED), asked("a", SUPERSEDED));
  for (const batches of [runs.batches, runs.batches.toReversed()]) {
    const inbox = new MemoryTable<Approval>();
    await projectInbox(feedOf(batches), { inbox, log: runs, logEnds: runs }, log, never);
    expect(await statesIn(inbox)).toEqual({ a: SUPERSEDED });
  }
});

test("an approval that is filed after its run was deleted is dropped again", async () => {
  const runs = await logOf(asked("a", PENDING));
  const batches = runs.batches.slice();
  await runs.remove(key, never);
  const inbox = new MemoryTable<Approval>();
  await projectInbox(feedOf(batches), { inbox, log: runs, logEnds: runs }, log, never);
  expect(await statesIn(inbox)).toEqual({});
});

test("the end of a run does not change approvals of other runs", async () => {
  const ending = await logOf(asked("a", PENDING), ended(RunStatus.CANCELLED));
  const other = { tenant: key.tenant, run: "run_zzzzzzzz" };
  const batches = ending.batches.toSpliced(1, 0, {
    key: other,
    events: [create(RunEventSchema, { sequence: 1, event: asked("z", PENDING) })],
  });
  for (const { key: run, events } of batches.slice(1, 2)) {
    await ending.append(run, emptyTail, events, never);
  }
  const inbox = new MemoryTable<Approval>();
  await projectInbox(feedOf(batches), { inbox, log: ending, logEnds: ending }, log, never);
  expect(await statesIn(inbox)).toEqual({ a: WITHDRAWN, z: PENDING });
});

test.each([
  ["quick", 1],
  ["thorough", 0],
] as const)(
  "a %s comparison looks %d times whether the run of a new row still exists",
  async (mode, expected) => {
    const runs = await logOf(asked("a", PENDING));
    const inbox = new MemoryTable<Approval>();
    let looks = 0;
    const logEnds: Pick<typeof runs, "last"> = {
      last: (...given) => {
        looks++;
        return runs.last(...given);
      },
    };
    const end = { key, sequence: 1, kinds: ["approval"] };
    expect(await compareApprovals({ inbox, log: runs, logEnds }, end, mode, never)).toBe(true);
    expect(await statesIn(inbox)).toEqual({ a: PENDING });
    expect(looks).toBe(expected);
  },
);
