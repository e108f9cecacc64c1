import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ModelCatalogSchema, ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import {
  PermissionClass,
  ToolCallFactSchema,
  ToolCatalogSchema,
  ToolResultSchema,
} from "@reeve/contracts/tool";
import { commitForeign } from "@reeve/log/commit-foreign";
import { emptyTail } from "@reeve/log/log";
import { memoryCallJournal, memoryRunLog } from "@reeve/log/memory-log";
import { MemoryWorkQueue } from "@reeve/log/memory-queue";
import { foldHead, emptyHead } from "@reeve/log/run-head";
import { createLogger } from "@reeve/platform/logger";
import { MemoryArtifactStore } from "@reeve/store/memory-artifact-store";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { ModelFailure } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { driveRun } from "./drive-run.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_memory" };

/** A model that calls `count` as often as `rounds` says, then answers. */
function countingModel(rounds: number, failures: ModelFailure[] = []): ModelProvider {
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    async *stream({ messages }) {
      const failure = failures.shift();
      const taken = messages.filter(({ role }) => role === "verbatim").length;
      yield { kind: "text", text: `turn ${taken} ` };
      await new Promise(setImmediate);
      yield { kind: "text", text: "goes on" };
      if (failure !== undefined) throw failure;
      const calls =
        taken < rounds ? [{ providerCallId: `p${taken}`, name: "count", argumentsText: "{}" }] : [];
      const finishReason = calls.length > 0 ? "tool_calls" : "stop";
      const turn = { messageJson: "{}", finishReason, calls, usage: undefined, model: "test" };
      yield { kind: "turn", turn };
    },
  };
}

/** A run in memory, its queue, and a toolhost that executes each call once and counts. */
class Stage {
  readonly log = memoryRunLog();
  readonly journal = memoryCallJournal();
  readonly dispatch = new MemoryWorkQueue<Dispatch>();
  readonly executed: string[] = [];
  /** Told of each call that is asked for; one that is held never comes to a result. */
  onAsked: (callId: string) => "execute" | "hold" = () => "execute";
  readonly #provider: ModelProvider;

  constructor(provider: ModelProvider) {
    this.#provider = provider;
  }

  async create(spec: MessageInitShape<typeof AgentSpecSchema> = {}): Promise<this> {
    const created = create(RunEventSchema, {
      runId: key.run,
      sequence: 1,
      event: {
        case: "runCreated",
        value: {
          tenant: key.tenant,
          agentId: "a",
          input: "go",
          spec: { model: "test:x", ...spec },
        },
      },
    });
    await this.log.append(key, emptyTail, [created], never);
    return this;
  }

  ports(worker: string): RunPorts {
    const count = { name: "count", permissionClass: PermissionClass.SAFE, source: "builtin" };
    const tools = [create(ToolCatalogSchema, { tools: [count], isolation: "none" })];
    const models = create(ModelCatalogSchema, { providers: [this.#provider.descriptor] });
    return {
      log: this.log,
      journal: this.journal,
      toolCalls: async () => ({ publish: (request) => this.#execute(request) }),
      catalogs: () => ({ tools, models }),
      provider: () => this.#provider,
      artifacts: new MemoryArtifactStore({ maxBytes: 1_000 }),
      clock: { now: () => 0, sleep: async () => undefined },
      worker,
      heartbeatMs: 60_000,
      logger: createLogger("test", "silent"),
    };
  }

  async #execute({ call }: ToolCallRequest): Promise<void> {
    const callKey = { ...key, call: call?.callId ?? "" };
    const { tail } = await this.journal.read(callKey, emptyTail, never);
    if (tail.sequence > 0 || this.onAsked(callKey.call) === "hold") return;
    this.executed.push(callKey.call);
    const value = create(ToolResultSchema, { callId: callKey.call, name: "count", content: "1" });
    const result = create(ToolCallFactSchema, { fact: { case: "result", value } });
    await this.journal.append(callKey, tail, [result], never);
  }

  /** Lets a worker take the run by one message, until it lets go. */
  async drive(worker: string, sequence = 1): Promise<string> {
    const settled: string[] = [];
    const delivery = {
      message: create(DispatchSchema, { tenant: key.tenant, runId: key.run }),
      sequence,
      attempt: 1,
      extend: () => undefined,
      acknowledge: () => void settled.push("acknowledged"),
      giveBack: () => void settled.push("given back"),
      forget: () => void settled.push("forgotten"),
    };
    await driveRun(delivery, this.ports(worker), never);
    return settled.join();
  }

  async events(): Promise<readonly RunEvent[]> {
    return (await this.log.read(key, emptyTail, never)).events;
  }

  async decide(state: ApprovalState): Promise<void> {
    await commitForeign(
      { log: this.log, dispatch: this.dispatch },
      key,
      ({ approvals }) => {
        const [approval = create(ApprovalSchema)] = approvals.values();
        const decided = create(ApprovalSchema, { ...approval, state });
        return [{ case: "approval", value: { approval: decided } }];
      },
      never,
    );
  }
}

const textOf = (events: readonly RunEvent[]) =>
  events.map(({ event }) => (event.case === "text" ? event.value.text : "")).join("");

/** The log is dense and ends in exactly one terminal status. */
function expectWhole(events: readonly RunEvent[], status: RunStatus): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const ends = events.filter(({ event }) => event.case === "status" && event.value.status >= 5);
  expect(ends).toHaveLength(1);
  expect(foldHead(emptyHead, events).status).toBe(status);
}

describe("driving a run", () => {
  test("takes it to its end in a few appends", async () => {
    const stage = await new Stage(countingModel(1)).create();
    expect(await stage.drive("w")).toBe("acknowledged");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe("turn 0 goes onturn 1 goes on");
    expect(stage.executed).toHaveLength(1);
  });

  test("goes on wherever the worker before it died, and makes no finished call again", async () => {
    const whole = await new Stage(countingModel(2)).create();
    await whole.drive("w1");
    const history = await whole.events();
    for (let survived = 1; survived <= history.length; survived++) {
      const stage = new Stage(countingModel(2));
      const tail = await stage.log.append(key, emptyTail, history.slice(0, survived), never);
      expect(tail.kind).toBe("appended");
      await stage.drive("w2");
      const events = await stage.events();
      expectWhole(events, RunStatus.COMPLETED);
      const done = history
        .slice(0, survived)
        .filter(({ event }) => event.case === "toolResult").length;
      expect(stage.executed).toHaveLength(2 - done);
      expect(new Set(stage.executed).size).toBe(stage.executed.length);
    }
  });

  test("asks a model again that may yet answer, and voids what it had said", async () => {
    const failures = [
      new ModelFailure("unavailable", "busy"),
      new ModelFailure("rate_limited", "slow"),
    ];
    const stage = await new Stage(countingModel(0, failures)).create();
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "textVoided")).toHaveLength(2);
    expect(foldHead(emptyHead, events).status).toBe(RunStatus.COMPLETED);
  });

  test("gives up a model that fails for good, with its reason", async () => {
    const stage = await new Stage(
      countingModel(0, [new ModelFailure("invalid", "no such model")]),
    ).create();
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.message).toContain("no such model");
  });

  test("ends a run whose model cannot be resolved, with the reason", async () => {
    const stage = await new Stage(countingModel(0)).create({ model: "nobody:x" });
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("resolve_failed");
  });
});

