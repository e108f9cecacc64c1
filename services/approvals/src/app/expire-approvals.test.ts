import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { approvalId, noon, parkedRun, runKey } from "../../test/support/parked-run.ts";
import type { ApprovalPorts } from "./approval-ports.ts";
import { expireApprovals } from "./expire-approvals.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const minute = 60_000;

type Parked = Awaited<ReturnType<typeof parkedRun>>;

/** A run whose approval expires a minute after noon, as the inbox knows it. */
async function expiring(): Promise<Parked> {
  const ports = await parkedRun({ expiresAt: timestampFromMs(noon + minute) });
  await file(ports);
  return ports;
}

async function file({ inbox }: Parked): Promise<void> {
  const approval = create(ApprovalSchema, {
    approvalId,
    runId: runKey.run,
    state: ApprovalState.PENDING,
    expiresAt: timestampFromMs(noon + minute),
  });
  await inbox.put(`${runKey.tenant}.${approvalId}`, approval, never);
}

/** Lets approvals expire until it is left. */
function expiry(ports: ApprovalPorts): AsyncDisposable {
  const stop = new AbortController();
  const working = expireApprovals(ports, log, stop.signal);
  working.catch(() => undefined);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await working.catch(() => undefined);
    },
  };
}

/** Lets everything go on until `isSo`. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate);
}

async function statesIn({ log: runs }: Parked): Promise<ApprovalState[]> {
  const { events } = await runs.read(runKey, emptyTail, never);
  return events.flatMap(({ event }) =>
    event.case === "approval" && event.value.approval ? [event.value.approval.state] : [],
  );
}

const hasExpired = (ports: Parked) => async () =>
  (await statesIn(ports)).at(-1) === ApprovalState.TIMED_OUT;

/** A log that takes nothing before the attempt after `refused` ones. */
function reluctant(runs: RunLog, refused: number) {
  let attempts = 0;
  const reluctantly: RunLog = {
    append: (...asked) =>
      ++attempts > refused
        ? runs.append(...asked)
        : Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, "away")),
    read: (...asked) => runs.read(...asked),
    follow: (...asked) => runs.follow(...asked),
  };
  return { log: reluctantly, attempts: () => attempts };
}

// Requirement: HITL-2
test("an approval expires at its time, not before, and its run is woken", async () => {
  const ports = await expiring();
  await using _ = expiry(ports);
  await until(() => ports.clock.sleepers === 1);
  ports.clock.advance(minute - 1);
  await new Promise(setImmediate);
  expect(await statesIn(ports)).toEqual([ApprovalState.PENDING]);
  ports.clock.advance(1);
  await until(hasExpired(ports));
  expect(ports.dispatch.length).toBe(1);
});

test("an approval that comes while nothing is due expires too", async () => {
  const ports = await parkedRun({ expiresAt: timestampFromMs(noon + minute) });
  await using _ = expiry(ports);
  await until(() => ports.clock.sleepers === 1);
  ports.clock.advance(minute);
  await file(ports);
  await until(hasExpired(ports));
  expect(ports.dispatch.length).toBe(1);
});

test("an expiry that the store does not take is tried again, more and more slowly, until it is", async () => {
  const ports = await expiring();
  const { log: runs, attempts } = reluctant(ports.log, 4);
  await using _ = expiry({ ...ports, log: runs });
  await until(() => ports.clock.sleepers === 1);
  ports.clock.advance(minute);
  for (const [index, restMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
    await until(() => attempts() === index + 1 && ports.clock.sleepers === 1);
    ports.clock.advance(restMs - 1);
    await new Promise(setImmediate);
    expect(attempts()).toBe(index + 1);
    ports.clock.advance(1);
  }
  await until(hasExpired(ports));
  expect(attempts()).toBe(5);
});

test("the times of many come out of the inbox when approvals starts again, and only what is due expires", async () => {
  const ports = await expiring();
  const later = timestampFromMs(noon + 60 * minute);
  for (let index = 0; index < 10_000; index++) {
    const pending = {
      approvalId: `other-${index}`,
      runId: "run_other000",
      state: ApprovalState.PENDING,
    };
    const approval = create(ApprovalSchema, { ...pending, expiresAt: later });
    await ports.inbox.put(`${runKey.tenant}.other-${index}`, approval, never);
  }
  const read: string[] = [];
  const counting: RunLog = {
    append: (...asked) => ports.log.append(...asked),
    read: (asked, ...rest) => {
      read.push(asked.run);
      return ports.log.read(asked, ...rest);
    },
    follow: (...asked) => ports.log.follow(...asked),
  };
  {
    await using _ = expiry({ ...ports, log: counting });
    await until(() => ports.clock.sleepers === 1);
  }
  ports.clock.advance(minute);
  await using _ = expiry({ ...ports, log: counting });
  await until(hasExpired(ports));
  expect(read).toEqual([runKey.run]);
});

test("nothing goes on once the inbox cannot be watched", async () => {
  const ports = await expiring();
  const { promise: broken, reject: breakWatch } = Promise.withResolvers<never>();
  const inbox: ApprovalPorts["inbox"] = {
    get: (...asked) => ports.inbox.get(...asked),
    lastRevision: (...asked) => ports.inbox.lastRevision(...asked),
    create: (...asked) => ports.inbox.create(...asked),
    update: (...asked) => ports.inbox.update(...asked),
    put: (...asked) => ports.inbox.put(...asked),
    delete: (...asked) => ports.inbox.delete(...asked),
    deleteVersion: (...asked) => ports.inbox.deleteVersion(...asked),
    list: (...asked) => ports.inbox.list(...asked),
    async *watch(prefix, signal) {
      for (const row of await ports.inbox.list(prefix, signal)) yield { kind: "written", row };
      yield await broken;
    },
  };
  const working = expireApprovals({ ...ports, inbox }, log, never);
  await until(() => ports.clock.sleepers === 1);
  breakWatch(new Error("the watch ended"));
  await expect(working).rejects.toThrow("the watch ended");
  expect(ports.clock.sleepers).toBe(0);
});
