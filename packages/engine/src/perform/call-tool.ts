import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ToolCallRequestSchema, ToolStatus } from "@reeve/contracts/tool";
import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import { workspaceOf } from "@reeve/contracts/rules/workspace-id";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import { listenTo } from "@reeve/jetstream/log/listen-to";
import { emptyTail } from "@reeve/jetstream/log/port";
import { cancelCall } from "@reeve/run/commands/cancel-call";
import type { CallerPolicy } from "@reeve/agent/policy/caller-policy";
import { missingOptIn } from "@reeve/agent/tools/opt-in";
import { retrieveArtifactName } from "@reeve/agent/tools/runtime-tools";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import type { Fact } from "../domain/state/fact.ts";
import { fact } from "../domain/state/fact.ts";
import { approvedCall } from "../domain/calls/approved-call.ts";
import { executionId } from "../domain/calls/execution-id.ts";
import { supersede } from "../domain/calls/call-content.ts";
import { agentsOver } from "../domain/delegates/callers-of.ts";
import { workingAgent } from "../domain/delegates/working-agent.ts";
import type { Frame } from "../domain/state/frame.ts";
import { resultBytesIn } from "../domain/budget/frame-caps.ts";
import type { Effect } from "../domain/next-effects.ts";
import type { Refusal } from "../domain/calls/refusal-now.ts";
import { requestAnswer } from "../domain/calls/questions/questions.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { frameOf } from "../domain/state/run-state.ts";
import { refusedResult, toolResultFact } from "../domain/calls/tool-result.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { policyNow, refusalOfCall } from "./policy-now.ts";
import { networkSettings, usesCredentials } from "./call-network.ts";
import { mountedSkills } from "./mounted-skills.ts";
import { outdatedHost } from "./outdated-host.ts";
import { republishLostRequest } from "./republish-lost-request.ts";

type CallTool = Extract<Effect, { kind: "call_tool" }>;

/** Shared by all calls, because creating an exception with its stack is expensive. */
const callEnded = new DOMException("the call has ended", "AbortError");

/**
 * Has a toolhost execute the call, or attaches to a call in progress, and yields its progress and its result. A repetition
 * executes nothing twice: the journal of the call decides. A call that the operator's policy of now refuses, and that no
 * toolhost has begun, is cancelled.
 */
export async function* callTool(
  state: RunState,
  effect: CallTool,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const key = callKey(state, executionId(effect.call));
  // Since before the request, so that nothing of the journal of a new call is missed.
  using listener = listenTo(ports.journal, key);
  const end = new AbortController();
  const bounded = AbortSignal.any([signal, end.signal]);
  const known = await knownFacts(state, key, ports, signal);
  const isCallNew = known.length === 0;
  // The journal of an earlier call is followed from its start.
  if (!isCallNew) listener[Symbol.dispose]();
  const refusal = isCallNew ? refusalOf(state, effect, ports) : undefined;
  if (refusal === undefined) {
    const skills = await mountedSkills(
      state,
      frameOf(state, effect.frame),
      effect.tool,
      ports,
      signal,
    );
    const request = requestFor(state, effect, { policy: policyNow(state, ports), skills });
    const queue = await ports.toolCalls(effect.tool.pool);
    const { isRunOpen } = ports;
    const options = { dedupeId: key.call, ...(isRunOpen && { isRunOpen }) };
    const sequence =
      isCallNew || isWithoutMessage(known)
        ? await queue.publish(request, options, signal)
        : undefined;
    republishLostRequest({ key, request, queue, sequence }, ports, bounded).catch(() => undefined);
  } else {
    // By the journal, because an earlier owner may have published the request already.
    const cancellation = { reason: refusal.reason, time: timestampFromMs(ports.clock.now()) };
    await cancelCall(ports.journal, key, cancellation, signal);
  }
  const { permission = effect.call.permission } = refusal ?? {};
  const refused = { ...effect, call: { ...effect.call, permission } };
  // The journal is read from its start, and the log has what earlier owners reported.
  let reported = effect.call.progressReports;
  const isKnown = ({ fact }: ToolCallFact) => fact.case === "progress" && reported-- > 0;
  try {
    const journal = isCallNew
      ? listener.follow(emptyTail, signal)
      : ports.journal.follow(key, 0, signal);
    for await (const { events } of journal) {
      const unknown = events.filter((event) => !isKnown(event));
      const facts = unknown.flatMap((event) => {
        // A call that had begun elsewhere meanwhile keeps the decision in the log.
        const decided = event.fact.case === "cancelled" ? refused : effect;
        return factsOf(state, decided, event, ports.clock.now());
      });
      if (facts.length > 0) yield facts;
      if (events.some(endsCall)) return;
    }
  } finally {
    end.abort(callEnded);
  }
}

