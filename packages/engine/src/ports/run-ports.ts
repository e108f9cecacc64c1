import type { Policy } from "@reeve/agent/policy/policy";
import type { Dispatch } from "@reeve/contracts/run";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Collections } from "@reeve/knowledge/collections";
import type { LongTermMemory } from "@reeve/memory/long-term-memory";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Catalogs } from "./catalogs.ts";
import type { Clock } from "@reeve/platform/async/clock";
import type { ByteBudget } from "@reeve/platform/async/coordination/byte-budget";
import type { ModelProvider } from "./model-provider.ts";
import type { SkillSource } from "./skill-source.ts";
import type { PluginHost } from "./plugin-host.ts";

/**
 * `alive`: the worker is connected, and was too slow or hands the run over. `ended`: it has ended in order. `crashed`: it is
 * gone, and did not end in order.
 */
export type OwnerFate = "alive" | "ended" | "crashed";

/** A queue of the requests of calls, as the owner of a run uses it. */
export interface CallQueue extends Pick<WorkQueue<ToolCallRequest>, "holds"> {
  /**
   * See `WorkQueue.publish`. In a process with a toolhost, the request may be handed over instead: it then has a sequence below zero,
   * and ends with the process.
   */
  publish(
    request: ToolCallRequest,
    options: { readonly dedupeId: string; readonly isRunOpen?: () => boolean },
    signal: AbortSignal,
  ): Promise<number>;
}

/** What reads the artifacts of a run. */
export interface ArtifactReader {
  readonly artifacts: Pick<ArtifactStore, "get" | "getStored" | "read">;
}

/** Everything outside of a run that its worker uses. */
export interface RunPorts {
  readonly log: RunLog;
  readonly journal: CallJournal;
  /** Opens the request queue of a pool of toolhosts. */
  toolCalls(pool: string): Promise<CallQueue>;
  /** Whether the owner of the run has confirmed moments ago that the run is open and its own. Each owner provides it. Default: no. */
  readonly isRunOpen?: () => boolean;
  catalogs(): Catalogs;
  /**
   * Reads what is stored of models and providers, so that `catalogs` has what a gateway knew before the call. Returns whether this process
   * can read it at all. Throws a Failure of kind `unavailable` if it cannot for the moment. Default: nothing is stored.
   */
  refreshModels?(signal: AbortSignal): Promise<boolean>;
  /** The operator's policy of now. Undefined: none. */
  policy(): Policy | undefined;
  provider(name: string): ModelProvider | undefined;
  /** The agents at endpoints. Default: this worker calls none. */
  readonly remoteAgents?: RemoteAgents | undefined;
  /** The plugins of the operator. Default: none. */
  readonly plugins?: PluginHost | undefined;
  readonly artifacts: Pick<ArtifactStore, "get" | "getStored" | "put" | "read">;
  /** The memory of this process for the files of model requests, from before they are read until the answer begins. Default: without limit. */
  readonly fileMemory?: Pick<ByteBudget, "acquire">;
  readonly memory: LongTermMemory;
  /** The collections that runs search. Default: none, and a run that names one is not prepared. */
  readonly knowledge?: Pick<Collections, "search">;
  /** The skills of this process. Default: none. */
  readonly skills?: SkillSource;
  readonly threads: ThreadLog;
  /** The queue of dispatch messages: to dispatch the next run of a thread, and to see whether a run's owner has its message. */
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
  /** What became of the worker that owned a run before. */
  ownerFate(worker: string, signal: AbortSignal): Promise<OwnerFate>;
  /** The wall clock: the times of facts, and delays. */
  readonly clock: Clock;
  /** Measures durations in the process. Never jumps. */
  readonly steadyClock: Pick<Clock, "now">;
  /** Called with the number of runs in progress whenever it changes, and with a function that lists those of the moment. */
  reportActiveRuns?(runs: number, list: () => readonly Dispatch[]): void;
  /** For how long this process has stood still since it started, in milliseconds: stopped, or on a suspended machine. */
  standstillMs(): number;
  /** The name of this worker, unique for the lifetime of its process. */
  readonly worker: string;
  /**
   * How long a run that only waits for its providers stays with its worker, in milliseconds. A run that waits for longer
   * goes back to the queue for that time: it costs no worker, and any worker continues it.
   */
  readonly maxHeldWaitMs: number;
  /** The interval at which an owner extends its dispatch message, in milliseconds. */
  readonly heartbeatMs: number;
  readonly logger: Logger;
}

/** Agents at endpoints, beside their messages, which the provider `a2a` sends. */
export interface RemoteAgents {
  /** Cancels a task of an agent. Resolves also if the task has ended. Throws if the agent does not answer. */
  cancel(task: RemoteTaskKey, signal: AbortSignal): Promise<void>;
}

/** A task of an agent at an endpoint. */
export interface RemoteTaskKey {
  readonly tenant: string;
  /** The URL of the endpoint. */
  readonly url: string;
  readonly taskId: string;
}
