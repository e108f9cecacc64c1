import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { DescMessage, JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import type { RunCreatedSchema, RunEvent } from "@reeve/contracts/run";
import { ModelCallPurpose, RunPreparedSchema, RunStatus } from "@reeve/contracts/run";
import { limitsFor } from "@reeve/agent/spec/limits";
import {
  runtimeTools,
  parallelSubtasksName,
  runSubtaskName,
} from "@reeve/agent/tools/runtime-tools";
import { AgentSpecSchema as SpecSchema } from "@reeve/contracts/agent";
import type { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { applyAll } from "../../src/domain/state/apply.ts";
import type { Fact, EventInit } from "../../src/domain/state/fact.ts";
import { fact, rootScope } from "../../src/domain/state/fact.ts";
import type { Frame } from "../../src/domain/state/frame.ts";
import { plannerId, rootId, scopeOf } from "../../src/domain/state/frame.ts";
import type { ModelToolCall, ModelUsage, PromptMessage } from "../../src/domain/model/model.ts";
import { afterFailure } from "../../src/domain/model/after-failure.ts";
import { modelOf } from "../../src/domain/model/model-of.ts";
import { modelTurnFacts, summaryFacts } from "../../src/domain/model/model-turn-facts.ts";
import { executionId } from "../../src/domain/calls/execution-id.ts";
import { openWaits } from "../../src/domain/next-effects.ts";
import { promptFor } from "../../src/domain/model/prompt-for.ts";
import type { RunState } from "../../src/domain/state/run-state.ts";
import { frameOf, hasEnded, initialState } from "../../src/domain/state/run-state.ts";
import { buildBatch } from "../../src/domain/build-batch.ts";
import { clientTraceOf, traceOf } from "./trace-of.ts";
import { toolResultFact } from "../../src/domain/calls/tool-result.ts";
import { emptyHead } from "@reeve/run/head/run-head";
import { statusName } from "@reeve/run/head/run-status";

export type PlayedCall = Pick<ModelToolCall, "name"> & { args?: object | string };

export interface Setting {
  readonly tools?: readonly MessageInitShape<typeof ToolDescriptorSchema>[];
  readonly created?: Init<typeof RunCreatedSchema>;
  readonly prepared?: Init<typeof RunPreparedSchema>;
}

/** How a test decides on an approval. */
interface DecisionOfTest {
  /** Default: the oldest that is open. */
  readonly callId?: string | undefined;
  readonly reason?: string;
  readonly edited?: JsonObject;
  readonly by?: string;
  /** The alternative that has all its approvals. */
  readonly reached?: string;
}

/** The fields of a message, to be spread. */
type Init<Schema extends DescMessage> = Omit<MessageInitShape<Schema>, "$typeName" | "$unknown">;

const typicalUsage: ModelUsage = {
  inputTokens: 10,
  outputTokens: 5,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningTokens: 0,
};

/** A run in memory. The test plays its models, tools, and external writers. */
export class PlayedRun {
  readonly events: RunEvent[] = [];
  state: RunState = { ...initialState, head: { ...emptyHead, runId: "run_test" } };
  nowMs = 1_000;
  /** Whether the provider reports the usage of its calls. */
  reportsUsage = true;
  /** The summary that a model returns. */
  summary = "what went before";

  /** Starts a run, or continues one from the events of its log. */
  constructor(
    spec: MessageInitShape<typeof AgentSpecSchema> = {},
    { tools = [{ name: "search" }], created = {}, prepared = {} }: Setting = {},
    past: readonly RunEvent[] = [],
  ) {
    if (past.length > 0) {
      this.events.push(...past);
      this.state = applyAll(initialState, past);
      this.nowMs = this.state.worked.lastMs;
      return;
    }
    const agent = create(SpecSchema, { model: "m", ...spec });
    this.write({
      case: "runCreated",
      value: { tenant: "acme", agentId: "tester", spec: agent, input: "go", ...created },
    });
    this.write(
      { case: "runClaimed", value: { worker: "w1", epoch: 1, dispatchSequence: 1n } },
      { case: "status", value: { status: RunStatus.STARTING } },
      {
        case: "runPrepared",
        value: create(RunPreparedSchema, {
          model: { id: "m" },
          tools: [...tools, ...runtimeTools(agent)],
          limits: limitsFor(agent, undefined),
          ...prepared,
        }),
      },
    );
  }

  /** Appends facts outside of any step. */
  write(...events: EventInit[]): this {
    return this.append(events.map((event) => fact(rootScope, event)));
  }

  append(facts: readonly Fact[]): this {
    this.nowMs += 10;
    const settled = buildBatch(this.state, facts, this.nowMs);
    this.events.push(...settled.events);
    this.state = settled.state;
    return this;
  }

  frame(id: string = this.#defaultFrame): Frame {
    return frameOf(this.state, id);
  }

  says(text: string, id?: string): this {
    return this.append([fact(scopeOf(this.frame(id)), { case: "text", value: { text } })]);
  }

  /** The model of the root, or of the planner during planning, answers. */
  turn(...calls: readonly PlayedCall[]): this {
    return this.turnIn(this.#defaultFrame, calls);
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
  answers(text: string, finishReason: string, id = this.#defaultFrame): this {
    if (text !== "") this.says(text, id);
    return this.turnIn(id, [], { finishReason });
  }

  /** The model call of a frame fails. A run with a retry policy records the delay until the next attempt. */
  fails(
    reason: string,
    {
      retryable = false,
      id = this.#defaultFrame,
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
  counts(inputTokens: number, id = this.#defaultFrame): this {
    const scope = scopeOf(this.frame(id));
    return this.append([fact(scope, { case: "tokensCounted", value: { inputTokens } })]);
  }

  /** The delay before the next attempt of a frame's model call ends. */
  retries(id = this.#defaultFrame): this {
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

  /** A person, or the expiry, decides an approval; by default the first that is open. */
  decides(
    state: ApprovalState,
    {
      callId = openWaits(this.state)[0],
      reason = "not today",
      edited,
      by = "",
      reached,
    }: DecisionOfTest = {},
  ): this {
    const calls = [...this.state.frames.values()].flatMap((frame) => frame.calls);
    const approval = calls.find((call) => executionId(call) === callId)?.approval;
    if (approval === undefined) throw new Error("no approval is open");
    const decision = create(DecisionSchema, {
      approved: state === ApprovalState.APPROVED,
      reason,
      decidedBy: by,
      ...(edited && { editedArguments: edited }),
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

  /** Returns the next prompt of a frame. */
  prompt(id?: string): readonly PromptMessage[] {
    return promptFor(this.state, this.frame(id));
  }

  /** Returns the results in the next prompt of a frame. */
  resultsSeen(id?: string): readonly string[] {
    return this.prompt(id).flatMap((message) => (message.role === "tool" ? [message.content] : []));
  }

  /** Returns the values of all events of one kind. */
  all<Kind extends NonNullable<RunEvent["event"]["case"]>>(kind: Kind) {
    return this.events.flatMap(({ event }) =>
      // The kind determines the type of the value, which the compiler does not infer through a parameter.
      event.case === kind
        ? [event.value as Extract<RunEvent["event"], { case: Kind }>["value"]]
        : [],
    );
  }

  /** A call in progress reports its progress. */
  progresses(message: string, id?: string): this {
    const frame = this.frame(id);
    const callId = frame.calls.find(({ startedAtMs }) => startedAtMs !== undefined)?.call.callId;
    const value = { callId: callId ?? "", message };
    return this.append([fact(scopeOf(frame), { case: "mcpProgress", value })]);
  }

  /** The ids of the subtasks in progress, in the order of their start. */
  get subtasks(): readonly string[] {
    return [...this.state.frames.values()].flatMap(({ id, subtask, outcome }) =>
      subtask === undefined || outcome !== undefined ? [] : [id],
    );
  }

  /** The latest result in the log. */
  get lastResult(): string | undefined {
    const event = this.events.findLast(({ event: { case: kind } }) => kind === "toolResult");
    return event?.event.case === "toolResult" ? event.event.value.result?.content : undefined;
  }

  /** The name of the terminal status; undefined while the run continues. */
  get end(): string | undefined {
    return hasEnded(this.state) ? statusName(this.state.head.status) : undefined;
  }

  /** The events in short form, records included. */
  get trace(): readonly string[] {
    return traceOf(this.events);
  }

  /** The events that a client sees by default, in short form. */
  get clientTrace(): readonly string[] {
    return clientTraceOf(this.events);
  }

  get #defaultFrame(): string {
    return this.state.frames.has(plannerId) ? plannerId : rootId;
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
