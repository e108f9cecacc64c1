import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { inspectFilesName, maxNamedPaths } from "@reeve/agent/tools/named-paths";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { ToolResult } from "@reeve/contracts/tool";
import { ToolCallRequestSchema, ToolStatus } from "@reeve/contracts/tool";
import { workspaceOf } from "@reeve/contracts/rules/workspace-id";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { limitsOf } from "../domain/budget/limits.ts";
import { boundPaths } from "../domain/calls/bound-paths.ts";
import { boundPreviews } from "../domain/calls/bound-previews.ts";
import { maxApprovalBytes } from "../domain/calls/call-content.ts";
import { gateOf } from "../domain/calls/gate-call.ts";
import { requestApproval } from "../domain/calls/request-approval.ts";
import { refuse } from "../domain/calls/tool-result.ts";
import type { Effect } from "../domain/next-effects.ts";
import type { Fact } from "../domain/state/fact.ts";
import { bytesOf } from "../domain/state/fact.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { frameOf } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { callKey } from "./call-tool.ts";
import { outdatedHost } from "./outdated-host.ts";
import { republishLostRequest } from "./republish-lost-request.ts";

type InspectCall = Extract<Effect, { kind: "inspect_call" }>;

/**
 * Has a toolhost inspect the files that a call names, and requests the approval that is bound to them. A call whose files cannot be
 * inspected is refused: nobody could say what an approval of it means.
 */
export async function* inspectCall(
  state: RunState,
  effect: InspectCall,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const { call, tool, scope, frame } = effect;
  const gate = gateOf(state, frameOf(state, frame), call);
  if (gate?.kind !== "ask") return;
  const nowMs = () => ports.clock.now();
  const refused = (why: string): Fact => {
    const content = `the files that this call names could not be inspected for its approval: ${why}`;
    const fitting = truncateToBytes(content, limitsOf(state).resultBytes);
    return refuse(call, scope, fitting, ToolStatus.ERROR, nowMs());
  };
  const paths = boundPaths(tool, call);
  if (paths.length > maxNamedPaths) {
    yield [refused(`it names ${paths.length}, more than ${maxNamedPaths}`)];
    return;
  }
  const outdated = outdatedHost(tool, "bindsContent", ports);
  if (outdated !== undefined) {
    yield [refused(outdated)];
    return;
  }
  const result = await resultOf(state, effect, paths, ports, signal);
  const found = result.metadata?.content;
  if (found === undefined || result.isError) {
    yield [refused(result.content)];
    return;
  }
  const content = boundPreviews(found);
  const requested = requestApproval(state, call, { ...gate, scope, content }, nowMs());
  yield bytesOf(requested) <= maxApprovalBytes
    ? [requested]
    : [refused("the arguments and the paths are too large for an approval")];
}

/** Returns the result of the inspection. A repetition attaches to the first one: its journal decides. */
async function resultOf(
  state: RunState,
  { call, tool }: InspectCall,
  paths: readonly string[],
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Pick<ToolResult, "content" | "isError" | "metadata">> {
  const { created, runId } = state.head;
  const key: CallKey = callKey(state, `${call.call.callId}-c1`);
  const request = create(ToolCallRequestSchema, {
    tenant: created?.tenant ?? "",
    runId,
    call: { callId: key.call, name: inspectFilesName, arguments: { paths: [...paths] } },
    workspace: workspaceOf(runId, created),
    settings: { resultBytes: limitsOf(state).resultBytes, readOnly: true },
    idempotent: true,
    traceparent: traceparentOf() || (created?.traceparent ?? ""),
    requestedAt: timestampFromMs(call.requestedAtMs),
  });
  const end = new AbortController();
  const bounded = AbortSignal.any([signal, end.signal]);
  try {
    const queue = await ports.toolCalls(tool.pool);
    const { isRunOpen } = ports;
    const options = { dedupeId: key.call, ...(isRunOpen && { isRunOpen }) };
    const sequence = await queue.publish(request, options, signal);
    republishLostRequest({ key, request, queue, sequence }, ports, bounded).catch(() => undefined);
    for await (const { events } of ports.journal.follow(key, 0, signal)) {
      for (const { fact } of events) {
        if (fact.case === "result") return fact.value;
        if (fact.case === "cancelled") return { content: fact.value.reason, isError: true };
      }
    }
    throw new Error(`the journal of call ${key.call} ended without a result`);
  } finally {
    end.abort(new DOMException("the inspection has ended", "AbortError"));
  }
}
