import type { Approval } from "@reeve/contracts/approval";
import type { Reviewer } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { isOfPlugin } from "@reeve/agent/plugins/plugin-tools";
import type { MediaKind } from "@reeve/agent/media/media-kinds";
import { mediaKindOf } from "@reeve/agent/media/media-kinds";
import { runtimeSource } from "@reeve/agent/tools/runtime-tools";
import type { Scope } from "./state/fact.ts";
import { rootScope } from "./state/fact.ts";
import type { Call, Frame, ModelCall } from "./state/frame.ts";
import { scopeOf } from "./state/frame.ts";
import { awaitsContent, schedulableCalls } from "./calls/call-content.ts";
import { isClientTool, waitingClientCall } from "./client-calls/client-calls.ts";
import { executionId } from "./calls/execution-id.ts";
import { awaitsApproval } from "./calls/gate-call.ts";
import { needsCount } from "./model/needs-count.ts";
import { retryDelayMs } from "./model/retry-delay.ts";
import { openCalls, callsInProgress, parallelCallLimit } from "./calls/outgoing-calls.ts";
import { dueReview } from "./calls/review/review-call.ts";
import { answeredQuestions } from "./calls/questions/questions.ts";
import type { OutgoingCall } from "./calls/schedule-calls.ts";
import { scheduleCalls } from "./calls/schedule-calls.ts";
import { awaitsModelHooks } from "./plugins/hook-points.ts";
import type { DueHook } from "./plugins/due-hooks.ts";
import { dueHooks } from "./plugins/due-hooks.ts";
import { isGenerating } from "./media/media-call.ts";
import type { RunState } from "./state/run-state.ts";
import { frameOf, hasEnded, liveFrames, rootOf } from "./state/run-state.ts";
import { openDelays } from "./workflow/delays.ts";

/** Work outside of the log that yields the next facts. Two effects with the same id are the same effect. */
export type Effect = {
  readonly id: string;
  /** The id of the frame that needs it. */
  readonly frame: string;
  readonly scope: Scope;
} & (
  | { readonly kind: "call_model"; readonly call: ModelCall }
  /** A count of the next request of the frame, by the provider. */
  | { readonly kind: "count_tokens" }
  | { readonly kind: "wait_to_retry"; readonly call: ModelCall; readonly delayMs: number }
  /** A tool call that a toolhost executes. */
  | { readonly kind: "call_tool"; readonly call: Call; readonly tool: ToolDescriptor }
  /** A call that a client executes: a wait until its deadline, in milliseconds since the epoch. */
  | {
      readonly kind: "await_client";
      readonly call: Call;
      readonly deadlineMs: number;
      readonly isAnsweredByPerson: boolean;
    }
  /** A tool call that the runtime executes itself, and that needs more than the run's state. */
  | { readonly kind: "call_runtime_tool"; readonly call: Call }
  /** A tool call that generates media. */
  | { readonly kind: "generate_media"; readonly call: Call; readonly media: MediaKind }
  /** A tool call that a plugin executes. */
  | { readonly kind: "call_plugin_tool"; readonly call: Call; readonly tool: ToolDescriptor }
  /** A hook of a plugin, or an action that it scheduled. */
  | { readonly kind: "run_hook"; readonly due: DueHook }
  /** The calls of a failed run that the workflow of this run does not make again. */
  | { readonly kind: "inherit_calls"; readonly runId: string }
  /** A node of a workflow that waits, until a time in milliseconds since the epoch. */
  | { readonly kind: "wait_for_delay"; readonly call: Call; readonly dueAtMs: number }
  /** An inspection of the files that a call names, before its approval is requested. */
  | { readonly kind: "inspect_call"; readonly call: Call; readonly tool: ToolDescriptor }
  /** Advice of a model about a call that waits for its approval; one at a time. */
  | { readonly kind: "review_call"; readonly call: Call; readonly reviewer: Reviewer }
  /** The answer to a question of a tool call in progress. */
  | { readonly kind: "answer_question"; readonly call: Call; readonly approval: Approval }
);

/**
 * Returns the effects that `state` needs. An effect in progress that is not among them has to be aborted. A run that waits only for
 * people needs none: it is parked, and woken at its deadline.
 */
export function nextEffects(state: RunState): readonly Effect[] {
  if (hasEnded(state) || state.head.prepared === undefined) return [];
  const hooks = dueHooks(state).map((due): Effect => {
    const frame = frameOf(state, due.frame);
    const scope = due.point?.step === 0 ? rootScope : scopeOf(frame);
    return { id: `hook:${due.hookId}`, frame: due.frame, scope, kind: "run_hook", due };
  });
  if (state.plugins?.ending !== undefined) return hooks;
  const models = liveFrames(state).flatMap((frame) => modelEffects(state, frame));
  const inspections = liveFrames(state).flatMap((frame) => inspectionEffects(state, frame));
  const tools = callsInProgress(state).flatMap(toolEffect);
  const answers = answeredQuestions(state).map(({ call, approval }): Effect => ({
    id: `answer:${approval.approvalId}`,
    frame: approval.parentId,
    scope: rootScope,
    kind: "answer_question",
    call,
    approval,
  }));
  const inherited = inheritingEffects(state);
  const calls = [
    ...inherited,
    ...tools,
    ...delayEffects(state),
    ...answers,
    ...reviewEffects(state),
  ];
  const all = [...hooks, ...models, ...inspections, ...calls];
  return all.every(awaitsPerson) ? [] : all;
}

/** Whether an effect only waits for the answer of a person, or for its deadline. */
export function awaitsPerson(effect: Effect): boolean {
  return effect.kind === "await_client" && effect.isAnsweredByPerson;
}

