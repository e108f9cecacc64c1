import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { StepState } from "@reeve/contracts/run";
import type { RunEvent, RunEventSchema } from "@reeve/contracts/run";
import { RunStatus, RunStatusSchema } from "@reeve/contracts/run";
import type { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { ToolResultSchema } from "@reeve/contracts/tool";
import type { Fact, Happening } from "./fact.ts";
import { fact, rootScope } from "./fact.ts";
import type { ModelToolCall } from "./model.ts";
import { modelTurnFacts } from "./model-turn-facts.ts";
import { scopeOf } from "./consequences.ts";
import type { RunState } from "./run-state.ts";
import { initialState } from "./run-state.ts";
import { settle } from "./settle.ts";
import { toolResultFact } from "./tool-result.ts";

/** A run in memory whose outside world is a test: what the model says, what tools give, what others write. */
export class PlayedRun {
  readonly events: RunEvent[] = [];
  state: RunState = { ...initialState, runId: "run_test" };
  #now = 1_000;

  constructor(
    spec: MessageInitShape<typeof AgentSpecSchema> = {},
    tools: readonly MessageInitShape<typeof ToolDescriptorSchema>[] = [{ name: "search" }],
  ) {
    this.write({
      case: "runCreated",
      value: { tenant: "acme", agentId: "tester", spec: { model: "m", ...spec }, input: "go" },
    });
    this.write(
      { case: "runClaimed", value: { worker: "w1", epoch: 1, dispatchSequence: 1n } },
      { case: "status", value: { status: RunStatus.STARTING } },
      { case: "runPrepared", value: { model: { id: "m" }, tools: [...tools] } },
    );
  }

  /** Somebody writes facts outside of any step. */
  write(...happenings: Happening[]): this {
    return this.append(happenings.map((event) => fact(rootScope, event)));
  }

  append(facts: readonly Fact[]): this {
    this.#now += 10;
    const settled = settle(this.state, facts, this.#now);
    this.events.push(...settled.events);
    this.state = settled.state;
    return this;
  }

  says(text: string): this {
    return this.append([fact(scopeOf(this.state.frame), { case: "text", value: { text } })]);
  }

  /** The model gives its whole turn. */
  turn(...calls: readonly (Pick<ModelToolCall, "name"> & { args?: object | string })[]): this {
    const call = this.state.frame.modelCall;
    const model = this.state.prepared?.model;
    if (call === undefined || model === undefined) throw new Error("no model is being called");
    return this.append(
      modelTurnFacts({
        runId: this.state.runId,
        scope: scopeOf(this.state.frame),
        call,
        model,
        turn: {
          messageJson: `{"role":"assistant"}`,
          finishReason: calls.length > 0 ? "tool_calls" : "stop",
          calls: calls.map(({ name, args = {} }, index) => ({
            name,
            providerCallId: `p${index}`,
            argumentsText: typeof args === "string" ? args : JSON.stringify(args),
          })),
          usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 },
          model: "m",
        },
        injectedKeys: Object.keys(this.state.created?.spec?.injectedToolArgs ?? {}),
        promptCharacters: 0,
      }),
    );
  }

  /** The tool of the call at `index` of the open step gives a result. */
  result(index: number, content = "found"): this {
    const call = this.state.frame.calls[index];
    if (call === undefined) throw new Error(`the step has no call ${index}`);
    const { callId, name } = call.call;
    const result = create(ToolResultSchema, { callId, name, content });
    return this.append([toolResultFact(call, scopeOf(this.state.frame), result, this.#now)]);
  }

  /** What happened, in short: `step:started`, `tool_call`, … records included. */
  get trace(): readonly string[] {
    return this.events.map(inShort);
  }

  /** What a client with the default selection sees. */
  get clientTrace(): readonly string[] {
    return this.events.filter(({ event }) => !records.has(event.case ?? "")).map(inShort);
  }
}

const records: ReadonlySet<string> = new Set([
  "runCreated",
  "runClaimed",
  "runPrepared",
  "runParked",
  "modelCallStarted",
  "modelTurn",
  "modelCallFailed",
  "messageSubmitted",
  "cancelRequested",
] satisfies NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>["case"][]);

function inShort({ event }: RunEvent): string {
  switch (event.case) {
    case "status":
      return `status:${RunStatusSchema.value[event.value.status]?.localName.toLowerCase()}`;
    case "step":
      return `step:${event.value.state === StepState.STARTED ? "started" : "completed"}`;
    case "toolCall":
      return `toolCall:${event.value.name}`;
    case "toolResult":
      return `toolResult:${event.value.success ? "ok" : "error"}`;
    case "error":
      return `error:${event.value.reason}`;
    default:
      return event.case ?? "unknown";
  }
}
