import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Firing, TriggerFirings, TriggerRecord } from "@reeve/contracts/trigger";
import { FiringOutcome, TriggerFiringsSchema, TriggerRecordSchema } from "@reeve/contracts/trigger";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import type { TriggerPorts } from "./trigger-ports.ts";

/** A trigger of a tenant. */
export interface TriggerKey {
  readonly tenant: string;
  readonly trigger: string;
}

/** How many firings are kept of each trigger. */
const maxFirings = 100;
/** How often a change is tried again after a concurrent one. */
const maxAttempts = 20;

const { key: recordKey } = bucketOf(TriggerRecordSchema);
const { key: firingsKey } = bucketOf(TriggerFiringsSchema);

/** Returns the key of a trigger in its table. */
export function triggerKeyOf(key: TriggerKey): string {
  return recordKey({ ...key });
}

/** Returns the row of a trigger. Throws a Failure of kind `not_found` if there is none. */
export async function readTrigger(
  { records }: Pick<TriggerPorts, "records">,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<Row<TriggerRecord>> {
  const row = await records.get(triggerKeyOf(key), signal);
  if (row === undefined) throw triggerNotFound(key.trigger);
  return row;
}

/**
 * Replaces a trigger by what `change` makes of it, again after each concurrent change. `change` returns undefined for no change.
 * Returns the record as it is stored then.
 */
export async function changeTrigger(
  { records }: Pick<TriggerPorts, "records">,
  key: TriggerKey,
  change: (before: TriggerRecord) => TriggerRecord | undefined,
  signal: AbortSignal,
): Promise<TriggerRecord> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { record, revision } = await readTrigger({ records }, key, signal);
    const after = change(record);
    if (after === undefined) return record;
    const written = await records.update(triggerKeyOf(key), after, revision, signal);
    if (written !== undefined) return after;
  }
  throw changedConcurrently(key.trigger);
}

/** Returns the firings of a trigger, oldest first. Those of an earlier trigger with its id are not among them. */
export async function readFirings(
  { firings }: Pick<TriggerPorts, "firings">,
  key: TriggerKey,
  uid: string,
  signal: AbortSignal,
): Promise<readonly Firing[]> {
  const row = await firings.get(firingsKey({ ...key }), signal);
  return row?.record.uid === uid ? row.record.firings : [];
}

/** A firing, with the trigger that has it. */
export interface FiringOfTrigger {
  readonly key: TriggerKey;
  /** The `uid` of the trigger. */
  readonly uid: string;
  readonly firing: Firing;
}

/** What a firing finds when it is added to the history. */
export type Added =
  | { readonly kind: "added" }
  /** The firing is already there: a repeated request. `others` are the other firings, and whether any of them with a run came later. */
  | {
      readonly kind: "known";
      readonly others: readonly Firing[];
      readonly isOvertaken: boolean;
    }
  /** The history had the firing, and dropped it since. */
  | { readonly kind: "lost" };

/**
 * Adds a firing to the history of its trigger, once. `choose` sees the firings before it, and may throw; it returns undefined
 * for a firing that the history has lost, which is not added again. Between that and the addition no other firing is added. Throws a
 * Failure of kind `not_found` if the trigger was deleted, also if there is another one with its id.
 */
export async function addFiring(
  { firings, records }: Pick<TriggerPorts, "firings" | "records">,
  { key, uid, firing }: FiringOfTrigger,
  choose: (before: readonly Firing[]) => Promise<Firing | undefined>,
  signal: AbortSignal,
): Promise<Added & { readonly added: Firing }> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await firings.get(firingsKey({ ...key }), signal);
    const isOwn = row?.record.uid === uid;
    // The caller may know the trigger from before its deletion.
    if (!isOwn) await assertExists({ records }, key, uid, signal);
    const before = isOwn ? row.record.firings : [];
    const index = before.findIndex(({ firingId }) => firingId === firing.firingId);
    const known = before[index];
    if (known !== undefined) {
      const others = before.toSpliced(index, 1);
      const isOvertaken = others.slice(index).some(hasRun);
      return { kind: "known", added: known, others, isOvertaken };
    }
    const added = await choose(before);
    if (added === undefined) return { kind: "lost", added: firing };
    const after = create(TriggerFiringsSchema, { uid, firings: lastOf([...before, added]) });
    if (await write(firings, firingsKey({ ...key }), row, after, signal)) {
      return { kind: "added", added };
    }
  }
  throw changedConcurrently(key.trigger);
}