function toolEffect({ frame, call, tool }: OutgoingCall): readonly Effect[] {
  const place = { id: `tool:${executionId(call)}`, frame: frame.id, scope: scopeOf(frame) };
  const media = mediaKindOf(tool);
  if (media !== undefined) {
    const id = `media:${call.call.callId}:${call.media?.attempt ?? 0}`;
    return isGenerating(call) ? [{ ...place, id, kind: "generate_media", call, media }] : [];
  }
  if (tool.source === runtimeSource) return [{ ...place, kind: "call_runtime_tool", call }];
  if (isOfPlugin(tool)) return [{ ...place, kind: "call_plugin_tool", call, tool }];
  if (!isClientTool(tool)) return [{ ...place, kind: "call_tool", call, tool }];
  const waiting = waitingClientCall(call);
  if (waiting === undefined) return [];
  const { deadlineMs, isAnsweredByPerson } = waiting;
  return [{ ...place, kind: "await_client", call, deadlineMs, isAnsweredByPerson }];
}

function inheritingEffects(state: RunState): readonly Effect[] {
  const { inheritsFrom: runId } = state;
  const root = rootOf(state);
  if (runId === undefined || !root.stepOpen) return [];
  const place = { id: `inherit:${runId}`, frame: root.id, scope: scopeOf(root) };
  return [{ ...place, kind: "inherit_calls", runId }];
}

function delayEffects(state: RunState): readonly Effect[] {
  return openDelays(state).map(({ frame, call, dueAtMs }) => {
    const place = { id: `delay:${executionId(call)}`, frame: frame.id, scope: scopeOf(frame) };
    return { ...place, kind: "wait_for_delay", call, dueAtMs };
  });
}

function reviewEffects(state: RunState): readonly Effect[] {
  const due = dueReview(state);
  if (due === undefined) return [];
  const { frame, call, reviewer } = due;
  const place = { id: `review:${executionId(call)}`, frame: frame.id, scope: scopeOf(frame) };
  return [{ ...place, kind: "review_call", call, reviewer }];
}

/** The files of a call are inspected when it is the next to run: the calls before it may still change them. */
function inspectionEffects(state: RunState, frame: Frame): readonly Effect[] {
  if (!frame.stepOpen || !frame.hasTurn) return [];
  const { tools } = frame;
  const calls = schedulableCalls(frame);
  return scheduleCalls({ calls, tools }, parallelCallLimit(state, frame)).flatMap(
    (call): readonly Effect[] => {
      const tool = frame.tools.get(call.call.name);
      if (tool === undefined || !awaitsContent(state, frame, call)) return [];
      const place = { id: `inspect:${call.call.callId}`, frame: frame.id, scope: scopeOf(frame) };
      return [{ ...place, kind: "inspect_call", call, tool }];
    },
  );
}

function modelEffects(state: RunState, frame: Frame): readonly Effect[] {
  const call = frame.modelCall;
  if (!frame.stepOpen || frame.hasTurn) return [];
  const place = { frame: frame.id, scope: scopeOf(frame) };
  if (call === undefined) {
    const id = `count:${frame.id}:${frame.step}:${frame.isCompacted ? "compacted" : "whole"}`;
    if (awaitsModelHooks(state, frame)) return [];
    return needsCount(state, frame) ? [{ ...place, kind: "count_tokens", id }] : [];
  }
  if (call.status === "in_progress") {
    return [{ ...place, kind: "call_model", id: `model:${call.sequence}`, call }];
  }
  const delayMs = retryDelayMs(call);
  return delayMs === undefined
    ? []
    : [{ ...place, kind: "wait_to_retry", id: `retry:${call.sequence}`, call, delayMs }];
}

/**
 * Returns the milliseconds for which the run only waits for its providers, at `nowMs`. Undefined if it has something else to
 * do, or waits for people too: their decisions must reach an owner, or a parked run, at once.
 */
export function onlyProviderWaitMs(
  state: RunState,
  effects: readonly Effect[],
  nowMs: number,
): number | undefined {
  if (effects.length === 0 || openWaits(state).length > 0) return undefined;
  if (!effects.some(({ kind }) => kind === "wait_to_retry")) return undefined;
  const rests = effects.map((effect) => {
    if (effect.kind === "wait_to_retry") return restMs(effect, nowMs);
    if (effect.kind === "wait_for_delay") return effect.dueAtMs - nowMs;
    return effect.kind === "run_hook" ? (effect.due.action?.dueAtMs ?? nowMs) - nowMs : 0;
  });
  const shortest = Math.min(...rests);
  return shortest > 0 ? shortest : undefined;
}

/** Returns what is left of a delay. It began with the failure, perhaps under another owner with another clock. */
export function restMs(
  { call, delayMs }: Extract<Effect, { kind: "wait_to_retry" }>,
  nowMs: number,
): number {
  return Math.max(0, delayMs - Math.max(0, nowMs - (call.failedAtMs ?? nowMs)));
}

/** Returns the ids of the approvals for which the run waits: only external facts complete them. */
export function openWaits(state: RunState): readonly string[] {
  if (hasEnded(state)) return [];
  return liveFrames(state)
    .flatMap(({ calls }) => calls)
    .filter(awaitsApproval)
    .map(executionId);
}

/**
 * Returns the open calls of an ended run: those that a toolhost may be executing, and those that a worker that has not seen
 * the end may still publish.
 */
export function callsToRelease(state: RunState): readonly Call[] {
  return !hasEnded(state)
    ? []
    : openCalls(state)
        .filter(
          ({ tool }) => tool.source !== runtimeSource && !isClientTool(tool) && !isOfPlugin(tool),
        )
        .map(({ call }) => call);
}
