import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { foldRun } from "@reeve/run/commands/fold-run";
import { approvalOf } from "@reeve/run/head/run-head";
import { expect, test } from "vitest";
import { noon, parkedRun } from "../../test/support/parked-run.ts";
import type { ApprovalPorts } from "./approval-ports.ts";
import { escalateApprovals } from "./escalate-approvals.ts";
import { expireApprovals } from "./expire-approvals.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const tenant = "acme";
const minute = 60_000;
const waiting = 1_000;

/** The minutes after noon at which an approval escalates and expires, if it does. */
interface Planned {
  readonly escalates: number | undefined;
  readonly expires: number | undefined;
}

/** A quarter of the approvals expires, a quarter escalates, a quarter does both, and a quarter waits for ever. */
const plans: readonly Planned[] = Array.from({ length: waiting }, (_, index) => {
  const due = 1 + (Math.floor(index / 4) % 120);
  const kind = index % 4;
  return {
    escalates: kind === 1 || kind === 2 ? due : undefined,
    expires: kind === 0 ? due : kind === 2 ? due + 30 : undefined,
  };
});

const runOf = (index: number) => `run_outage${String(index).padStart(6, "0")}`;
const approvalIdOf = (index: number) => `${runOf(index)}-3-0`;
const atMinute = (after: number) => timestampFromMs(noon + after * minute);

function requested(index: number, { escalates, expires }: Planned): Approval {
  return create(ApprovalSchema, {
    approvalId: approvalIdOf(index),
    runId: runOf(index),
    state: ApprovalState.PENDING,
    requestedAt: atMinute(0),
    alternatives: [{ name: "1", groups: ["finance"], approvals: 1, denials: 1 }],
    ...(expires !== undefined && { expiresAt: atMinute(expires) }),
    ...(escalates !== undefined && {
      escalations: [
        {
          dueAt: atMinute(escalates),
          alternative: { name: "on-call", groups: ["on-call"], approvals: 1, denials: 1 },
        },
      ],
    }),
  });
}

/** Runs that wait, with an inbox that follows their logs at once. */
async function waitingRuns() {
  const memory = await parkedRun();
  const { inbox } = memory;
  let facts = 0;
  const runs: RunLog = {
    read: (...args) => memory.log.read(...args),
    follow: (...args) => memory.log.follow(...args),
    append: async (key, tail, events, signal) => {
      const outcome = await memory.log.append(key, tail, events, signal);
      for (const { event } of outcome.kind === "appended" ? events : []) {
        const approval = event.case === "approval" ? event.value.approval : undefined;
        if (approval === undefined) continue;
        facts++;
        await inbox.put(`${key.tenant}.${approval.approvalId}`, approval, signal);
      }
      return outcome;
    },
  };
  const ports: ApprovalPorts = { ...memory, log: runs };
  for (const [index, plan] of plans.entries()) {
    const approval = requested(index, plan);
    const first: readonly ExternalFact[] = [
      { case: "runCreated", value: { tenant } },
      { case: "approval", value: { approval } },
      { case: "runParked", value: { waitingFor: [approval.approvalId] } },
    ];
    const events = first.map((event, at) =>
      create(RunEventSchema, { runId: runOf(index), sequence: at + 1, event }),
    );
    await runs.append({ tenant, run: runOf(index) }, emptyTail, events, never);
  }
  return { ports, clock: memory.clock, facts: () => facts - waiting };
}

/** Expires and escalates approvals, as a process does, until it is disposed. */
function serviceOver(ports: ApprovalPorts): AsyncDisposable {
  const stop = new AbortController();
  const working = [expireApprovals, escalateApprovals].map((serve) =>
    serve(ports, log, stop.signal).catch(() => undefined),
  );
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(working);
    },
  };
}

async function current({ log: runs }: Pick<ApprovalPorts, "log">, index: number) {
  const { events } = await runs.read({ tenant, run: runOf(index) }, emptyTail, never);
  const approval = approvalOf(await foldRun(events, never), approvalIdOf(index));
  if (approval === undefined) throw new Error(`run ${index} has no approval`);
  return approval;
}

/** The outage: from its start on, nothing is served, and at its end, all that is due. */
const outage = { from: 10, until: 70 };

/** Returns when an approval escalates with the outage, in minutes after noon, or undefined if it does not. */
function escalatesAt({ escalates, expires = Infinity }: Planned): number | undefined {
  if (escalates === undefined) return undefined;
  const isLate = escalates > outage.from && escalates < outage.until;
  const at = isLate ? outage.until : escalates;
  return at < expires ? at : undefined;
}

/** Returns what an approval is at a time in minutes after noon, while the services run. */
function expectedAt(plan: Planned, now: number): readonly [ApprovalState, number | undefined] {
  const hasExpired = (plan.expires ?? Infinity) <= now;
  const escalated = escalatesAt(plan) ?? Infinity;
  const { TIMED_OUT, PENDING } = ApprovalState;
  return [hasExpired ? TIMED_OUT : PENDING, escalated <= now ? escalated : undefined];
}

function factsAt(now: number): number {
  return plans
    .map((plan) => expectedAt(plan, now))
    .map(
      ([state, escalated]) =>
        Number(state !== ApprovalState.PENDING) + Number(escalated !== undefined),
    )
    .reduce((sum, count) => sum + count, 0);
}

// Requirement: HITL-6
test("after an hour in which nothing ran, a thousand approvals have expired and escalated once, none early and none lost", async () => {
  const { ports, clock, facts } = await waitingRuns();
  const settled = async (now: number) => {
    while (facts() < factsAt(now)) await new Promise(setImmediate);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(facts()).toBe(factsAt(now));
  };
  const expectAll = async (now: number) => {
    for (const [index, plan] of plans.entries()) {
      const { state, escalations } = await current(ports, index);
      const at = escalations[0]?.escalatedAt;
      const escalated = at && (timestampMs(at) - noon) / minute;
      expect([index, state, escalated]).toEqual([index, ...expectedAt(plan, now)]);
    }
  };
  const runUntil = async (from: number, until: number) => {
    await using processes = new AsyncDisposableStack();
    for (let count = 0; count < 2; count++) processes.use(serviceOver(ports));
    await settled(from);
    for (let now = from + 1; now <= until; now++) {
      await clock.advance(minute);
      await settled(now);
    }
    await expectAll(until);
  };
  await runUntil(0, outage.from);
  const before = facts();
  await clock.advance((outage.until - outage.from) * minute);
  expect(facts()).toBe(before);
  await runUntil(outage.until, 80);
});