/** Throws a Failure of kind `not_found` if the stored trigger is another one, or there is none. */
async function assertExists(
  ports: Pick<TriggerPorts, "records">,
  key: TriggerKey,
  uid: string,
  signal: AbortSignal,
): Promise<void> {
  const { record } = await readTrigger(ports, key, signal);
  if (record.uid !== uid) throw triggerNotFound(key.trigger);
}

/** Returns the last firings. Among them is the last one with a run, however many were skipped since: its run may not have ended. */
function lastOf(firings: readonly Firing[]): Firing[] {
  const kept = firings.slice(-maxFirings);
  const started = firings.findLast(hasRun);
  return started === undefined || kept.includes(started) ? kept : [started, ...kept.slice(1)];
}

/** Whether a firing has started a run, or is starting one. */
export function hasRun({ outcome }: Firing): boolean {
  return outcome === FiringOutcome.STARTED || outcome === FiringOutcome.STARTING;
}

/**
 * Records how a firing ended that the history had while it was being started. Adds it again if a concurrent attempt withdrew it. A
 * firing that has started its run replaces any other outcome of it.
 */
export async function settleFiring(
  { firings }: Pick<TriggerPorts, "firings">,
  { key, uid, firing }: FiringOfTrigger,
  signal: AbortSignal,
): Promise<void> {
  const settle = (before: readonly Firing[]) => {
    const index = before.findIndex(({ firingId }) => firingId === firing.firingId);
    const outcome = before[index]?.outcome;
    if (outcome === undefined) return lastOf([...before, firing]);
    const isStart = firing.outcome === FiringOutcome.STARTED && outcome !== FiringOutcome.STARTED;
    return isStart || outcome === FiringOutcome.STARTING ? before.with(index, firing) : undefined;
  };
  await changeFirings({ firings }, { key, uid }, settle, signal);
}

/** Removes a firing that is being started from the history, so that it can be started again. Does nothing if the history has lost it. */
export async function withdrawFiring(
  { firings }: Pick<TriggerPorts, "firings">,
  { key, uid, firing }: FiringOfTrigger,
  signal: AbortSignal,
): Promise<void> {
  const isOpen = ({ firingId, outcome }: Firing) =>
    firingId === firing.firingId && outcome === FiringOutcome.STARTING;
  const withdraw = (before: readonly Firing[]) =>
    before.some(isOpen) ? before.filter((each) => !isOpen(each)) : undefined;
  await changeFirings({ firings }, { key, uid }, withdraw, signal);
}

/** Changes the history of a trigger, unless it was deleted. `change` returns undefined for no change. */
async function changeFirings(
  { firings }: Pick<TriggerPorts, "firings">,
  { key, uid }: Omit<FiringOfTrigger, "firing">,
  change: (before: readonly Firing[]) => readonly Firing[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await firings.get(firingsKey({ ...key }), signal);
    if (row === undefined || row.record.uid !== uid) return;
    const changed = change(row.record.firings);
    if (changed === undefined) return;
    const after = create(TriggerFiringsSchema, { uid, firings: [...changed] });
    if (await write(firings, firingsKey({ ...key }), row, after, signal)) return;
  }
  throw changedConcurrently(key.trigger);
}

/** Deletes the history of a trigger. */
export async function deleteFirings(
  { firings }: Pick<TriggerPorts, "firings">,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<void> {
  await firings.delete(firingsKey({ ...key }), signal);
}

async function write(
  firings: Table<TriggerFirings>,
  key: string,
  before: Row<TriggerFirings> | undefined,
  after: TriggerFirings,
  signal: AbortSignal,
): Promise<boolean> {
  const written =
    before === undefined
      ? await firings.create(key, after, signal)
      : await firings.update(key, after, before.revision, signal);
  return written !== undefined;
}

/** Returns the Failure of a trigger that does not exist. */
export function triggerNotFound(triggerId: string): Failure {
  return new Failure(
    "not_found",
    ErrorReason.TRIGGER_NOT_FOUND,
    `trigger ${triggerId} not found; list the triggers for their ids`,
    { metadata: { trigger_id: triggerId } },
  );
}

function changedConcurrently(triggerId: string): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `trigger ${triggerId} is changed by many requests at the same time; retry`,
    { metadata: { trigger_id: triggerId } },
  );
}
