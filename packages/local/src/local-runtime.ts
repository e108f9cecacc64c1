import type { Dispatch } from "@reeve/contracts/run";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { create } from "@bufbuild/protobuf";
import type { Skill } from "@reeve/agent/skills/skill";
import type { CallPorts } from "@reeve/calls/ports/call-ports";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { isRunOver } from "@reeve/run/commands/is-run-over";
import { logLiveness } from "@reeve/run/liveness/liveness";
import { memoryCallJournal, memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { SkillStore } from "@reeve/models/skills/skill-store";
import type { PluginRegistry } from "@reeve/plugin/host/plugin-registry";
import { tracedProvider } from "@reeve/models/registry/traced-provider";
import { StandstillMeter } from "@reeve/platform/async/standstill-meter";
import { steadyClock, systemClock } from "@reeve/platform/async/clock";
import { ByteBudget } from "@reeve/platform/async/coordination/byte-budget";
import { workRuns } from "@reeve/engine/drive/work-runs";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { RemoteAgents, RunPorts } from "@reeve/engine/ports/run-ports";
import { HostToolbox, catalogOf } from "@reeve/calls/execute/host-toolbox";
import { sleep } from "@reeve/platform/async/sleep";
import { Slots, ownExecutions } from "@reeve/calls/queue/slots";
import { workCalls } from "@reeve/calls/queue/work-calls";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Workspaces } from "@reeve/calls/ports/workspaces";

/** Calls agents elsewhere, and cancels what they work on. */
interface RemoteBackend extends RemoteAgents {
  readonly provider: ModelProvider;
}

/** The models, tools, and workspaces of a run in this process. */
export interface LocalParts {
  readonly providers: readonly ModelProvider[];
  /** The backend of agents with an `endpoint`. Default: none, and such agents are refused. */
  readonly remoteAgents?: RemoteBackend;
  /** Properties of models that the providers do not know, such as context windows and prices. */
  readonly models?: readonly ModelSpec[];
  readonly tools?: readonly Tool[];
  /** The skills that agents may name. `readSkills` reads them from a folder. Default: none. */
  readonly skills?: readonly Skill[];
  /** The workspaces for the files of runs. Default: none, and tools that need one fail. */
  readonly workspaces?: Workspaces;
  /** The isolation of the workspaces, which tools of class `execute` require. Default: none. */
  readonly isolation?: string;
  /** The plugins that agents may name, as `openPlugins` opens them. Default: none. */
  readonly plugins?: PluginRegistry;
  readonly log?: Logger;
}

/** The time without a heartbeat after which work is redelivered. With one process, that should never happen. */
const ackWaitMs = 60_000;
const concurrency = 16;
const pool = "local";
const maxArtifactBytes = 100 * 2 ** 20;

/** The memory for the files of model requests that are in progress. */
const maxFileMemoryBytes = 256 * 1024 * 1024;

/** How long plugins and agents elsewhere may take to release what they keep for an ended run. */
const releaseMs = 30_000;
const releasePollMs = 5;

/** A runtime and a toolhost in one process, connected by logs and queues in memory. */
export class LocalRuntime {
  readonly ports: RunPorts;
  readonly #dispatch = new MemoryWorkQueue<Dispatch>({ ackWaitMs });
  readonly #calls = new MemoryWorkQueue<ToolCallRequest>({ ackWaitMs });
  readonly #end = new AbortController();
  /** Measures while the work lasts. */
  #standstill: StandstillMeter | undefined;
  readonly #parts: LocalParts;
  readonly #toolbox: HostToolbox;
  readonly #runs = memoryRunLog();
  readonly #artifacts = new MemoryArtifactStore({ maxBytes: maxArtifactBytes });

