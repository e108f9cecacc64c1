import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ApprovalSchema } from "@reeve/contracts/approval";
import { ApprovalSource, ApprovalState, GateKind } from "@reeve/contracts/approval";
import { callDigest } from "@reeve/contracts/digest/call-digest";
import type { BoundContent, PermissionDecision } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { agentNeedsPasskey } from "@reeve/agent/deciders/step-up";
import { agentWaitMs } from "@reeve/agent/deciders/wait-of";
import { delegatesOfCall } from "../delegates/callers-of.ts";
import type { Fact, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { classOfCall } from "./class-of-call.ts";
import type { Deciders } from "./deciders-of.ts";

/** Where and why a call needs an approval. */
interface ApprovalReason {
  /** The files to which it is bound. Absent: the call names none. */
  readonly content?: BoundContent;
  /** Default: the id of the call. */
  readonly approvalId?: string;
  /** The approval that it supersedes. Absent: there is none. */
  readonly supersedes?: string;
  readonly scope: Scope;
  readonly gates: readonly GateKind[];
  readonly permission: PermissionDecision | undefined;
  readonly deciders: Deciders;
  /** Why plugins ask. Default: none does. */
  readonly pluginReasons?: readonly string[];
}

/** Returns the fact that requests the approval of a call. */
export function requestApproval(
  state: RunState,
  { call }: Call,
  {
    scope,
    gates,
    permission,
    deciders,
    content,
    approvalId,
    supersedes = "",
    pluginReasons = [],
  }: ApprovalReason,
  nowMs: number,
): Fact {
  const { runId, created } = state.head;
  const policy = created?.spec?.approvalPolicy;
  const timeout = policy?.timeout;
  const waitMs = agentWaitMs(policy, call.name);
  const permissionClass = classOfCall(state, scope, call.name);
  const known = permissionClass === PermissionClass.UNSPECIFIED ? undefined : permissionClass;
  const approval: MessageInitShape<typeof ApprovalSchema> = {
    approvalId: approvalId ?? call.callId,
    runId,
    call,
    state: ApprovalState.PENDING,
    agentId: created?.agentId ?? "",
    threadId: created?.threadId ?? "",
    requestedBy: created?.startedBy ?? "",
    requestedAt: timestampFromMs(nowMs),
    allowEditedArguments: policy?.allowEditedArguments ?? false,
    parentId: scope.parentId,
    ...delegatesOfCall(state, state.frames.get(scope.parentId)),
    gates: [...gates],
    pluginReasons: [...pluginReasons],
    source: ApprovalSource.RUN,
    callDigest: callDigest(call, created, content),
    supersedes,
    permissionClass,
    needsPasskey: agentNeedsPasskey(policy, { tool: call.name, permissionClass: known }),
    alternatives: [...deciders.alternatives],
    excludedSubjects: [...deciders.excludedSubjects],
    escalations: deciders.escalations.map(({ afterMs, alternative }) => ({
      dueAt: timestampFromMs(nowMs + afterMs),
      ...(alternative && { alternative }),
    })),
    ...(content && { content }),
    ...(gates.includes(GateKind.PERMISSION) && permission && { permission }),
    ...(waitMs > 0 && { decidableAfter: timestampFromMs(nowMs + waitMs) }),
    ...(timeout && { expiresAt: timestampFromMs(nowMs + durationMs(timeout)) }),
  };
  return fact(scope, { case: "approval", value: { approval } });
}
