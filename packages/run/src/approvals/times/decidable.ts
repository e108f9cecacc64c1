import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalTimes } from "@reeve/agent/approval-times/approval-times";
import { agentWaitMs } from "@reeve/agent/deciders/wait-of";
import { operatorNeedsPasskey, waitMsOf } from "@reeve/agent/approval-times/approval-times";
import type { ActiveFreeze } from "@reeve/agent/approval-times/freezes-at";
import { freezesAt } from "@reeve/agent/approval-times/freezes-at";
import type { TimedCall } from "@reeve/agent/approval-times/timed-call";
import { timedCall } from "@reeve/agent/approval-times/timed-call";
import type { ApprovalPolicy } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalFreezeSchema, ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** What the waits of an approval depend on. */
export interface WaitRules {
  readonly tenant: string;
  /** The operator's policy. Undefined: there is none. */
  readonly times: ApprovalTimes | undefined;
  /** Whether the waits of the agent's policy do not count. Default: they do. */
  readonly withoutAgent?: boolean;
  /** The policy of the run's agent. Absent: only what the request recorded counts. A runtime of an earlier version records no wait. */
  readonly agentPolicy?: Pick<ApprovalPolicy, "waits"> | undefined;
}

/** A time at which calls may be approved or not. */
export interface DecisionTime extends WaitRules {
  readonly nowMs: number;
  readonly freezeOf: (call: TimedCall) => ActiveFreeze | undefined;
}

/** Returns a time, with the freezes of then, which are looked up once for all calls. */
export function decisionTime(rules: WaitRules, nowMs: number): DecisionTime {
  return { ...rules, nowMs, freezeOf: freezesAt(rules.times?.freezes ?? [], nowMs) };
}

/** Why a call cannot be approved now. */
export interface TooEarly {
  /** When it can. Undefined: the end of the freeze is not known. */
  readonly decidableMs: number | undefined;
  readonly freeze: ActiveFreeze | undefined;
}

/** Returns why a call cannot be approved at a time, or undefined. Questions of tools are answered at any time. */
export function tooEarly(approval: Approval, time: DecisionTime): TooEarly | undefined {
  if (approval.question !== undefined) return undefined;
  const { nowMs, tenant, freezeOf } = time;
  const waitEndMs = waitEndOf(approval, time) ?? 0;
  const freeze = freezeOf(timedCall(approval, tenant));
  if (freeze === undefined) {
    return nowMs < waitEndMs ? { decidableMs: waitEndMs, freeze } : undefined;
  }
  const { endsAtMs } = freeze;
  const decidableMs = endsAtMs === undefined ? undefined : Math.max(endsAtMs, waitEndMs);
  return { decidableMs, freeze };
}

/** Returns when the waits of an approval end, by the agent's policy and by the operator's, or undefined if it has none. */
export function waitEndOf(
  approval: Approval,
  { tenant, times, withoutAgent = false, agentPolicy }: WaitRules,
): number | undefined {
  const { question, requestedAt, decidableAfter, call } = approval;
  if (question !== undefined || requestedAt === undefined) return undefined;
  const ofAgentMs = withoutAgent ? 0 : agentWaitMs(agentPolicy, call?.name ?? "");
  const waitMs = Math.max(waitMsOf(times, timedCall(approval, tenant)), ofAgentMs);
  const recordedMs = withoutAgent || decidableAfter === undefined ? 0 : timestampMs(decidableAfter);
  const endMs = waitMs === 0 ? recordedMs : Math.max(recordedMs, timestampMs(requestedAt) + waitMs);
  return endMs === 0 ? undefined : endMs;
}

/** Throws a Failure of kind `precondition` for a call that cannot be approved yet, which says from when on it can. */
export function assertDecidable(approval: Approval, time: DecisionTime): void {
  const early = tooEarly(approval, time);
  if (early === undefined) return;
  const { approvalId, runId } = approval;
  const { decidableMs, freeze } = early;
  const at = decidableMs === undefined ? undefined : new Date(decidableMs).toISOString();
  throw new Failure(
    "precondition",
    ErrorReason.APPROVAL_TOO_EARLY,
    `approval ${approvalId} cannot be approved ${reasonOf(early)}; approve it later, or reject it`,
    {
      metadata: {
        approval_id: approvalId,
        run_id: runId,
        ...(at !== undefined && { decidable_after: at }),
        ...(freeze && { freeze: freeze.name }),
      },
    },
  );
}

function reasonOf({ decidableMs, freeze }: TooEarly): string {
  const at = decidableMs === undefined ? undefined : new Date(decidableMs).toISOString();
  if (freeze === undefined) return `before ${at ?? "its wait has ended"}`;
  const { name, endsAtMs } = freeze;
  if (endsAtMs === undefined) return `in the freeze "${name}", whose end is more than a year away`;
  const end = new Date(endsAtMs).toISOString();
  const wait = at === end ? "" : `, and then not before ${at ?? end}`;
  return `in the freeze "${name}", which ends at ${end}${wait}`;
}

function operatorWantsPasskey(approval: Approval, { tenant, times }: WaitRules): boolean {
  const { question, permissionClass } = approval;
  // Of a request of an earlier version, the class is not known here. A decision that lacks the passkey then says that it needs one.
  return (
    question === undefined &&
    operatorNeedsPasskey(times, timedCall(approval, tenant), permissionClass)
  );
}

/** Returns a pending approval with the times that apply to it now, and whether it needs a passkey, for people. */
export function withTimes(approval: Approval, time: DecisionTime): Approval {
  if (approval.state !== ApprovalState.PENDING) return approval;
  const waitEndMs = waitEndOf(approval, time);
  const freeze = tooEarly(approval, time)?.freeze;
  const needsPasskey = approval.needsPasskey || operatorWantsPasskey(approval, time);
  if (waitEndMs === undefined && freeze === undefined && needsPasskey === approval.needsPasskey) {
    return approval;
  }
  return create(ApprovalSchema, {
    ...approval,
    needsPasskey,
    ...(waitEndMs !== undefined && { decidableAfter: timestampFromMs(waitEndMs) }),
    ...(freeze && {
      freeze: create(ApprovalFreezeSchema, {
        name: freeze.name,
        ...(freeze.endsAtMs !== undefined && { endsAt: timestampFromMs(freeze.endsAtMs) }),
      }),
    }),
  });
}
