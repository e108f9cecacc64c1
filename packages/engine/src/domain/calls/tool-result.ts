import { clone, create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { ToolResult } from "@reeve/contracts/tool";
import {
  ApprovalStatus,
  ToolResultMetadataSchema,
  ToolResultSchema,
  ToolStatus,
} from "@reeve/contracts/tool";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { Fact, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call } from "../state/frame.ts";

/** Returns the result fact of a call that is not executed; the model reads `content`. */
export function refuse(
  call: Call,
  scope: Scope,
  content: string,
  status: ToolStatus,
  nowMs: number,
): Fact {
  return toolResultFact(call, scope, refusedResult(call, content, status, nowMs), nowMs);
}

/** Returns the result of a call that is not executed. */
export function refusedResult(
  { call, requestedAtMs }: Call,
  content: string,
  status: ToolStatus,
  nowMs: number,
): ToolResult {
  return create(ToolResultSchema, {
    callId: call.callId,
    name: call.name,
    content,
    isError: true,
    metadata: {
      status,
      startedAt: timestampFromMs(requestedAtMs),
      completedAt: timestampFromMs(nowMs),
    },
  });
}

/** The length of edited arguments in a result, in bytes. */
const maxEditedBytes = 4_000;

/** Returns the fact of a result, and adds what only the run knows: the approval, its edited arguments, times, and injected arguments. */
export function toolResultFact(
  pending: Call,
  scope: Scope,
  result: ToolResult,
  nowMs: number,
): Fact {
  const { call, approval, permission, requestedAtMs, startedAtMs } = pending;
  const { injectedArgs } = call;
  const success = !result.isError;
  const metadata = clone(
    ToolResultMetadataSchema,
    result.metadata ??
      create(ToolResultMetadataSchema, {
        status: success ? ToolStatus.SUCCESS : ToolStatus.ERROR,
        executionTimeMs: startedAtMs === undefined ? 0 : Math.max(0, nowMs - startedAtMs),
      }),
  );
  metadata.startedAt ??= timestampFromMs(startedAtMs ?? requestedAtMs);
  metadata.completedAt ??= timestampFromMs(nowMs);
  metadata.approvalStatus = approvalStatus(approval?.state);
  metadata.approvalId = approval?.approvalId ?? "";
  if (permission !== undefined) metadata.permission = permission;
  else if (approval?.permission !== undefined) metadata.permission = approval.permission;
  const edited = approval?.decision?.editedArguments;
  if (edited !== undefined) {
    metadata.editedArguments = truncateToBytes(JSON.stringify(edited), maxEditedBytes);
  } else if (pending.rewrittenBy !== undefined) {
    const text = JSON.stringify(call.arguments ?? {});
    metadata.editedArguments = truncateToBytes(text, maxEditedBytes);
    metadata.rewrittenBy = pending.rewrittenBy;
  }
  if (injectedArgs !== undefined) metadata.injectedArgs = injectedArgs;
  return fact(scope, {
    case: "toolResult",
    value: {
      result: create(ToolResultSchema, { ...result, callId: call.callId, metadata }),
      success,
      error: success ? "" : result.content,
      durationMs: durationOf(pending, nowMs),
    },
  });
}

/** Returns for how long a call ran. A call that only waited for a person never did. */
function durationOf({ approval, requestedAtMs, startedAtMs }: Call, nowMs: number): number {
  if (startedAtMs === undefined && approval !== undefined) return 0;
  return Math.max(0, nowMs - (startedAtMs ?? requestedAtMs));
}

function approvalStatus(state: ApprovalState | undefined): ApprovalStatus {
  switch (state) {
    case undefined:
      return ApprovalStatus.NOT_REQUIRED;
    case ApprovalState.APPROVED:
      return ApprovalStatus.APPROVED;
    case ApprovalState.REJECTED:
    case ApprovalState.WITHDRAWN:
      return ApprovalStatus.REJECTED;
    case ApprovalState.TIMED_OUT:
      return ApprovalStatus.TIMED_OUT;
    case ApprovalState.PENDING:
    case ApprovalState.SUPERSEDED:
    case ApprovalState.UNSPECIFIED:
      return ApprovalStatus.UNSPECIFIED;
  }
  return ApprovalStatus.UNSPECIFIED;
}
