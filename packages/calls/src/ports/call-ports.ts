import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { LocalSource } from "./call-delivery.ts";
import type { Executions } from "./executions.ts";
import type { Routing } from "./routing.ts";
import type { Toolbox } from "./tool.ts";
import type { Workspaces } from "./workspaces.ts";

/** What the execution of calls depends on. */
export interface CallPorts {
  readonly journal: CallJournal;
  /** Whether a run has ended, or does not exist: nothing is started for it. */
  isRunOver(run: RunKey, signal: AbortSignal): Promise<boolean>;
  /** The queue from which calls are taken. */
  readonly requests: Pick<WorkQueue<ToolCallRequest>, "holds">;
  /** What became of calls that this host or another one has started. */
  readonly executions: Executions;
  /** The calls that a runtime in this process hands over. Absent: there is none. */
  readonly local?: LocalSource;
  /** The way to the other hosts. Absent: there are none. */
  readonly routing?: Routing;
  readonly toolbox: Toolbox;
  readonly workspaces: Workspaces;
  /**
   * How many calls may wait for the answer of a person at a time; the questions of others are answered as if nobody had. Each keeps a
   * slot meanwhile. Absent: all of them.
   */
  readonly asking?: Pick<Semaphore, "tryAcquire">;
  /** Stores results that are too large for the model to read. */
  readonly artifacts: Pick<ArtifactStore, "put">;
  /** How long the store may take for one artifact before the result is recorded without it. */
  readonly storeTimeoutMs: number;
  /** Name of this process, unique to its lifetime. */
  readonly host: string;
  /** Interval at which a delivery is extended. Must be well below the ack wait of the queue. */
  readonly heartbeatMs: number;
  /** Measures the delays before the store is tried again. */
  readonly clock: Clock;
  /** The time of day, to which stored times are compared. */
  readonly wallClock: Pick<Clock, "now">;
  readonly log: Logger;
}
