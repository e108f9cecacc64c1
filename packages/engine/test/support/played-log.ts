import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { limitsFor } from "@reeve/agent/spec/limits";
import { runtimeTools } from "@reeve/agent/tools/runtime-tools";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { PinnedPluginSchema, RunCreatedSchema, RunEvent } from "@reeve/contracts/run";
import { RunPreparedSchema, RunStatus } from "@reeve/contracts/run";
import type { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { emptyHead } from "@reeve/run/head/run-head";
import { statusName } from "@reeve/run/head/run-status";
import { buildBatch } from "../../src/domain/build-batch.ts";
import type { PromptMessage } from "../../src/domain/model/model.ts";
import { promptFor } from "../../src/domain/model/prompt-for.ts";
import { applyAll } from "../../src/domain/state/apply.ts";
import type { Fact, EventInit } from "../../src/domain/state/fact.ts";
import { fact, rootScope } from "../../src/domain/state/fact.ts";
import type { Frame } from "../../src/domain/state/frame.ts";
import { plannerId, rootId } from "../../src/domain/state/frame.ts";
import type { RunState } from "../../src/domain/state/run-state.ts";
import { frameOf, hasEnded, initialState } from "../../src/domain/state/run-state.ts";
import { workflowPrepared } from "../../src/domain/workflow/workflow-prepared.ts";
import { clientTraceOf, traceOf } from "./trace-of.ts";

export interface Setting {
  readonly tools?: readonly MessageInitShape<typeof ToolDescriptorSchema>[];
  readonly created?: Init<typeof RunCreatedSchema>;
  readonly prepared?: Init<typeof RunPreparedSchema>;
  /** The plugins of the operator. Default: none. */
  readonly plugins?: readonly MessageInitShape<typeof PinnedPluginSchema>[];
}

/** The fields of a message, to be spread. */
type Init<Schema extends DescMessage> = Omit<MessageInitShape<Schema>, "$typeName" | "$unknown">;

/** The log of a run in memory, with its state, and what a test reads from them. */
export class PlayedLog {
  readonly events: RunEvent[] = [];
  state: RunState = { ...initialState, head: { ...emptyHead, runId: "run_test" } };
  nowMs = 1_000;

  /** Starts a run, or continues one from the events of its log. */
  constructor(
    spec: MessageInitShape<typeof AgentSpecSchema> = {},
    { tools = [{ name: "search" }], created = {}, prepared = {}, plugins = [] }: Setting = {},
    past: readonly RunEvent[] = [],
  ) {
    if (past.length > 0) {
      this.events.push(...past);
      this.state = applyAll(initialState, past);
      this.nowMs = this.state.worked.lastMs;
      return;
    }
    const agent = create(AgentSpecSchema, { model: "m", ...spec });
    this.write({
      case: "runCreated",
      value: { tenant: "acme", agentId: "tester", spec: agent, input: "go", ...created },
    });
    const { created: accepted } = this.state.head;
    const withWorkflows = accepted === undefined ? [] : workflowPrepared(accepted);
    this.write(
      { case: "runClaimed", value: { worker: "w1", epoch: 1, dispatchSequence: 1n } },
      { case: "status", value: { status: RunStatus.STARTING } },
      ...withWorkflows.map(({ event }) => event),
      ...mediaOf(agent),
      {
        case: "runPrepared",
        value: create(RunPreparedSchema, {
          model: { id: "m" },
          tools: [...tools, ...runtimeTools(agent)],
          limits: limitsFor(agent, undefined),
          ...prepared,
        }),
      },
      ...(plugins.length === 0
        ? []
        : [{ case: "pluginsPinned" as const, value: { plugins: [...plugins] } }]),
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

  frame(id: string = this.defaultFrame): Frame {
    return frameOf(this.state, id);
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

  protected get defaultFrame(): string {
    return this.state.frames.has(plannerId) ? plannerId : rootId;
  }
}

/** Returns the record of the models with which an agent generates media, which have the ids that it names. */
function mediaOf({ media }: AgentSpec): readonly EventInit[] {
  if (media === undefined) return [];
  const { imageModel: id } = media;
  const image = { id, provider: "test", upstreamName: id, pricing: { usdPerImage: 0.04 } };
  return [{ case: "mediaPrepared", value: { agents: [{ image }] } }];
}
