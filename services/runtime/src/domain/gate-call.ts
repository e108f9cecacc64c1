import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ApprovalSchema } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { ToolCallSchema, ToolStatus } from "@reeve/contracts/tool";
import type { Fact, Scope } from "./fact.ts";
import { fact } from "./fact.ts";
import type { Call, RunState } from "./run-state.ts";
import { refusedResult, toolResultFact } from "./tool-result.ts";
import { argumentProblems } from "./validate-arguments.ts";

/** The facts that a call meets before it may run: a refusal, a request for an approval, or what the approval came to. */
export function gateCall(
  state: RunState,
  pending: Call,
  scope: Scope,
  { nowMs, refusal }: { readonly nowMs: number; readonly refusal?: string },
): readonly Fact[] {
  if (pending.result !== undefined) return [];
  const refuse = (content: string, status: ToolStatus = ToolStatus.ERROR): readonly Fact[] => [
    toolResultFact(pending, scope, refusedResult(pending, content, status, nowMs), nowMs),
  ];
  if (refusal !== undefined) return refuse(refusal);
  const problem = problemOf(state, pending);
  if (problem !== undefined) return refuse(problem);
  const { approval } = pending;
  if (approval === undefined) {
    return needsApproval(state, pending) ? [requestApproval(state, pending, scope, nowMs)] : [];
  }
  const reason = approval.decision?.reason ?? "";
  switch (approval.state) {
    case ApprovalState.REJECTED:
    case ApprovalState.WITHDRAWN:
      return refuse(
        `a person rejected this call${reason === "" ? "" : `: ${reason}`}`,
        ToolStatus.REJECTED,
      );
    case ApprovalState.TIMED_OUT:
      return refuse("nobody approved this call in time", ToolStatus.TIMED_OUT);
    case ApprovalState.APPROVED:
    case ApprovalState.PENDING:
    case ApprovalState.UNSPECIFIED:
      return [];
  }
  return [];
}

/** Whether the call waits for a person. */
export function awaitsApproval({ result, approval }: Call): boolean {
  return result === undefined && approval?.state === ApprovalState.PENDING;
}

/** The call as it runs: with the arguments that were approved. */
export function approvedCall({ call, approval }: Call): Call["call"] {
  const edited = approval?.decision?.editedArguments;
  return edited === undefined ? call : create(ToolCallSchema, { ...call, arguments: edited });
}

function needsApproval({ created }: RunState, { call }: Call): boolean {
  return created?.spec?.hitlTools.includes(call.name) ?? false;
}

function problemOf({ tools }: RunState, pending: Call): string | undefined {
  const call = approvedCall(pending);
  const tool = tools.get(call.name);
  if (tool === undefined) {
    const known = [...tools.keys()].join(", ");
    return `there is no tool "${call.name}"; the tools are: ${known === "" ? "none" : known}`;
  }
  if (call.arguments === undefined) return "the arguments are no JSON object; call again with one";
  const problems = argumentProblems(tool, call.arguments);
  return problems.length === 0
    ? undefined
    : `the arguments do not fit ${call.name}: ${problems.join("; ")}`;
}

function requestApproval(
  { runId, created }: RunState,
  { call }: Call,
  scope: Scope,
  nowMs: number,
): Fact {
  const policy = created?.spec?.approvalPolicy;
  const timeout = policy?.timeout;
  const approval: MessageInitShape<typeof ApprovalSchema> = {
    approvalId: call.callId,
    runId,
    call,
    state: ApprovalState.PENDING,
    agentId: created?.agentId ?? "",
    requestedBy: created?.startedBy ?? "",
    requestedAt: timestampFromMs(nowMs),
    allowEditedArguments: policy?.allowEditedArguments ?? false,
    parentId: scope.parentId,
    ...(timeout && { expiresAt: timestampFromMs(nowMs + durationMs(timeout)) }),
  };
  return fact(scope, { case: "approval", value: { approval } });
}
