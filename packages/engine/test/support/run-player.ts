import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import type { RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { GuardVerdictSchema } from "@reeve/contracts/run";
import { ModelCallPurpose } from "@reeve/contracts/run";
import { parallelSubtasksName, runSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { fact } from "../../src/domain/state/fact.ts";
import { scopeOf } from "../../src/domain/state/frame.ts";
import type { ModelToolCall, ModelUsage } from "../../src/domain/model/model.ts";
import { afterFailure } from "../../src/domain/model/after-failure.ts";
import { modelOf } from "../../src/domain/model/model-of.ts";
import { modelTurnFacts, summaryFacts } from "../../src/domain/model/model-turn-facts.ts";
import { executionId } from "../../src/domain/calls/execution-id.ts";
import type { Effect } from "../../src/domain/next-effects.ts";
import { openWaits } from "../../src/domain/next-effects.ts";
import { toolResultFact } from "../../src/domain/calls/tool-result.ts";
import { PlayedLog } from "./played-log.ts";

export type PlayedCall = Pick<ModelToolCall, "name"> & { args?: object | string };

/** How a test decides on an approval. */
interface DecisionOfTest {
  /** Default: the oldest that is open. */
  readonly callId?: string | undefined;
  readonly reason?: string;
  readonly edited?: JsonObject;
  readonly answer?: JsonObject;
  readonly by?: string;
  /** The alternative that has all its approvals. */
  readonly reached?: string;
}

const typicalUsage: ModelUsage = {
  inputTokens: 10,
  outputTokens: 5,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningTokens: 0,
};

/** A run in memory. The test plays its models, tools, and external writers. */
export class PlayedRun extends PlayedLog {
  /** Whether the provider reports the usage of its calls. */
  reportsUsage = true;
  /** The summary that a model returns. */
  summary = "what went before";

  says(text: string, id?: string): this {
    return this.append([fact(scopeOf(this.frame(id)), { case: "text", value: { text } })]);
  }

  /** The model of the root, or of the planner during planning, answers. */
  turn(...calls: readonly PlayedCall[]): this {
    return this.turnIn(this.defaultFrame, calls);
  }

  turnIn(
    id: string,
    calls: readonly PlayedCall[] = [],
    {
      finishReason = calls.length > 0 ? "tool_calls" : "stop",
      ...usage
    }: Partial<ModelUsage> & { finishReason?: string } = {},
  ): this {
    const frame = this.frame(id);
    const call = frame.modelCall;
    const model = modelOf(this.state, frame);
    if (call === undefined || model === undefined) throw new Error("no model is being called");
    const taken = {
      call,
      model,
      format: "test",
      turn: {
        messageJson: `{"role":"assistant"}`,
        finishReason,
        calls: calls.map(({ name, args = {} }, index) => ({
          name,
          providerCallId: `p${index}`,
          argumentsText: typeof args === "string" ? args : JSON.stringify(args),
        })),
        usage: this.reportsUsage ? { ...typicalUsage, ...usage } : undefined,
        model: "m",
      },
    };
    return this.append(
      call.purpose === ModelCallPurpose.SUMMARY
        ? summaryFacts(this.state, frame, taken, this.summary)
        : modelTurnFacts(this.state, frame, taken),
    );
  }

  /** The model answers without calls, and stops for a reason. */
  answers(text: string, finishReason: string, id = this.defaultFrame): this {
    if (text !== "") this.says(text, id);
    return this.turnIn(id, [], { finishReason });
  }

  /** The model call of a frame fails. A run with a retry policy records the delay until the next attempt. */
  fails(
    reason: string,
    {
      retryable = false,
      id = this.defaultFrame,
      retryAfterMs = undefined as number | undefined,
      answerBegan = false,
    } = {},
  ): this {
    const frame = this.frame(id);
    const call = frame.modelCall;
    const failure = { reason, retryable, retryAfterMs };
    const { delayMs, fallbackModel = "" } =
      call === undefined ? {} : afterFailure(this.state, { frame, call }, failure, this.nowMs + 10);
    const message = `the provider says ${reason}`;
    const value = {
      reason,
      message,
      retryable,
      answerBegan,
      fallbackModel,
      ...(this.state.head.prepared?.retry && call && { attempt: call.attempt }),
      ...(this.state.head.prepared?.retry &&
        delayMs !== undefined && { retryDelay: durationFromMs(delayMs) }),
    };
    return this.append([fact(scopeOf(frame), { case: "modelCallFailed", value })]);
  }

  /** The provider counts the next request of a frame; 0: it gives no count. */
  counts(inputTokens: number, id = this.defaultFrame): this {
    const scope = scopeOf(this.frame(id));
    return this.append([fact(scope, { case: "tokensCounted", value: { inputTokens } })]);
  }

  /** The delay before the next attempt of a frame's model call ends. */
  retries(id = this.defaultFrame): this {
    const frame = this.frame(id);
    const value = { attempt: frame.modelCall?.attempt ?? 0 };
    return this.append([fact(scopeOf(frame), { case: "modelRetryDue", value })]);
  }

  /** The call at `index` of the open step gets a result. */
  result(index: number, content = "found", id?: string): this {
    const frame = this.frame(id);
    const call = frame.calls[index];
    if (call === undefined) throw new Error(`the step has no call ${index}`);
    const { callId, name } = call.call;
    const result = create(ToolResultSchema, { callId, name, content });
    return this.append([toolResultFact(call, scopeOf(frame), result, this.nowMs)]);
  }

  /** A hook of a plugin ends, by default without an objection. */
  hookEnds(
    { due, scope }: Extract<Effect, { kind: "run_hook" }>,
    answer: MessageInitShape<typeof RunHookResponseSchema> = {},
    error = "",
    guards: readonly MessageInitShape<typeof GuardVerdictSchema>[] = [],
    checkedWhole = false,
  ): this {
    const value = {
      pluginId: due.pluginId,
      phase: due.point?.phase ?? HookPhase.ACTION,
      hookId: due.hookId,
      callId: due.point?.call?.call.callId ?? "",
      error,
      guards: [...guards],
      checkedWhole,
      ...(error === "" && { answer }),
    };
    return this.append([fact(scope, { case: "pluginHookFinished", value })]);
  }

  /** Another worker claims the run. */
  claimedAnew(): this {
    const epoch = (this.state.head.claim?.epoch ?? 0) + 1;
    const value = { worker: `w${epoch}`, epoch, dispatchSequence: BigInt(epoch) };
    return this.write({ case: "runClaimed", value });
  }

  /** The owner parks the run. */
  parks(): this {
    return this.write({ case: "runParked", value: { waitingFor: [...openWaits(this.state)] } });
  }

  /** Returns the approval of a call of the open steps. */
  approvalOf(callId: string | undefined): Approval | undefined {
    const calls = [...this.state.frames.values()].flatMap((frame) => frame.calls);
    return calls.find((call) => executionId(call) === callId)?.approval;
  }

  /** A person, or the expiry, decides an approval; by default the first that is open. */
  decides(
    state: ApprovalState,
    {
      callId = openWaits(this.state)[0],
      reason = "not today",
      edited,
      answer,
      by = "",
      reached,
    }: DecisionOfTest = {},
  ): this {
    const approval = this.approvalOf(callId);
    if (approval === undefined) throw new Error("no approval is open");
    const decision = create(DecisionSchema, {
      approved: state === ApprovalState.APPROVED,
      reason,
      decidedBy: by,
      ...(edited && { editedArguments: edited }),
      ...(answer && { answer }),
    });
    const alternatives = approval.alternatives.map((each) =>
      each.name === reached ? { ...each, approvalsGiven: each.approvals } : each,
    );
    const decided = { ...approval, state, decision, alternatives };
    return this.write({ case: "approval", value: { approval: decided } });
  }

  /** A message from outside arrives. */
  receivesMessage(text: string): this {
    const value = { messageId: `msg-${this.state.head.lastSequence}`, message: { text } };
    return this.write({ case: "messageSubmitted", value });
  }

  /** A call in progress reports its progress. */
  progresses(message: string, id?: string): this {
    const frame = this.frame(id);
    const callId = frame.calls.find(({ startedAtMs }) => startedAtMs !== undefined)?.call.callId;
    const value = { callId: callId ?? "", message };
    return this.append([fact(scopeOf(frame), { case: "mcpProgress", value })]);
  }
}

/** Returns a call that starts a subtask. */
export function subtask(title: string, more: object = {}): PlayedCall {
  return { name: runSubtaskName, args: { title, instructions: `do ${title}`, ...more } };
}

/** Returns a call that starts several subtasks. */
export function jobs(...jobs: readonly object[]): PlayedCall {
  return { name: parallelSubtasksName, args: { jobs } };
}
