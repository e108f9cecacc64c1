import { createHash } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import type { Firing, PendingFiring, TriggerRecord } from "@reeve/contracts/trigger";
import { FiringCause, FiringOutcome, TriggerState } from "@reeve/contracts/trigger";
import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import { Failure } from "@reeve/platform/failure";
import type { RequestRate } from "../../../quotas/request-rate.ts";
import type { FireDuePorts } from "../schedule/fire-due.ts";
import type { FiringRequest } from "../start-firing.ts";
import { isFull, pendingFiring, startFiring } from "../start-firing.ts";
import { ownerCredential } from "../stop-trigger.ts";
import type { TriggerKey } from "../trigger-records.ts";
import { readTrigger, triggerKeyOf } from "../trigger-records.ts";
import { decodeBody } from "./decode-body.ts";
import type { SignedRequest } from "./verify-signature.ts";
import { isSigned } from "./verify-signature.ts";
import { validKeys } from "./webhook-secrets.ts";

/** How many webhooks per second a gateway accepts for a trigger. */
const maxPerSecond = 20;
/** How many refused requests per second may read the store. */
const maxLookupsPerSecond = 50;

/** After how long a webhook is to be sent again for which a quota had no room. */
const fullMs = 60_000;

/** What becomes of a webhook. */
export type Received =
  /** The signature is not valid, or there is no such trigger. */
  | { readonly kind: "refused" }
  | { readonly kind: "malformed"; readonly problem: string }
  | { readonly kind: "limited"; readonly retryAfterMs: number }
  /** A quota of the owner has no room for a run. */
  | { readonly kind: "full"; readonly problem: string; readonly retryAfterMs: number }
  /** The trigger does not fire now. */
  | { readonly kind: "inactive"; readonly problem: string }
  | { readonly kind: "fired"; readonly firing: Firing };

export interface ReceivePorts extends FireDuePorts {
  /** On monotonic time. */
  readonly rate: RequestRate;
}

/**
 * Fires a trigger for a webhook with a valid signature. The same `webhook-id` means the same run, however often and at whatever gateway
 * it arrives. Nothing distinguishes a trigger that does not exist from a signature that is not valid.
 */
export async function receiveWebhook(
  ...given: Parameters<typeof receiveSigned>
): Promise<Received> {
  try {
    return await receiveSigned(...given);
  } catch (error) {
    // It was deleted after the view of this gateway, or meanwhile.
    const isGone = error instanceof Failure && error.reason === ErrorReason.TRIGGER_NOT_FOUND;
    if (isGone) return { kind: "refused" };
    throw error;
  }
}

async function receiveSigned(
  ports: ReceivePorts,
  key: TriggerKey,
  request: SignedRequest,
  signal: AbortSignal,
): Promise<Received> {
  const record = await signedRecord(ports, key, request, signal);
  if (record === undefined) return { kind: "refused" };
  const name = triggerKeyOf(key);
  const retryAfterMs = ports.rate.take(name, maxPerSecond);
  if (retryAfterMs > 0) return { kind: "limited", retryAfterMs };
  const body = decodeBody(request.body);
  if (body === undefined) return { kind: "malformed", problem: "the body is no UTF-8" };
  const { state, stopReason } = record.trigger ?? {};
  if (state !== TriggerState.ACTIVE) {
    const problem = stopReason ? `the trigger was stopped: ${stopReason}` : "the trigger is paused";
    return { kind: "inactive", problem };
  }
  ports.gateway.assertRoom();
  const credential = await ownerCredential(ports, { key, record }, signal);
  if (credential === undefined) return await refusedByOwner(ports, key, signal);
  const pending = pendingOf(record, request, { timeMs: ports.clock.now(), body });
  if (pending instanceof Failure) return { kind: "malformed", problem: pending.message };
  const { firingId = "", runId = "" } = pending.firing ?? {};
  const resources = [
    { kind: "trigger", id: key.trigger },
    { kind: "run", id: runId },
  ];
  const act = { tenant: key.tenant, subject: systemSubjects.triggers, action: "trigger.fire" };
  const fired: Firing[] = [];
  try {
    await ports.recordAct({ ...act, resources, actId: firingId }, async () => {
      const firing = await startFiring(ports, { key, record, pending, credential }, signal);
      fired.push(firing);
      return firing.outcome === FiringOutcome.STARTED;
    });
  } catch (error) {
    if (!isFull(error)) throw error;
    return { kind: "full", problem: error.message, retryAfterMs: fullMs };
  }
  const [firing] = fired;
  if (firing === undefined) throw new Error(`webhook of ${name} has no outcome`);
  return { kind: "fired", firing };
}

/** Returns the firing of a webhook, or what is wrong with the values of its body. */
function pendingOf(
  record: TriggerRecord,
  { webhookId = "" }: SignedRequest,
  values: Pick<FiringRequest, "timeMs" | "body">,
): PendingFiring | Failure {
  const name = `hook:${createHash("sha256").update(webhookId).digest("hex")}`;
  try {
    return pendingFiring(record, { cause: FiringCause.WEBHOOK, name, ...values });
  } catch (error) {
    if (error instanceof Failure && error.kind === "invalid") return error;
    throw error;
  }
}

/** Returns the answer for a trigger whose owner starts no run. Throws a Failure if it has another owner meanwhile. */
async function refusedByOwner(
  ports: ReceivePorts,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<Received> {
  const { record } = await readTrigger(ports, key, signal);
  if (record.trigger?.state !== TriggerState.ACTIVE) {
    return { kind: "inactive", problem: "the trigger was stopped" };
  }
  const message = `trigger ${key.trigger} has another owner; retry`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

/** Returns the trigger if one of its secrets signed the request. */
async function signedRecord(
  ports: ReceivePorts,
  key: TriggerKey,
  request: SignedRequest,
  signal: AbortSignal,
): Promise<TriggerRecord | undefined> {
  const nowMs = ports.clock.now();
  const isSigner = (record: TriggerRecord | undefined) =>
    isSigned(request, validKeys(record?.secrets ?? [], nowMs), nowMs);
  const known = ports.known.get(triggerKeyOf(key));
  if (isSigner(known)) return known;
  // The view may lack a trigger, or a secret, that is a moment old.
  if (ports.rate.take("lookups", maxLookupsPerSecond) > 0) return undefined;
  const stored = (await ports.records.get(triggerKeyOf(key), signal))?.record;
  return isSigner(stored) ? stored : undefined;
}
