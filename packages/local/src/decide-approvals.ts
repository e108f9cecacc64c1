import type { JsonObject } from "@bufbuild/protobuf";
import { create, equals } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { Approval } from "@reeve/contracts/approval";
import {
  ApprovalSchema,
  ApprovalState,
  DecideApprovalRequestSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { assertValid } from "@reeve/platform/strict/assert-valid";
import { readInit } from "@reeve/platform/strict/read-init";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { expireApproval } from "@reeve/run/approvals/expire-approval";

/**
 * A decision, which must be valid as in a deployment: edited arguments only where the agent permits them, and, like an
 * answer, in accordance with their schema. A decision that is not valid is a rejection, with what is wrong as its reason.
 */
export interface LocalDecision {
  readonly approved: boolean;
  readonly reason?: string;
  readonly editedArguments?: JsonObject;
  /** The answer to a tool's question. Default: an empty answer. */
  readonly answer?: JsonObject;
  /** Who decided, where the agent's policy names people or groups. Default: `local`, a member of no group. */
  readonly by?: { readonly subject: string; readonly groups?: readonly string[] };
}

/**
 * Decides an approval, for example by asking a person. It is called again when other votes are needed. Advice of a model that comes meanwhile does
 * not interrupt it; the events of the run have it. `signal` aborts when the approval is closed first: it expired, its call ended, or the run did.
 */
export type Decide = (approval: Approval, signal: AbortSignal) => Promise<LocalDecision>;

/** Declines every question: nobody is there to answer it. */
export const declineAll: Decide = async () => ({
  approved: false,
  reason: "nobody can answer; pass `decide` to runAgent",
});

/** The maximum size of the reason for a decision. */
const maxReasonBytes = 4_096;

type Ports = Pick<RunPorts, "log" | "dispatch" | "clock">;

/** Obtains a decision for every approval of a run, concurrently, until `signal` aborts. Rejects if the log breaks. */
export async function decideApprovals(
  ports: Ports,
  key: RunKey,
  decide: Decide,
  signal: AbortSignal,
): Promise<void> {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const open = new Map<string, Asking>();
  const follow = async () => {
    for await (const { events } of ports.log.follow(key, 0, signal)) {
      for (const { event } of events) {
        const approval = event.case === "approval" ? event.value.approval : undefined;
        if (approval === undefined) continue;
        const asking = open.get(approval.approvalId);
        if (asking !== undefined && asksTheSame(asking.approval, approval)) continue;
        asking?.closed.abort(new DOMException("it is closed", "AbortError"));
        if (approval.state !== ApprovalState.PENDING) continue;
        const closed = new AbortController();
        open.set(approval.approvalId, { approval, closed });
        const bounded = AbortSignal.any([signal, closed.signal]);
        resolveApproval(ports, key, { approval, decide }, bounded).catch((error: unknown) => {
          if (!bounded.aborted) fail(error);
        });
      }
    }
  };
  try {
    await Promise.race([follow(), failed]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** An approval that somebody is being asked about. */
interface Asking {
  readonly approval: Approval;
  readonly closed: AbortController;
}

/** Whether a version of an approval differs from an earlier one by nothing that is to be decided: it may have advice or notes. */
function asksTheSame(before: Approval, after: Approval): boolean {
  const { revision, review, comments, assignment } = before;
  return equals(ApprovalSchema, before, { ...after, revision, review, comments, assignment });
}

interface Asked {
  readonly approval: Approval;
  readonly decide: Decide;
}

/** Records the decision or the expiry of an approval, whichever comes first. */
async function resolveApproval(
  ports: Ports,
  key: RunKey,
  asked: Asked,
  signal: AbortSignal,
): Promise<void> {
  const waiting = new AbortController();
  const bounded = AbortSignal.any([signal, waiting.signal]);
  const { approval, decide } = asked;
  const ask = async () => {
    const decision = await decide(approval, bounded);
    if (decision.approved) await decidable(approval, ports, bounded);
    return decision;
  };
  try {
    const decided = await Promise.race([
      // An error of `decide` is a rejection, with the error as its reason.
      ask().catch((error: unknown) => rejection(error)),
      expiryOf(approval, ports, bounded),
    ]);
    if (decided === undefined) await expireApproval(ports, key, approval.approvalId, signal);
    else await record(ports, key, { approval, decision: decided }, signal);
  } finally {
    waiting.abort();
  }
}

async function record(
  ports: Ports,
  key: RunKey,
  { approval, decision }: { readonly approval: Approval; readonly decision: LocalDecision },
  signal: AbortSignal,
): Promise<void> {
  const { approvalId } = approval;
  const send = async ({ by, ...sent }: LocalDecision) => {
    const groups = new Set(by?.groups);
    const decider = { tenant: key.tenant, subject: by?.subject ?? "local", groups };
    const { init, violations } = readInit(DecideApprovalRequestSchema, { ...sent, approvalId });
    const request = create(DecideApprovalRequestSchema, init);
    assertValid(DecideApprovalRequestSchema, request, violations);
    const after = await decideApproval(ports, decider, request, signal);
    // A repeated vote adds no fact, so that nothing would ask again.
    if (asksTheSame(approval, after)) await expireApproval(ports, key, approvalId, signal);
  };
  try {
    await send(decision).catch((error: unknown) => {
      if (isClosed(error)) throw error;
      return send(rejection(error, decision.by));
    });
  } catch (error) {
    // It expired, or its call ended, while `decide` was at work.
    // Or the policy names other people, who cannot be asked here, or the person has no vote left.
    if (!isClosed(error) && !cannotVote(error)) throw error;
    await expireApproval(ports, key, approvalId, signal);
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.APPROVAL_CLOSED;
}

function cannotVote(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  return error.kind === "denied" || error.reason === ErrorReason.VOTES_USED_UP;
}

function rejection(error: unknown, by?: LocalDecision["by"]): LocalDecision {
  const reason = error instanceof Error ? error.message : String(error);
  return { approved: false, reason: truncateToBytes(reason, maxReasonBytes), ...(by && { by }) };
}

/** Resolves at the expiry time of the approval; never, if it has none. */
async function expiryOf(
  { expiresAt }: Approval,
  { clock }: Ports,
  signal: AbortSignal,
): Promise<undefined> {
  const delayMs = expiresAt === undefined ? Infinity : timestampMs(expiresAt) - clock.now();
  await clock.sleep(Math.max(0, delayMs), signal);
}

/** Resolves when the wait of the agent's policy has ended. */
async function decidable(
  { decidableAfter }: Approval,
  { clock }: Ports,
  signal: AbortSignal,
): Promise<void> {
  const waitEndMs = decidableAfter === undefined ? 0 : timestampMs(decidableAfter);
  // A timer may be early by the wall clock.
  for (;;) {
    const delayMs = waitEndMs - clock.now();
    if (delayMs <= 0) return;
    await clock.sleep(delayMs, signal);
  }
}
