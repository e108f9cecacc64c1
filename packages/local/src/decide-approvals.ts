import { create } from "@bufbuild/protobuf";
import { timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import { appendExternal } from "@reeve/run/commands/append-external";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import { approvalOf } from "@reeve/run/head/run-head";

/** A decision. Edited arguments are ignored unless the agent allows them. */
export interface LocalDecision {
  readonly approved: boolean;
  readonly reason?: string;
  readonly editedArguments?: JsonObject;
  /** The answer to a tool's question. Default: an empty answer. */
  readonly answer?: JsonObject;
}

/** Decides an approval, for example by asking a person. `signal` aborts when the approval expires first. */
export type Decide = (approval: Approval, signal: AbortSignal) => Promise<LocalDecision>;

type Ports = Pick<RunPorts, "log" | "dispatch" | "clock">;

/** Obtains a decision for every approval of a run, concurrently, until `signal` aborts. */
export async function decideApprovals(
  ports: Ports,
  key: RunKey,
  decide: Decide,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const { events } of ports.log.follow(key, 0, signal)) {
      for (const { event } of events) {
        const approval = event.case === "approval" ? event.value.approval : undefined;
        if (approval?.state !== ApprovalState.PENDING) continue;
        void resolveApproval(ports, key, approval, decide, signal);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Appends the decision or the expiry of an approval, whichever comes first. */
async function resolveApproval(
  ports: Ports,
  key: RunKey,
  approval: Approval,
  decide: Decide,
  signal: AbortSignal,
): Promise<void> {
  const waiting = new AbortController();
  const bounded = AbortSignal.any([signal, waiting.signal]);
  try {
    const resolved = await Promise.race([
      decidedApproval(approval, decide, bounded),
      expiredApproval(approval, ports, bounded),
    ]);
    await appendExternal(
      ports,
      key,
      (head) =>
        approvalOf(head, approval.approvalId)?.state === ApprovalState.PENDING
          ? [{ case: "approval", value: { approval: resolved } }]
          : [],
      signal,
    );
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    waiting.abort();
  }
}

/** Returns the approval as decided. An error of `decide` is a rejection, with the error as its reason. */
async function decidedApproval(
  approval: Approval,
  decide: Decide,
  signal: AbortSignal,
): Promise<Approval> {
  const { approved, reason, editedArguments, answer } = await decide(approval, signal).catch(
    (error: unknown): LocalDecision => ({ approved: false, reason: String(error) }),
  );
  const edited = approval.allowEditedArguments ? editedArguments : undefined;
  const decision = create(DecisionSchema, {
    approved,
    reason: reason ?? "",
    decidedBy: "local",
    decidedAt: timestampNow(),
    ...(edited && { editedArguments: edited }),
    ...(approval.question && answer && { answer }),
  });
  const state = approved ? ApprovalState.APPROVED : ApprovalState.REJECTED;
  return create(ApprovalSchema, { ...approval, state, decision });
}

/** Resolves at the expiry time of the approval; never, if it has none. */
async function expiredApproval(
  approval: Approval,
  { clock }: Ports,
  signal: AbortSignal,
): Promise<Approval> {
  const { expiresAt } = approval;
  if (expiresAt === undefined) return await new Promise<never>(() => undefined);
  await clock.sleep(Math.max(0, timestampMs(expiresAt) - clock.now()), signal);
  return create(ApprovalSchema, { ...approval, state: ApprovalState.TIMED_OUT });
}