  constructor(parts: LocalParts) {
    this.#parts = parts;
    this.#toolbox = new HostToolbox(parts.tools ?? [], []);
    const { remoteAgents } = parts;
    const all = [
      ...parts.providers,
      ...(remoteAgents === undefined ? [] : [remoteAgents.provider]),
    ];
    const providers = new Map(all.map((each) => [each.descriptor.name, tracedProvider(each)]));
    const skills = new SkillStore(parts.skills ?? []);
    const catalogs = {
      tools: [catalogOf(this.#toolbox, { pool, isolation: parts.isolation ?? "none" })],
      models: create(ModelCatalogSchema, {
        models: [...(parts.models ?? [])],
        providers: all.map(({ descriptor }) => descriptor),
        skills: [...skills.descriptors],
        plugins: [...(parts.plugins?.offers ?? [])],
      }),
    };
    this.ports = {
      log: this.#runs,
      journal: memoryCallJournal(),
      toolCalls: async () => this.#calls,
      catalogs: () => catalogs,
      // There is no operator besides the caller.
      policy: () => undefined,
      provider: (name) => providers.get(name),
      remoteAgents,
      plugins: parts.plugins,
      artifacts: this.#artifacts,
      fileMemory: new ByteBudget(maxFileMemoryBytes),
      skills,
      memory: new LongTermMemory(new MemoryTable(), systemClock.now),
      threads: memoryThreadLog(),
      dispatch: this.#dispatch,
      clock: systemClock,
      steadyClock,
      standstillMs: () => this.#standstill?.totalMs ?? 0,
      // The only worker is this process.
      ownerFate: async () => "alive",
      worker: "local",
      heartbeatMs: ackWaitMs / 3,
      // No other worker would continue the run.
      maxHeldWaitMs: Infinity,
      logger: parts.log ?? createLogger("local", "silent"),
    };
  }

  /** Aborts when the run has ended and its work has to stop. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Starts the work, until the result is disposed. `failed` rejects when the work breaks. */
  start() {
    const { signal } = this;
    this.#standstill = new StandstillMeter(systemClock);
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    const broken = new AbortController();
    failed.catch((error: unknown) => broken.abort(error));
    const runs = workRuns(this.#dispatch, this.ports, concurrency, { now: signal, drain: signal });
    const slots = new Slots(concurrency);
    const liveness = logLiveness({ runs: this.#runs, threads: this.ports.threads });
    const toolhost: CallPorts = {
      journal: this.ports.journal,
      isRunOver: (run, until) => isRunOver(liveness, run, until),
      requests: this.#calls,
      executions: ownExecutions(slots),
      toolbox: this.#toolbox,
      workspaces: this.#parts.workspaces ?? noWorkspaces,
      artifacts: this.#artifacts,
      storeTimeoutMs: ackWaitMs,
      host: "local",
      heartbeatMs: ackWaitMs / 3,
      clock: steadyClock,
      wallClock: systemClock,
      log: this.ports.logger,
    };
    const calls = workCalls(this.#calls, toolhost, slots, {
      taking: signal,
      running: signal,
    });
    runs.catch(fail);
    calls.catch(fail);
    return {
      failed,
      fail,
      [Symbol.asyncDispose]: async () => {
        // The remaining dispatch of a cancelled run ends its tools gracefully, if there is a worker for it.
        while (this.#dispatch.length > 0 && !broken.signal.aborted) await new Promise(setImmediate);
        if (this.ports.plugins !== undefined || this.ports.remoteAgents !== undefined)
          await this.#untilReleased(broken.signal);
        this.#end.abort(new DOMException("the run has ended", "AbortError"));
        await Promise.allSettled([runs, calls]);
        this.#standstill?.[Symbol.dispose]();
      },
    };
  }

  /** The worker acknowledges the messages of an ended run when its plugins are deactivated, and its tasks elsewhere are canceled. */
  async #untilReleased(broken: AbortSignal): Promise<void> {
    const until = AbortSignal.any([broken, AbortSignal.timeout(releaseMs)]);
    while (this.#dispatch.unacknowledged > 0 && !until.aborted) {
      await sleep(releasePollMs, until).catch(() => undefined);
    }
  }

  /** Cancels a run that has not ended, as a deployment does. */
  async cancel(key: RunKey): Promise<void> {
    await cancelRun(this.ports, key, { requestedBy: "local", reason: "" }, this.signal);
  }
}

const noWorkspaces: Workspaces = {
  open: () => Promise.reject(new Error("the run has no workspace; pass `workspaces` to runAgent")),
};
