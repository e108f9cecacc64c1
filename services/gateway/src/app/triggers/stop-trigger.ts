import { create, equals } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { PendingFiring, TriggerOwner, TriggerRecord } from "@reeve/contracts/trigger";
import {
  FiringOutcome,
  PendingFiringSchema,
  TriggerOwnerSchema,
  TriggerState,
} from "@reeve/contracts/trigger";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import { Failure } from "@reeve/platform/failure";
import type { Credential } from "@reeve/platform/rpc/principal";
import { ended } from "./start-firing.ts";
import type { TriggerPorts } from "./trigger-ports.ts";
import type { TriggerKey } from "./trigger-records.ts";
import { changeTrigger } from "./trigger-records.ts";

/** How long settings may lack an owner before the trigger stops: gateways that restart one by one differ meanwhile. */
export const maxMissingMs = 300_000;
/** After what time an owner that was missing counts as there again. */
const forgottenMs = 3_600_000;

export interface StopPorts extends TriggerPorts {
  readonly recordAct: RecordAct;
}

/**
 * Returns with what the owner of a trigger starts runs. Stops the trigger and returns undefined if the owner may start none; if another
 * one has become the owner meanwhile, only returns undefined. Throws a Failure of kind `unavailable` while the settings of this
 * gateway lack an owner whom another gateway may know; if they do for five minutes, the trigger stops.
 */
export async function ownerCredential(
  ports: StopPorts,
  { key, record }: { readonly key: TriggerKey; readonly record: TriggerRecord },
  signal: AbortSignal,
): Promise<Credential | undefined> {
  const checked = record.trigger?.owner;
  const check = ports.owners.check(key.tenant, checked);
  if (check.kind === "accepted") {
    if (record.ownerMissingSince !== undefined) {
      const forget = (before: TriggerRecord) =>
        before.ownerMissingSince === undefined ? undefined : withOwnerFound(before);
      await changeTrigger(ports, key, forget, signal);
    }
    return check.credential;
  }
  const { problem } = check;
  if (check.kind === "missing" && !(await isMissing(ports, { key, checked }, signal))) {
    const message = `trigger ${key.trigger}: ${problem}, as far as this gateway knows; retry`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
  }
  await stopTrigger(ports, key, { problem, checked }, signal);
  return undefined;
}

/** Returns pending firings that start no run. They keep their requests: an attempt that nobody saw end may have started a run. */
export function withoutStarts(
  pending: readonly PendingFiring[],
  problem: string,
  nowMs: number,
): PendingFiring[] {
  return pending.map((each) => {
    const { firing, requestId } = each;
    if (firing?.outcome !== FiringOutcome.STARTING) return each;
    const failed = ended(firing, { outcome: FiringOutcome.FAILED, problem, nowMs });
    return create(PendingFiringSchema, { firing: failed, requestId });
  });
}

/** Returns a trigger whose owner is not missing. */
export function withOwnerFound(record: TriggerRecord): TriggerRecord {
  const { ownerMissingSince: _, ...rest } = record;
  return rest;
}

interface CheckedOwner {
  readonly key: TriggerKey;
  /** The owner who was checked. */
  readonly checked: TriggerOwner | undefined;
}

/** Notes that settings lack an owner. Returns whether they have for so long that the trigger stops. */
async function isMissing(
  ports: TriggerPorts,
  { key, checked }: CheckedOwner,
  signal: AbortSignal,
): Promise<boolean> {
  const nowMs = ports.clock.now();
  let isLong = false;
  const note = (before: TriggerRecord) => {
    const { ownerMissingSince: since } = before;
    const missingMs = since === undefined ? undefined : nowMs - timestampMs(since);
    const isKnown = missingMs !== undefined && missingMs >= 0 && missingMs < forgottenMs;
    isLong = isKnown && missingMs >= maxMissingMs;
    if (isKnown || !isOwnedBy(before, checked)) return undefined;
    return { ...before, ownerMissingSince: timestampFromMs(nowMs) };
  };
  await changeTrigger(ports, key, note, signal);
  return isLong;
}

/** Stops a trigger, unless another one than the checked owner has it now. Its pending firings are recorded as failed. */
async function stopTrigger(
  ports: StopPorts,
  key: TriggerKey,
  { problem, checked }: Omit<CheckedOwner, "key"> & { readonly problem: string },
  signal: AbortSignal,
): Promise<void> {
  const { tenant, trigger: id } = key;
  const subject = systemSubjects.triggers;
  const act = { tenant, subject, action: "trigger.stop", resources: [{ kind: "trigger", id }] };
  await ports.recordAct(act, async () => {
    let isStopped = false;
    const stop = (before: TriggerRecord) => {
      isStopped = false;
      if (before.trigger === undefined || !isOwnedBy(before, checked)) return undefined;
      const pending = withoutStarts(before.pending, problem, ports.clock.now());
      if (before.trigger.state !== TriggerState.ACTIVE) return { ...before, pending };
      isStopped = true;
      const { nextFiringAt: _, ...trigger } = before.trigger;
      const state = TriggerState.STOPPED;
      const stopped = { ...before, pending, trigger: { ...trigger, state, stopReason: problem } };
      return withOwnerFound(stopped);
    };
    await changeTrigger(ports, key, stop, signal);
    return isStopped;
  });
}

/** Whether the owner of a trigger is the one who was checked, and has not confirmed it since. */
function isOwnedBy({ trigger }: TriggerRecord, checked: TriggerOwner | undefined): boolean {
  const owner = trigger?.owner;
  if (owner === undefined || checked === undefined) return owner === checked;
  return equals(TriggerOwnerSchema, owner, checked);
}
