import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { ClientCallState } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { resultBytesIn } from "../budget/frame-caps.ts";
import type { ClientCall } from "../state/client-call.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { hasEnded, liveFrames } from "../state/run-state.ts";
import { approvedCall } from "../calls/approved-call.ts";
import type { RefusalNow } from "../calls/refusal-now.ts";
import { refusalFact } from "../calls/refusal-now.ts";
import { refuse, toolResultFact } from "../calls/tool-result.ts";

/** How long a call waits if its tool does not say. */
const defaultTimeoutMs = 60_000;

/** Whether a client executes the tool. */
export function isClientTool({ client }: ToolDescriptor): boolean {
  return client !== undefined;
}

/**
 * Returns what follows for the call of a client's tool: once it has started it is opened to the clients, unless the operator's policy
 * of now refuses it, and once it was answered or has expired it has its result. None while it waits.
 */
export function clientCallFacts(
  state: RunState,
  frame: Frame,
  pending: Call,
  tool: ToolDescriptor,
  { nowMs, refusalNow }: { readonly nowMs: number; readonly refusalNow: RefusalNow },
): readonly Fact[] {
  if (pending.startedAtMs === undefined) return [];
  const { clientCall } = pending;
  if (clientCall !== undefined) return resultOf(state, frame, pending, clientCall, nowMs);
  const refusal = refusalNow(state, frame, pending, tool);
  if (refusal !== undefined) return [refusalFact(frame, pending, refusal, nowMs)];
  const { callId, name, arguments: args = {} } = approvedCall(pending);
  const { timeout, answeredByPerson = false } = tool.client ?? {};
  const timeoutMs = timeout === undefined ? defaultTimeoutMs : durationMs(timeout);
  const deadline = timestampFromMs(nowMs + timeoutMs);
  const opened = { callId, name, arguments: args, deadline, answeredByPerson };
  return [
    fact(scopeOf(frame), { case: "clientCall", value: { ...opened, state: ClientCallState.OPEN } }),
  ];
}

function resultOf(
  state: RunState,
  frame: Frame,
  pending: Call,
  { outcome, clientId }: ClientCall,
  nowMs: number,
): readonly Fact[] {
  const scope = scopeOf(frame);
  const { callId, name } = pending.call;
  switch (outcome?.kind) {
    case undefined:
      return [];
    case "expired": {
      const content =
        clientId === ""
          ? `no client that offers ${name} took the call in time; it was not executed`
          : `the client ${clientId} took the call and did not answer in time; the outcome of the call is unknown`;
      return [refuse(pending, scope, content, ToolStatus.TIMED_OUT, nowMs)];
    }
    case "answered": {
      const { isError, structured } = outcome;
      const content = truncateToBytes(outcome.content, resultBytesIn(state, frame));
      // What the model cannot read whole is not shown whole elsewhere either.
      const isWhole = content === outcome.content;
      const given = { callId, name, content, isError };
      const result = create(ToolResultSchema, {
        ...given,
        ...(structured !== undefined && isWhole && { structured }),
      });
      return [toolResultFact(pending, scope, result, nowMs)];
    }
  }
}

/** Whether a call of a client's tool waits for its answer. */
function isWaiting({ result, clientCall }: Call): boolean {
  return result === undefined && clientCall !== undefined && clientCall.outcome === undefined;
}

/** Returns the call as clients know it, while it waits for its answer. */
export function waitingClientCall(call: Call): ClientCall | undefined {
  return isWaiting(call) ? call.clientCall : undefined;
}

/**
 * Returns the earliest deadline of the calls that people answer through a client, in milliseconds since the epoch. Undefined: the run
 * waits for no such call.
 */
export function personDeadlineMs(state: RunState): number | undefined {
  if (hasEnded(state)) return undefined;
  const deadlines = liveFrames(state)
    .flatMap(({ calls }) => calls)
    .flatMap((call) => waitingClientCall(call) ?? [])
    .filter(({ isAnsweredByPerson }) => isAnsweredByPerson)
    .map(({ deadlineMs }) => deadlineMs);
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}
