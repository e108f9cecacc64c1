import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import type { Firing, PendingFiring, TriggerRecord } from "@reeve/contracts/trigger";
import {
  FiringCause,
  FiringOutcome,
  FiringSchema,
  OnOverlap,
  PendingFiringSchema,
} from "@reeve/contracts/trigger";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import type { Credential } from "@reeve/platform/rpc/principal";
import { firingRunIdOf } from "@reeve/run/commands/run-id";
import type { RunHead } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import { bucketOf } from "@reeve/contracts/channel";
import { RunSchema } from "@reeve/contracts/run";
import { readRun } from "../read-run.ts";
import { startRunAs } from "../start-run.ts";
import { renderInput } from "./render-input.ts";
import type { TriggerPorts } from "./trigger-ports.ts";
import type { Added, TriggerKey } from "./trigger-records.ts";
import { addFiring, hasRun, settleFiring, withdrawFiring } from "./trigger-records.ts";

/** How long a run that is being started counts as one that has not ended, even if it is not found. */
const startingMs = 60_000;

const { key: runKey } = bucketOf(RunSchema);

/** What makes a trigger fire. */
export interface FiringRequest {
  readonly cause: FiringCause;
  /** Identifies the firing among those of its trigger. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  /** Default: none. */
  readonly body?: string | undefined;
}

/**
 * Returns a firing with everything that its run depends on. The id of its request, and so that of its run, follow from the trigger and
 * the name of the firing: however often and wherever it is started, there is one run.
 */
export function pendingFiring(
  { trigger, uid, tenant }: TriggerRecord,
  { cause, name, timeMs, body }: FiringRequest,
): PendingFiring {
  const { triggerId = "", agentId = "", input = "", labels = {} } = trigger?.spec ?? {};
  const requestId = `trigger:${uid}:${name}`;
  const firing = create(FiringSchema, {
    firingId: firingIdOf(requestId),
    cause,
    scheduledAt: timestampFromMs(timeMs),
    outcome: FiringOutcome.STARTING,
    runId: firingRunIdOf(tenant, requestId),
  });
  return create(PendingFiringSchema, {
    firing,
    requestId,
    agentId,
    input: renderInput(input, { triggerId, timeMs, body }),
    labels: { ...labels, trigger: triggerId },
  });
}

/** Returns the id of a firing. */
export function firingIdOf(requestId: string): string {
  return `fir_${createHash("sha256").update(requestId).digest("hex").slice(0, 32)}`;
}

/** A firing that is started. */
export interface StartedFiring {
  readonly key: TriggerKey;
  readonly record: TriggerRecord;
  readonly pending: PendingFiring;
  /** With what the run starts. */
  readonly credential: Credential;
}

/**
 * Starts the run of a firing, unless the trigger skips overlaps and its last run has not ended, and records it in the history. A
 * firing that was decided before keeps its outcome. Throws a Failure if it can be tried again, as a webhook can for which a quota has no room; any other
 * is the outcome of the firing.
 */
export async function startFiring(
  ports: TriggerPorts,
  { key, record, pending, credential }: StartedFiring,
  signal: AbortSignal,
): Promise<Firing> {
  const { uid } = record;
  const firing = pending.firing ?? create(FiringSchema);
  const nowMs = ports.clock.now();
  const choose = async (before: readonly Firing[]) => {
    const open = isSkipping(record) ? await openRunOf(ports, key, before, signal) : undefined;
    if (open === undefined) return { ...firing, firedAt: timestampFromMs(nowMs) };
    // A repetition whose first attempt the history has lost is no overlap.
    const own = { tenant: key.tenant, run: firing.runId };
    if (await isStarted(ports.gateway, own, pending.requestId, signal)) return undefined;
    const problem = `run ${open} of the trigger has not ended`;
    return ended(firing, { outcome: FiringOutcome.SKIPPED, problem, nowMs });
  };
  const addition = await addFiring(ports, { key, uid, firing }, choose, signal);
  const { kind, added } = addition;
  if (added.outcome !== FiringOutcome.STARTING) return added;
  const overtaking = isSkipping(record)
    ? await overtakingRun(ports, key, { addition, requestId: pending.requestId }, signal)
    : undefined;
  if (overtaking !== undefined) {
    const problem = `run ${overtaking} of the trigger has not ended`;
    const skipped = ended(added, { outcome: FiringOutcome.SKIPPED, problem, nowMs });
    await settleFiring(ports, { key, uid, firing: skipped }, signal);
    return skipped;
  }
  let settled: Firing;
  try {
    settled = await start(ports, pending, added, { credential, nowMs, signal });
  } catch (error) {
    // It is no overlap of others until it is sent again.
    if (isFull(error)) await withdrawFiring(ports, { key, uid, firing: added }, signal);
    throw error;
  }
  if (kind !== "lost") await settleFiring(ports, { key, uid, firing: settled }, signal);
  return settled;
}