/** Returns why the call is not sent: the policy of now refuses it, or a host might ignore a part of the request. */
function refusalOf(
  state: RunState,
  { tool, call, frame }: CallTool,
  ports: RunPorts,
): Refusal | undefined {
  const isBound = call.approval?.content !== undefined;
  const outdated =
    (isBound ? outdatedHost(tool, "bindsContent", ports) : undefined) ??
    (usesCredentials(state, frameOf(state, frame), tool, policyNow(state, ports))
      ? outdatedHost(tool, "usesCredentials", ports)
      : undefined);
  return outdated === undefined
    ? refusalOfCall(state, tool, { call, frame }, ports)
    : { reason: outdated };
}

/** Returns the journal of the call. For the first owner of a run it is always empty. */
async function knownFacts(
  { head: { claim } }: RunState,
  key: CallKey,
  { journal }: RunPorts,
  signal: AbortSignal,
): Promise<readonly ToolCallFact[]> {
  if (claim?.epoch === 1) return [];
  return (await journal.read(key, emptyTail, signal)).events;
}

/** Whether a call has started and not ended, and was handed over: when its process is gone, no message leads to it. */
function isWithoutMessage(facts: readonly ToolCallFact[]): boolean {
  const started = facts.findLast(({ fact }) => fact.case === "started")?.fact;
  return (
    started?.case === "started" && started.value.requestSequence === 0n && !facts.some(endsCall)
  );
}

/** Returns the key of the journal of a call of this run. */
export function callKey(state: RunState, callId: string): CallKey {
  return { tenant: state.head.created?.tenant ?? "", run: state.head.runId, call: callId };
}

/** What a request has besides the state of the run. */
interface RequestContext {
  readonly policy: CallerPolicy;
  readonly skills: Awaited<ReturnType<typeof mountedSkills>>;
}

function requestFor(
  state: RunState,
  { call, tool, frame }: CallTool,
  { policy, skills }: RequestContext,
): ToolCallRequest {
  const { created, runId } = state.head;
  const caller = frameOf(state, frame);
  const { spec } = workingAgent(state, caller);
  const toolkit = spec?.deepAgent;
  return create(ToolCallRequestSchema, {
    tenant: created?.tenant ?? "",
    runId,
    startedBy: created?.startedBy ?? "",
    call: { ...approvedCall(call), callId: executionId(call) },
    ...(call.approval?.content && { content: call.approval.content }),
    workspace: workspaceOf(runId, created),
    settings: {
      readOnly: isReadOnly(state, caller),
      resultBytes: resultBytesIn(state, caller),
      cannotRetrieve: !caller.tools.has(retrieveArtifactName),
      ...networkSettings(state, caller, policy),
      webTools: spec !== undefined && missingOptIn(spec, tool) === undefined,
      skills: [...skills],
      delegateId: caller.delegate?.agentId ?? "",
      ...(toolkit?.allowedImports && { allowedImports: toolkit.allowedImports }),
      ...(toolkit?.commandBlacklist && { commandBlacklist: toolkit.commandBlacklist }),
      ...(toolkit?.codeTimeout && { codeTimeout: toolkit.codeTimeout }),
      ...(toolkit?.commandTimeout && { commandTimeout: toolkit.commandTimeout }),
    },
    idempotent: tool.idempotent,
    traceparent: traceparentOf() || (created?.traceparent ?? ""),
    ...(call.startedAtMs !== undefined && { requestedAt: timestampFromMs(call.startedAtMs) }),
  });
}

/** Whether the agent of a frame, or one that called it, must not write to the workspace. */
function isReadOnly(state: RunState, frame: Frame): boolean {
  return agentsOver(state, frame).some(({ spec }) => spec?.deepAgent?.readOnly === true);
}

function factsOf(
  state: RunState,
  { scope, call, tool, frame }: CallTool,
  entry: ToolCallFact,
  nowMs: number,
): readonly Fact[] {
  switch (entry.fact.case) {
    case "started":
      return [];
    case "cancelled": {
      const content = `the call was cancelled: ${entry.fact.value.reason}`;
      return [
        toolResultFact(call, scope, refusedResult(call, content, ToolStatus.ERROR, nowMs), nowMs),
      ];
    }
    case "progress":
      return showsProgress(state, frameOf(state, frame), tool)
        ? [
            fact(scope, {
              case: "mcpProgress",
              value: { ...entry.fact.value, callId: call.call.callId },
            }),
          ]
        : [];
    case "question":
      return requestAnswer(state, call, entry.fact.value, scope, nowMs);
    case "answer":
      return [];
    case "result": {
      const { value } = entry.fact;
      const { contentChanged = false, content: now } = value.metadata ?? {};
      if (contentChanged && now !== undefined) {
        return supersede(state, frameOf(state, frame), call, now, nowMs);
      }
      const content = truncateToBytes(value.content, resultBytesIn(state, frameOf(state, frame)));
      return [toolResultFact(call, scope, { ...value, content }, nowMs)];
    }
    case undefined:
      // A newer toolhost may append other kinds of facts for display; this version knows every kind of result.
      return [];
  }
}

function showsProgress(state: RunState, frame: Frame, { source }: CallTool["tool"]): boolean {
  const isMcp = source.startsWith("mcp:");
  return !isMcp || (workingAgent(state, frame).spec?.emitMcpProgress ?? true);
}
