import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Policy } from "@reeve/agent/policy/policy";
import type { AgentSpecSchema, ModelSpecSchema } from "@reeve/contracts/agent";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import type { ApprovalState, Decision } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";
import type { Dispatch, RunCreatedSchema, RunEvent, RunStatus } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema } from "@reeve/contracts/run";
import type { Memory } from "@reeve/contracts/memory";
import type { ToolCallRequest, ToolDescriptorSchema } from "@reeve/contracts/tool";
import {
  PermissionClass,
  ToolCallFactSchema,
  ToolCatalogSchema,
  ToolResultSchema,
} from "@reeve/contracts/tool";
import { inspectFilesName } from "@reeve/agent/tools/named-paths";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryCallJournal, memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { approvalOf, approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { expect } from "vitest";
import type { OfferedPlugin } from "@reeve/contracts/agent";
import type { ModelProvider } from "../../src/ports/model-provider.ts";
import type { PluginHost } from "../../src/ports/plugin-host.ts";
import type { OwnerFate, RunPorts } from "../../src/ports/run-ports.ts";
import { driveRun } from "../../src/drive/drive-run.ts";
import type { StopSignals } from "../../src/ports/ownership.ts";

const never = new AbortController().signal;
export const key = { tenant: "acme", run: "run_memory" };

/** A run in memory with its queue, and a toolhost that executes each call once and counts the executions. */
export class WorkerBench {
  readonly log = memoryRunLog();
  readonly journal = memoryCallJournal();
  readonly dispatch = new MemoryWorkQueue<Dispatch>();
  readonly memory = new LongTermMemory(new MemoryTable<Memory>(), () => 0);
  readonly threads = memoryThreadLog();
  readonly executed: string[] = [];
  /** Sequences of dispatch messages that disappeared from the queue without an acknowledgement. */
  readonly lostDispatches = new Set<number>();
  /** The delays of the messages that were returned to the queue. */
  readonly redeliveryDelaysMs: number[] = [];
  /** The `after_sequence` of the dispatch messages; 0: as an older version publishes them. */
  dispatchedAfter = 0;
  /** Whether the dispatch messages are those of a cancellation. */
  dispatchesCancellation = false;
  /** For how long each worker has stood still. */
  standstillMs = 0;
  /** What became of the previous owner, as a worker sees it. */
  ownerFate: OwnerFate = "crashed";
  /** The operator's policy of now. */
  policy: Policy | undefined;
  /** The plugins of the operator, and what calls them. */
  plugins: { readonly offers: readonly OfferedPlugin[]; readonly host: PluginHost } | undefined;
  /** Whether the runtimes announce a registry of nodes. */
  hasNodeRegistry = false;
  /** The isolation of the toolhosts. */
  isolation = "none";
  /** Whether the toolhosts check the content that approvals are bound to. */
  bindsContent = true;
  /** Whether the toolhosts use the credentials that calls name. */
  usesCredentials = true;
  /** Called for each published request. A held call never gets a result. */
  onRequest: (callId: string) => "execute" | "hold" = () => "execute";
  readonly #provider: ModelProvider;

  readonly #models: readonly MessageInitShape<typeof ModelSpecSchema>[];
  readonly #offered: MessageInitShape<typeof ToolDescriptorSchema>[] = [];

  constructor(
    provider: ModelProvider,
    models: readonly MessageInitShape<typeof ModelSpecSchema>[] = [],
  ) {
    this.#provider = provider;
    this.#models = models;
  }

  /** Makes a toolhost offer another tool. */
  offers(tool: MessageInitShape<typeof ToolDescriptorSchema>): this {
    this.#offered.push(tool);
    return this;
  }

  async create(
    spec: MessageInitShape<typeof AgentSpecSchema> = {},
    more: Omit<MessageInitShape<typeof RunCreatedSchema>, "$typeName" | "$unknown"> = {},
  ): Promise<this> {
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
          ...more,
        },
      },
    });
    await this.log.append(key, emptyTail, [created], never);
    return this;
  }

  ports(worker: string): RunPorts {
    const count = { name: "count", permissionClass: PermissionClass.SAFE, source: "builtin" };
    const other = { ...count, name: "other", parallelSafe: true };
    const tools = [
      create(ToolCatalogSchema, {
        tools: [count, other, ...this.#offered],
        isolation: this.isolation,
        bindsContent: this.bindsContent,
        usesCredentials: this.usesCredentials,
        host: "host-1",
      }),
    ];
    const models = create(ModelCatalogSchema, {
      models: [...this.#models],
      providers: [this.#provider.descriptor],
      nodeRegistry: this.hasNodeRegistry,
      plugins: [...(this.plugins?.offers ?? [])],
    });
    return {
      log: this.log,
      journal: this.journal,
      toolCalls: async () => ({
        publish: (request) => this.#execute(request),
        holds: async () => true,
      }),
      catalogs: () => ({ tools, models }),
      policy: () => this.policy,
      provider: () => this.#provider,
      plugins: this.plugins?.host,
      memory: this.memory,
      threads: this.threads,
      dispatch: {
        publish: (...args) => this.dispatch.publish(...args),
        holds: async (sequence) => !this.lostDispatches.has(sequence),
      },
      artifacts: new MemoryArtifactStore({ maxBytes: 1_000 }),
      clock: { now: () => 0, sleep: sleepBriefly },
      steadyClock: { now: () => 0 },
      standstillMs: () => this.standstillMs,
      ownerFate: async () => this.ownerFate,
      worker,
      heartbeatMs: 60_000,
      maxHeldWaitMs: Infinity,
      logger: createLogger("test", "silent"),
    };
  }

  async #execute({ call }: ToolCallRequest): Promise<number> {
    const callKey = { ...key, call: call?.callId ?? "" };
    const { tail } = await this.journal.read(callKey, emptyTail, never);
    if (tail.sequence > 0 || this.onRequest(callKey.call) === "hold") return 1;
    const isInspection = call?.name === inspectFilesName;
    if (!isInspection) this.executed.push(callKey.call);
    const value = create(ToolResultSchema, {
      callId: callKey.call,
      name: "count",
      content: "1",
      ...(isInspection && { metadata: { content: { digest: "d", files: [{ path: "a" }] } } }),
    });
    const result = create(ToolCallFactSchema, { fact: { case: "result", value } });
    await this.journal.append(callKey, tail, [result], never);
    return 1;
  }

  /** Drives the run by one delivery, and returns how the delivery was settled. */
  async drive(
    worker: string,
    sequence = 1,
    stop: StopSignals = { now: never, drain: never },
    attempt = 1,
    ports = this.ports(worker),
  ): Promise<string> {
    const settled: string[] = [];
    const delivery = {
      message: create(DispatchSchema, {
        tenant: key.tenant,
        runId: key.run,
        afterSequence: this.dispatchedAfter,
        cancelled: this.dispatchesCancellation,
      }),
      sequence,
      attempt,
      extend: () => undefined,
      acknowledge: () => void settled.push("acknowledged"),
      returnToQueue: (delayMs: number) => {
        settled.push("given back");
        this.redeliveryDelaysMs.push(delayMs);
      },
      abandon: () => void settled.push("forgotten"),
    };
    await driveRun(delivery, ports, stop);
    return settled.join();
  }

  async events(): Promise<readonly RunEvent[]> {
    return (await this.log.read(key, emptyTail, never)).events;
  }

  /** Decides an approval, by default the first, without recording a decision. */
  async decide(state: ApprovalState, approvalId?: string, decision?: Decision): Promise<void> {
    const ports = { log: this.log, dispatch: this.dispatch };
    await appendExternal(
      ports,
      key,
      (head) => {
        const id = approvalId ?? approvalsOf(head)[0]?.approvalId ?? "";
        const pending = approvalOf(head, id) ?? create(ApprovalSchema);
        const approval = create(ApprovalSchema, {
          ...pending,
          state,
          ...(decision && { decision }),
        });
        return [{ case: "approval", value: { approval } }];
      },
      never,
    );
  }
}

/** Short delays end at once; those before a check of a request never end. */
async function sleepBriefly(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs < 10_000) return;
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  await promise;
}

/** Expects a gapless log that ends in exactly one terminal status. */
export function expectWhole(events: readonly RunEvent[], status: RunStatus): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const ends = events.filter(({ event }) => event.case === "status" && event.value.status >= 5);
  expect(ends).toHaveLength(1);
  expect(foldHead(emptyHead, events).status).toBe(status);
}

/** Returns what the results of all tool calls of the run say. */
export async function resultsOf(bench: WorkerBench): Promise<readonly string[]> {
  return (await bench.events()).flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.result?.content ?? ""] : [],
  );
}
