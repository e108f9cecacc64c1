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

/** Creates a run whose approval, in the inbox, expires a minute after noon. */
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

/** Expires approvals until it is disposed. */
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

/** Yields to other work until `isDone`. */
async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise(setImmediate);
}

async function statesIn({ log: runs }: Parked): Promise<ApprovalState[]> {
  const { events } = await runs.read(runKey, emptyTail, never);
  return events.flatMap(({ event }) =>
    event.case === "approval" && event.value.approval ? [event.value.approval.state] : [],
  );
}

const hasExpired = (ports: Parked) => async () =>
  (await statesIn(ports)).at(-1) === ApprovalState.TIMED_OUT;

/** A log that refuses the first `refused` appends. */
function reluctant(runs: RunLog, refused: number) {
  let attempts = 0;
  const refusing: RunLog = {
    append: (...args) =>
      ++attempts > refused
        ? runs.append(...args)
        : Promise.reject(
            new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store does not answer"),
          ),
    read: (...args) => runs.read(...args),
    follow: (...args) => runs.follow(...args),
  };
  return { log: refusing, attempts: () => attempts };
}

// Requirement: HITL-2
test("an approval expires at its expiry time, not before, and wakes its run", async () => {
  const ports = await expiring();
  await using _ = expiry(ports);
  await until(() => ports.clock.sleepers === 1);
  await ports.clock.advance(minute - 1);
  await new Promise(setImmediate);
  expect(await statesIn(ports)).toEqual([ApprovalState.PENDING]);
  await ports.clock.advance(1);
  await until(hasExpired(ports));
  expect(ports.dispatch.length).toBe(1);
});

test("an approval that arrives while nothing is due expires too", async () => {
  const ports = await parkedRun({ expiresAt: timestampFromMs(noon + minute) });
  await using _ = expiry(ports);
  await until(() => ports.clock.sleepers === 1);
  await ports.clock.advance(minute);
  await file(ports);
  await until(hasExpired(ports));
  expect(ports.dispatch.length).toBe(1);
});

test("an expiry that the store refuses is retried with a growing delay until it succeeds", async () => {
  const ports = await expiring();
  const { log: runs, attempts } = reluctant(ports.log, 4);
  await using _ = expiry({ ...ports, log: runs });
  await until(() => ports.clock.sleepers === 1);
  await ports.clock.advance(minute);
  for (const [index, restMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
    await until(() => attempts() === index + 1 && ports.clock.sleepers === 1);
    await ports.clock.advance(restMs - 1);
    await new Promise(setImmediate);
    expect(attempts()).toBe(index + 1);
    await ports.clock.advance(1);
  }
  await until(hasExpired(ports));
  expect(attempts()).toBe(5);
});

test("an expiry is retried while a server that is cut off answers without the approval", async () => {
  const ports = await expiring();
  let reads = 0;
  const created = await ports.log.read(runKey, emptyTail, never);
  const stale: RunLog = {
    append: (...args) => ports.log.append(...args),
    // The log before the approval was requested.
    read: (...args) =>
      ++reads > 2
        ? ports.log.read(...args)
        : Promise.resolve({ ...created, events: created.events.slice(0, 2) }),
    follow: (...args) => ports.log.follow(...args),
  };
  await using _ = expiry({ ...ports, log: stale });
  await until(() => ports.clock.sleepers === 1);
  await ports.clock.advance(minute);
  for (const [index, restMs] of [1_000, 2_000].entries()) {
    await until(() => reads === index + 1 && ports.clock.sleepers === 1);
    await ports.clock.advance(restMs);
  }
  await until(hasExpired(ports));
  expect(reads).toBe(3);
});

test("the approval of a deleted run is settled once a gateway has confirmed the deletion", async () => {
  const ports = await expiring();
  await ports.log.remove(runKey, never);
  let asked = 0;
  const failed = new Failure("unavailable", ErrorReason.UNAVAILABLE, "no gateway answers");
  const logEnds: ApprovalPorts["logEnds"] = {
    last: (...args) => (++asked > 1 ? ports.logEnds.last(...args) : Promise.reject(failed)),
  };
  await using _ = expiry({ ...ports, logEnds });
  await until(() => ports.clock.sleepers === 1);
  await ports.clock.advance(minute);
  await until(() => asked === 1 && ports.clock.sleepers === 1);
  await ports.clock.advance(1_000);
  await until(() => asked === 2 && ports.clock.sleepers === 1);
  await ports.clock.advance(60 * minute);
  await until(() => ports.clock.sleepers === 1);
  expect(asked).toBe(2);
});

test("after a restart, the expiry times come from the inbox, and only due approvals expire", async () => {
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
    append: (...args) => ports.log.append(...args),
    read: (key, ...rest) => {
      read.push(key.run);
      return ports.log.read(key, ...rest);
    },
    follow: (...args) => ports.log.follow(...args),
  };
  {
    await using _ = expiry({ ...ports, log: counting });
    await until(() => ports.clock.sleepers === 1);
  }
  await ports.clock.advance(minute);
  await using _ = expiry({ ...ports, log: counting });
  await until(hasExpired(ports));
  expect(read).toEqual([runKey.run]);
});

test("a broken watch of the inbox ends the expiry", async () => {
  const ports = await expiring();
  const { promise: broken, reject: breakWatch } = Promise.withResolvers<never>();
  const inbox: ApprovalPorts["inbox"] = {
    get: (...args) => ports.inbox.get(...args),
    create: (...args) => ports.inbox.create(...args),
    createFirst: (...args) => ports.inbox.createFirst(...args),
    update: (...args) => ports.inbox.update(...args),
    put: (...args) => ports.inbox.put(...args),
    delete: (...args) => ports.inbox.delete(...args),
    deleteVersion: (...args) => ports.inbox.deleteVersion(...args),
    list: (...args) => ports.inbox.list(...args),
    position: (...args) => ports.inbox.position(...args),
    changesAfter: (...args) => ports.inbox.changesAfter(...args),
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