async function waiting(): Promise<Stage> {
  const stage = await new Stage(countingModel(1)).create({ hitlTools: ["count"] });
  expect(await stage.drive("w1")).toBe("acknowledged");
  return stage;
}

describe("a run that waits for a person", () => {
  test("is let go of, and wakes exactly one dispatch when it is decided", async () => {
    const stage = await waiting();
    expect((await stage.events()).at(-1)?.event.case).toBe("runParked");
    await stage.decide(ApprovalState.APPROVED);
    expect(stage.dispatch.length).toBe(1);
    await stage.drive("w2", 2);
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(stage.executed).toHaveLength(1);
  });

  test("runs nothing when it is rejected, and goes on", async () => {
    const stage = await waiting();
    await stage.decide(ApprovalState.REJECTED);
    await stage.drive("w2", 2);
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(stage.executed).toEqual([]);
  });
});

describe("two workers", () => {
  test("with the same message: the later claim wins, and the run ends once", async () => {
    const stage = await new Stage(countingModel(3)).create();
    const settled = await Promise.all([stage.drive("w1"), stage.drive("w2")]);
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(settled.toSorted()).toEqual(["acknowledged", "forgotten"]);
    expect(new Set(stage.executed).size).toBe(stage.executed.length);
  });

  test("with different messages: the second leaves the first alone", async () => {
    const stage = await new Stage(countingModel(3)).create();
    const settled = await Promise.all([stage.drive("w1", 1), stage.drive("w2", 2)]);
    expect(settled).toEqual(["acknowledged", "acknowledged"]);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "runClaimed")).toHaveLength(1);
  });
});

test("a run that is cancelled while a tool works ends there, and its open calls are withdrawn", async () => {
  const stage = await new Stage(countingModel(1)).create();
  const asked = Promise.withResolvers<string>();
  stage.onAsked = (callId) => {
    asked.resolve(callId);
    return "hold";
  };
  const driving = stage.drive("w1");
  const call = await asked.promise;
  const cancelled = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
  await commitForeign({ log: stage.log, dispatch: stage.dispatch }, key, () => [cancelled], never);
  expect(await driving).toBe("acknowledged");
  expectWhole(await stage.events(), RunStatus.CANCELLED);
  const { events: facts } = await stage.journal.read({ ...key, call }, emptyTail, never);
  expect(facts.map(({ fact }) => fact.case)).toEqual(["cancelled"]);
});

test("a run that a newer version wrote is given back untouched", async () => {
  const stage = await new Stage(countingModel(0)).create();
  const unknown = create(RunEventSchema, { runId: key.run, sequence: 2 });
  await stage.log.append(key, (await stage.log.read(key, emptyTail, never)).tail, [unknown], never);
  expect(await stage.drive("w")).toBe("given back");
  expect(await stage.events()).toHaveLength(2);
});
