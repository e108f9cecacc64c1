import { create } from "@bufbuild/protobuf";
import { unansweredCalls } from "./unanswered-calls.ts";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { BoundContent } from "@reeve/contracts/tool";
import { BoundContentSchema, BoundFileSchema, ToolStatus } from "@reeve/contracts/tool";
import type { Fact } from "../state/fact.ts";
import { bytesOf, fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { boundPreviews, withoutPreviews } from "./bound-previews.ts";
import { decidersOf } from "./deciders-of.ts";
import { isWaitNode } from "@reeve/agent/workflow/wait-tools";
import { isAskUser } from "./questions/ask-user.ts";
import { gateOf, isBoundToFiles, isCleared } from "./gate-call.ts";
import { requestApproval } from "./request-approval.ts";
import { refuse } from "./tool-result.ts";

/** What is left in a batch of the log for the facts of approvals. */
export const maxApprovalBytes = 900 * 1024;
const tooLarge =
  "the files of this call changed after its approval, and it was not made: another approval would be too large, because the arguments are; call again with smaller ones";

/** How many times an approval of one call is superseded. */
const maxSuperseded = 10;

/** Whether the files of a call must be inspected before its approval is requested. */
export function awaitsContent(state: RunState, frame: Frame, pending: Call): boolean {
  return isBoundToFiles(frame, pending) && gateOf(state, frame, pending)?.kind === "ask";
}

/** Whether plugins have not decided on a call yet. */
export function awaitsGate(state: RunState, frame: Frame, pending: Call): boolean {
  return state.plugins !== undefined && gateOf(state, frame, pending)?.kind === "hooks";
}

/**
 * Returns the calls among which those are chosen that run next: for a workflow, those that could run now. Its calls have no order among
 * each other, so that none waits for one that has ended, or that waits for a person.
 */
export function schedulableCalls(frame: Frame): readonly Call[] {
  const { calls, tools, workflow } = frame;
  if (workflow === undefined) return calls;
  return unansweredCalls(frame).filter((call) => {
    const tool = tools.get(call.call.name);
    return tool !== undefined && !isWaitNode(tool) && !isAskUser(tool) && isCleared(call);
  });
}

/** Returns the calls of a frame so that those whose files must be inspected first, or that wait for plugins, count as waiting for an approval. */
export function withHeldCalls(state: RunState, frame: Frame): Pick<Frame, "calls" | "tools"> {
  const { tools } = frame;
  const calls = schedulableCalls(frame);
  const isHeld = (call: Call) =>
    awaitsContent(state, frame, call) || awaitsGate(state, frame, call);
  if (!calls.some(isHeld)) return { calls, tools };
  const held = create(ApprovalSchema);
  return {
    tools,
    calls: calls.map((call) => (isHeld(call) ? { ...call, approval: held } : call)),
  };
}

/**
 * Returns the facts of an approved call that was not made because its files have changed: its approval is superseded, and another
 * one is requested that shows the difference. A call whose files change again and again is refused.
 */
export function supersede(
  state: RunState,
  frame: Frame,
  pending: Call,
  now: BoundContent,
  nowMs: number,
): readonly Fact[] {
  const { call, approval } = pending;
  if (approval === undefined) return [];
  const scope = scopeOf(frame);
  const round = Number(/-r(\d+)$/.exec(approval.approvalId)?.[1] ?? 1) + 1;
  // Both approvals are one batch.
  const { content: before } = approval;
  const superseded = create(ApprovalSchema, {
    ...approval,
    ...(before && { content: withoutPreviews(before) }),
    state: ApprovalState.SUPERSEDED,
  });
  const closing = fact(scope, { case: "approval", value: { approval: superseded } });
  if (round > maxSuperseded) {
    const content = `the files of this call changed after each of ${maxSuperseded} approvals, and it was not made; end what changes them, then call again`;
    return [closing, refuse(pending, scope, content, ToolStatus.ERROR, nowMs)];
  }
  const deciders = decidersOf(state, frame, call);
  if (typeof deciders === "string")
    return [closing, refuse(pending, scope, deciders, ToolStatus.REJECTED, nowMs)];
  const reason = {
    scope,
    deciders,
    gates: approval.gates,
    permission: approval.permission,
    pluginReasons: approval.pluginReasons,
    content: withPrevious(boundPreviews(now), before),
    approvalId: `${call.callId}-r${round}`,
    supersedes: approval.approvalId,
  };
  const requested = requestApproval(state, pending, reason, nowMs);
  return bytesOf(closing) + bytesOf(requested) <= maxApprovalBytes
    ? [closing, requested]
    : [closing, refuse(pending, scope, tooLarge, ToolStatus.ERROR, nowMs)];
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
