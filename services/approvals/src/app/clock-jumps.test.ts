import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ApprovalSchema,
  ApprovalState,
  DecideApprovalRequestSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { Clock } from "@reeve/platform/async/clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { expect, test } from "vitest";
import { ada, approvalId, noon, parkedRun, runKey } from "../../test/support/parked-run.ts";
import { expireApprovals } from "./expire-approvals.ts";
import { maxSleepMs } from "./serve-due-times.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const hour = 3_600_000;
const { PENDING, TIMED_OUT } = ApprovalState;

async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
}

/** A run whose approval expires an hour after noon, on a machine whose clock can be set. */
async function onSetClock() {
  const ports = await parkedRun({ expiresAt: timestampFromMs(noon + hour) });
  const approval = create(ApprovalSchema, {
    approvalId,
    runId: runKey.run,
    state: PENDING,
    expiresAt: timestampFromMs(noon + hour),
  });
  await ports.inbox.put(`${runKey.tenant}.${approvalId}`, approval, never);
  let offsetMs = 0;
  const clock: Clock = {
    now: () => ports.clock.now() + offsetMs,
    // Timers do not follow the clock of the machine.
    sleep: (delayMs, signal) => ports.clock.sleep(delayMs, signal),
  };
  const stop = new AbortController();
  const deciding = { ...ports, clock };
  const working = expireApprovals(deciding, log, stop.signal).catch(() => undefined);
  return {
    deciding,
    setBy: (ms: number) => void (offsetMs = ms),
    async passes(ms: number): Promise<void> {
      await settle();
      for (let passed = 0; passed < ms; passed += maxSleepMs) {
        await ports.clock.advance(maxSleepMs);
        await settle();
      }
    },
    async states(): Promise<readonly ApprovalState[]> {
      const { events } = await ports.log.read(runKey, emptyTail, never);
      return events.flatMap(({ event }) =>
        event.case === "approval" && event.value.approval ? [event.value.approval.state] : [],
      );
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await working;
    },
  };
}

const approve = create(DecideApprovalRequestSchema, { approvalId, approved: true });

test("after the clock was set forward beyond its expiry, an approval takes no decision, and expires within a minute", async () => {
  await using machine = await onSetClock();
  await machine.passes(0);
  machine.setBy(hour);
  await expect(decideApproval(machine.deciding, ada, approve, never)).rejects.toMatchObject({
    reason: ErrorReason.APPROVAL_CLOSED,
  });
  expect(await machine.states()).toEqual([PENDING]);
  await machine.passes(maxSleepMs);
  expect(await machine.states()).toEqual([PENDING, TIMED_OUT]);
});

test("after the clock was set back, an approval expires neither early nor twice", async () => {
  await using machine = await onSetClock();
  machine.setBy(-hour);
  await machine.passes(hour);
  expect(await machine.states()).toEqual([PENDING]);
  await machine.passes(hour);
  expect(await machine.states()).toEqual([PENDING, TIMED_OUT]);
  machine.setBy(-2 * hour);
  await machine.passes(4 * hour);
  expect(await machine.states()).toEqual([PENDING, TIMED_OUT]);
});