/** Returns the run of a later firing that has not ended, if an earlier attempt at the firing died before it started its own. */
async function overtakingRun(
  ports: TriggerPorts,
  key: TriggerKey,
  { addition, requestId }: { readonly addition: Added; readonly requestId: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (addition.kind !== "known" || !addition.isOvertaken) return undefined;
  const own = { tenant: key.tenant, run: firingRunIdOf(key.tenant, requestId) };
  if (await isStarted(ports.gateway, own, requestId, signal)) return undefined;
  return await openRunOf(ports, key, addition.others, signal);
}

/** A firing that is decided to start no run. */
export interface UnstartedFiring {
  readonly key: TriggerKey;
  readonly uid: string;
  readonly firing: Firing;
  /** The id of the request that an attempt may have made before. Empty: there was none. */
  readonly requestId: string;
}

/**
 * Records a firing that starts no run, or that it started one, if an attempt that nobody saw end did. Returns what it recorded. Throws a
 * Failure if it cannot tell.
 */
export async function recordFiring(
  ports: TriggerPorts,
  { key, uid, firing, requestId }: UnstartedFiring,
  signal: AbortSignal,
): Promise<Firing> {
  const { tenant } = key;
  const run = firingRunIdOf(tenant, requestId);
  const hasStarted =
    requestId !== "" && (await isStarted(ports.gateway, { tenant, run }, requestId, signal));
  const recorded = hasStarted ? startedAs(firing, run, ports.clock.now()) : firing;
  const choose = () => Promise.resolve(recorded);
  const { kind } = await addFiring(ports, { key, uid, firing: recorded }, choose, signal);
  if (kind === "known") await settleFiring(ports, { key, uid, firing: recorded }, signal);
  return recorded;
}

/** Returns a firing as it ended. */
export function ended(
  firing: Firing,
  end: {
    readonly outcome: FiringOutcome;
    readonly problem: string;
    readonly nowMs: number;
    /** Default: none. */
    readonly runId?: string;
  },
): Firing {
  const { outcome, problem, nowMs, runId = "" } = end;
  return { ...firing, outcome, problem, runId, firedAt: timestampFromMs(nowMs) };
}

interface StartContext {
  readonly credential: Credential;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

async function start(
  { gateway }: TriggerPorts,
  { requestId, agentId, input, labels }: PendingFiring,
  firing: Firing,
  { credential, nowMs, signal }: StartContext,
): Promise<Firing> {
  const { tenant } = credential;
  const request = create(StartRunRequestSchema, { requestId, agentId, input, labels });
  const { runId } = firing;
  try {
    await startRunAs(gateway, credential, { request, requestId, run: runId }, signal);
    return startedAs(firing, runId, nowMs);
  } catch (error) {
    if (mayPass(error)) throw error;
    // Another attempt started the run, perhaps at the same time, or from an earlier version of the trigger.
    if (await isStarted(gateway, { tenant, run: runId }, requestId, signal)) {
      return startedAs(firing, runId, nowMs);
    }
    // Its sender sends it again; a time of a schedule does not come again.
    if (firing.cause === FiringCause.WEBHOOK && isFull(error)) throw error;
    return ended(firing, { outcome: FiringOutcome.FAILED, problem: problemOf(error), nowMs });
  }
}

/** Whether a quota of the owner has no room for a run. */
export function isFull(error: unknown): error is Failure {
  return error instanceof Failure && error.reason === ErrorReason.QUOTA_EXCEEDED;
}

function startedAs(firing: Firing, runId: string, nowMs: number): Firing {
  return ended(firing, { outcome: FiringOutcome.STARTED, problem: "", nowMs, runId });
}

/** Whether the run of a firing exists, and is recorded as that of its request. */
async function isStarted(
  { log }: Pick<TriggerPorts["gateway"], "log">,
  key: RunKey,
  requestId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const head = await headOf(log, key, signal);
  return head?.created?.requestId === requestId;
}

/** Returns the state of a run. Undefined: there is none. */
async function headOf(log: RunLog, key: RunKey, signal: AbortSignal): Promise<RunHead | undefined> {
  try {
    return await readRun(log, key, signal);
  } catch (error) {
    if (error instanceof Failure && error.kind === "not_found") return undefined;
    throw error;
  }
}

/** Whether the same attempt may succeed later. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Failure)) return true;
  return error.kind === "unavailable" || error.reason === ErrorReason.STORAGE_FULL;
}

/** Returns what is said of a failure in the history. */
export function problemOf(error: unknown): string {
  return error instanceof Failure ? error.message.slice(0, 1_000) : "an internal error";
}

function isSkipping({ trigger }: TriggerRecord): boolean {
  return trigger?.spec?.onOverlap !== OnOverlap.ALLOW;
}

/** Returns the run that the trigger started last, if it has not ended. */
async function openRunOf(
  { gateway, clock }: TriggerPorts,
  { tenant }: TriggerKey,
  before: readonly Firing[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const last = before.findLast(hasRun);
  if (last === undefined) return undefined;
  const { runId: run, firedAt } = last;
  const row = await gateway.runs.get(runKey({ tenant, run }), signal);
  if (row !== undefined && isTerminal(row.record.status)) return undefined;
  // The index follows the log with a delay.
  const head = await headOf(gateway.log, { tenant, run }, signal);
  if (head !== undefined) return isTerminal(head.status) ? undefined : run;
  const isStarting =
    last.outcome === FiringOutcome.STARTING &&
    firedAt !== undefined &&
    clock.now() - timestampMs(firedAt) < startingMs;
  return isStarting ? run : undefined;
}
