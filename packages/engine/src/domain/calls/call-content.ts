import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { BoundContent } from "@reeve/contracts/tool";
import { BoundContentSchema, BoundFileSchema, ToolStatus } from "@reeve/contracts/tool";
import type { Fact, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { decidersOf } from "./deciders-of.ts";
import { gateOf, isBoundToFiles, requestApproval } from "./gate-call.ts";
import { refuse } from "./tool-result.ts";

/** How many times an approval of one call is superseded. */
const maxSuperseded = 10;

/** Whether the files of a call must be inspected before its approval is requested. */
export function awaitsContent(state: RunState, frame: Frame, pending: Call): boolean {
  return isBoundToFiles(frame, pending) && gateOf(state, frame, pending)?.kind === "ask";
}

/** Returns the calls of a frame so that those whose files must be inspected first count as waiting for an approval. */
export function withHeldCalls(state: RunState, frame: Frame): Pick<Frame, "calls" | "tools"> {
  const { calls, tools } = frame;
  if (!calls.some((call) => awaitsContent(state, frame, call))) return { calls, tools };
  const held = create(ApprovalSchema);
  return {
    tools,
    calls: calls.map((call) =>
      awaitsContent(state, frame, call) ? { ...call, approval: held } : call,
    ),
  };
}

/**
 * Returns the facts of an approved call that was not made because its files have changed: its approval is superseded, and another
 * one is requested that shows the difference. A call whose files change again and again is refused.
 */
export function supersede(
  state: RunState,
  scope: Scope,
  pending: Call,
  now: BoundContent,
  nowMs: number,
): readonly Fact[] {
  const { call, approval } = pending;
  if (approval === undefined) return [];
  const round = Number(/-r(\d+)$/.exec(approval.approvalId)?.[1] ?? 1) + 1;
  const superseded = create(ApprovalSchema, { ...approval, state: ApprovalState.SUPERSEDED });
  const closing = fact(scope, { case: "approval", value: { approval: superseded } });
  if (round > maxSuperseded) {
    const content = `the files of this call changed after each of ${maxSuperseded} approvals, and it was not made; end what changes them, then call again`;
    return [closing, refuse(pending, scope, content, ToolStatus.ERROR, nowMs)];
  }
  const deciders = decidersOf(state, call);
  if (typeof deciders === "string")
    return [closing, refuse(pending, scope, deciders, ToolStatus.REJECTED, nowMs)];
  const reason = {
    scope,
    deciders,
    gates: approval.gates,
    permission: approval.permission,
    content: withPrevious(now, approval.content),
    approvalId: `${call.callId}-r${round}`,
    supersedes: approval.approvalId,
  };
  return [closing, requestApproval(state, pending, reason, nowMs)];
}

/** Adds to each file that has changed what it was before. */
function withPrevious(now: BoundContent, earlier: BoundContent | undefined): BoundContent {
  const known = new Map(earlier?.files.map((file) => [file.path, file]));
  const files = now.files.map((file) => {
    const previous = known.get(file.path);
    if (previous === undefined) return file;
    if (previous.state === file.state && previous.sha256 === file.sha256) return file;
    const { path, state, sizeBytes, sha256, preview } = previous;
    const before = create(BoundFileSchema, { path, state, sizeBytes, sha256, preview });
    return create(BoundFileSchema, { ...file, previous: before });
  });
  return create(BoundContentSchema, { digest: now.digest, files });
}
