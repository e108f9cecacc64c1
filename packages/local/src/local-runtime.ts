import type { Dispatch } from "@reeve/contracts/run";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { create } from "@bufbuild/protobuf";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { memoryCallJournal, memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { tracedProvider } from "@reeve/models/registry/traced-provider";
import { systemClock } from "@reeve/platform/async/clock";
import { workRuns } from "@reeve/engine/drive/work-runs";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import { HostToolbox, catalogOf } from "@reeve/calls/execute/host-toolbox";
import { workCalls } from "@reeve/calls/queue/work-calls";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Workspaces } from "@reeve/calls/ports/workspaces";

/** What a run in this process has to work with. */
export interface LocalParts {
  readonly providers: readonly ModelProvider[];
  /** What is known of models beside their providers: windows, prices. */
  readonly models?: readonly ModelSpec[];
  readonly tools?: readonly Tool[];
  /** Where tools find the files of the run. Absent: nowhere, and tools that want them fail. */
  readonly workspaces?: Workspaces;
  /** The isolation of the workspaces; tools of class `execute` need one. */
  readonly isolation?: string;
  readonly log?: Logger;
}

/** How long a worker may be silent before its work is offered to another. It never is: there is only this process. */
const ackWaitMs = 60_000;
const concurrency = 16;
const pool = "local";
const maxArtifactBytes = 100 * 2 ** 20;

/** Worker and toolhost in one process, with everything between them in memory. */
export class LocalRuntime {
  readonly ports: RunPorts;
  readonly #dispatch = new MemoryWorkQueue<Dispatch>({ ackWaitMs });
  readonly #calls = new MemoryWorkQueue<ToolCallRequest>({ ackWaitMs });
  readonly #end = new AbortController();
  readonly #parts: LocalParts;
  readonly #toolbox: HostToolbox;
  readonly #artifacts = new MemoryArtifactStore({ maxBytes: maxArtifactBytes });

  constructor(parts: LocalParts) {
    this.#parts = parts;
    this.#toolbox = new HostToolbox(parts.tools ?? [], []);
    const providers = new Map(
      parts.providers.map((each) => [each.descriptor.name, tracedProvider(each)]),
    );
    const catalogs = {
      tools: [catalogOf(this.#toolbox, { pool, isolation: parts.isolation ?? "none" })],
      models: create(ModelCatalogSchema, {
        models: [...(parts.models ?? [])],
        providers: parts.providers.map(({ descriptor }) => descriptor),
      }),
    };
    this.ports = {
      log: memoryRunLog(),
      journal: memoryCallJournal(),
      toolCalls: async () => this.#calls,
      catalogs: () => catalogs,
      provider: (name) => providers.get(name),
      artifacts: this.#artifacts,
      memory: new LongTermMemory(new MemoryTable(), systemClock.now),
      threads: memoryThreadLog(),
      dispatch: this.#dispatch,
      clock: systemClock,
      worker: "local",
      heartbeatMs: ackWaitMs / 3,
      logger: parts.log ?? createLogger("local", "silent"),
    };
  }

  /** Aborts when the run is over and nothing is to go on. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Begins to work, until it is disposed. */
  start() {
    const { signal } = this;
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    failed.catch(() => undefined);
    const runs = workRuns(this.#dispatch, this.ports, concurrency, { now: signal, drain: signal });
    const toolhost = {
      journal: this.ports.journal,
      requests: this.#calls,
      toolbox: this.#toolbox,
      workspaces: this.#parts.workspaces ?? noWorkspaces,
      artifacts: this.#artifacts,
      storeTimeoutMs: ackWaitMs,
      host: "local",
      heartbeatMs: ackWaitMs / 3,
      log: this.ports.logger,
    };
    const calls = workCalls(this.#calls, toolhost, concurrency, {
      taking: signal,
      running: signal,
    });
    runs.catch(fail);
    calls.catch(fail);
    return {
      failed,
      fail,
      [Symbol.asyncDispose]: async () => {
        // The release of a run that was cancelled ends its tools in order.
        while (this.#dispatch.length > 0) await new Promise(setImmediate);
        this.#end.abort(new DOMException("the run is over", "AbortError"));
        await Promise.allSettled([runs, calls]);
      },
    };
  }

  /** Cancels a run that has not ended, as a deployment does. */
  async cancel(key: RunKey): Promise<void> {
    await cancelRun(this.ports, key, { requestedBy: "local", reason: "" }, this.signal);
  }
}

const noWorkspaces: Workspaces = {
  open: () => Promise.reject(new Error("the run has no workspace")),
};
