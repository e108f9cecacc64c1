import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Firing, PendingFiring, TriggerRecord } from "@reeve/contracts/trigger";
import {
  FiringCause,
  FiringOutcome,
  FiringSchema,
  PendingFiringSchema,
} from "@reeve/contracts/trigger";
import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import { firingRunIdOf } from "@reeve/run/commands/run-id";
import type { UnstartedFiring } from "../start-firing.ts";
import {
  ended,
  firingIdOf,
  mayPass,
  pendingFiring,
  problemOf,
  recordFiring,
  startFiring,
} from "../start-firing.ts";
import type { StopPorts } from "../stop-trigger.ts";
import { ownerCredential } from "../stop-trigger.ts";
import type { TriggerPorts } from "../trigger-ports.ts";
import type { TriggerKey } from "../trigger-records.ts";
import { changeTrigger, readTrigger, triggerKeyOf } from "../trigger-records.ts";
import type { FiringDecision } from "./decide-firing.ts";
import { decideFiring } from "./decide-firing.ts";
import { dueScheduleOf } from "./next-firing.ts";

/** How long a firing is tried again before it counts as failed. */
export const maxPendingMs = 900_000;
/** How long a firing is left to the gateway that claimed it. */
const claimMs = 10_000;
/** How many firings one call starts. The others stay due. */
const maxInCall = 100;

export type FireDuePorts = StopPorts;

/**
 * Starts the runs of a trigger whose time has come. What is to be done is stored by compare-and-set before it is done, and the id of a
 * run follows from the trigger and the time: whichever gateways do this concurrently, and wherever one of them dies, each firing
 * has one run, and each time that was missed counts once. Throws a Failure if the store or the start of a run is not available.
 */
export async function fireDue(
  ports: FireDuePorts,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<void> {
  let isClaimer = false;
  for (let count = 0; count < maxInCall; count++) {
    const { record, revision } = await readTrigger(ports, key, signal);
    const nowMs = ports.clock.now();
    const [pending] = record.pending;
    if (pending !== undefined) {
      if (!isClaimer && !isLeft(pending, nowMs)) return;
      await complete(ports, { key, record, pending }, signal);
      isClaimer = true;
      continue;
    }
    const claimed = claim(record, nowMs);
    if (claimed === undefined) return;
    const written = await ports.records.update(triggerKeyOf(key), claimed, revision, signal);
    isClaimer = written !== undefined;
  }
}

/** Whether the gateway that claimed a firing has left it. */
export function isLeft({ firing }: PendingFiring, nowMs: number): boolean {
  // Clocks of gateways differ, and may jump.
  return firing?.firedAt === undefined || Math.abs(nowMs - timestampMs(firing.firedAt)) > claimMs;
}

/** Returns a trigger with the firings that are due as pending ones. Undefined: none is due. */
function claim(record: TriggerRecord, nowMs: number): TriggerRecord | undefined {
  const schedule = dueScheduleOf(record);
  const decision = schedule && decideFiring(schedule, nowMs);
  if (decision === undefined || record.trigger === undefined) return undefined;
  const { nextFiringAt: _, ...trigger } = record.trigger;
  const { nextMs } = decision;
  return {
    ...record,
    trigger: nextMs === undefined ? trigger : { ...trigger, nextFiringAt: timestampFromMs(nextMs) },
    pending: [...record.pending, ...pendingOf(record, decision, nowMs)],
  };
}

function pendingOf(
  record: TriggerRecord,
  { fireMs, missed }: FiringDecision,
  nowMs: number,
): readonly PendingFiring[] {
  const pending: PendingFiring[] = [];
  const firedAt = timestampFromMs(nowMs);
  if (missed !== undefined) {
    const { count, lastMs } = missed;
    const firing = create(FiringSchema, {
      firingId: firingIdOf(`trigger:${record.uid}:missed:${lastMs}`),
      cause: FiringCause.SCHEDULE,
      scheduledAt: timestampFromMs(lastMs),
      firedAt,
      outcome: FiringOutcome.MISSED,
      missed: count,
      problem: `no gateway ran at ${count === 1 ? "this time" : `${count} times up to this one`}`,
    });
    pending.push(create(PendingFiringSchema, { firing }));
  }
  if (fireMs !== undefined) {
    const name = new Date(fireMs).toISOString();
    const request = { cause: FiringCause.SCHEDULE, name, timeMs: fireMs };
    const { firing, ...rest } = pendingFiring(record, request);
    pending.push({ ...rest, ...(firing && { firing: { ...firing, firedAt } }) });
  }
  return pending;
}

interface Completed {
  readonly key: TriggerKey;
  readonly record: TriggerRecord;
  readonly pending: PendingFiring;
}

async function complete(
  ports: FireDuePorts,
  { key, record, pending }: Completed,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = record;
  const firing = pending.firing ?? create(FiringSchema);
  const { firingId } = firing;
  const { requestId } = pending;
  const perform = async (fire: () => Promise<Firing>) => {
    const run = firingRunIdOf(key.tenant, requestId);
    const resources = [
      { kind: "trigger", id: key.trigger },
      { kind: "run", id: run },
    ];
    const act = { tenant: key.tenant, subject: systemSubjects.triggers, action: "trigger.fire" };
    await ports.recordAct({ ...act, resources, actId: firingId }, async () => {
      const { outcome } = await fire();
      return outcome === FiringOutcome.STARTED;
    });
  };
  const isLate = () => {
    const nowMs = ports.clock.now();
    const claimedMs = firing.firedAt === undefined ? nowMs : timestampMs(firing.firedAt);
    return nowMs - claimedMs >= maxPendingMs;
  };
  if (firing.outcome !== FiringOutcome.STARTING) {
    await perform(() => recordEnd(ports, { key, uid, firing, requestId }, isLate(), signal));
    return await drop(ports, { key, firingId }, signal);
  }
  const credential = await ownerCredential(ports, { key, record }, signal);
  // The trigger has another owner, or its pending firings start no run: the next read of the trigger shows which.
  if (credential === undefined) return;
  try {
    await perform(() => startFiring(ports, { key, record, pending, credential }, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (mayPass(error) && !isLate()) throw error;
    const problem = `was tried for ${Math.round(maxPendingMs / 60_000)} minutes, and may have started: ${problemOf(error)}`;
    const failed = ended(firing, {
      outcome: FiringOutcome.FAILED,
      problem,
      nowMs: ports.clock.now(),
      runId: firing.runId,
    });
    await recordEnd(ports, { key, uid, firing: failed, requestId }, true, signal);
  }
  await drop(ports, { key, firingId }, signal);
}

/** Records a firing that starts no run. With `isLate`, also if nothing tells whether an attempt started one. */
async function recordEnd(
  ports: TriggerPorts,
  unstarted: UnstartedFiring,
  isLate: boolean,
  signal: AbortSignal,
): Promise<Firing> {
  try {
    return await recordFiring(ports, unstarted, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isLate) throw error;
    return await recordFiring(ports, { ...unstarted, requestId: "" }, signal);
  }
}

/** Removes a completed firing from the pending ones. */
async function drop(
  ports: TriggerPorts,
  { key, firingId }: { readonly key: TriggerKey; readonly firingId: string },
  signal: AbortSignal,
): Promise<void> {
  const isOther = ({ firing }: PendingFiring) => firing?.firingId !== firingId;
  const remove = (before: TriggerRecord) =>
    before.pending.every(isOther)
      ? undefined
      : { ...before, pending: before.pending.filter(isOther) };
  await changeTrigger(ports, key, remove, signal);
}
