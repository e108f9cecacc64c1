import type { Dispatch } from "@reeve/contracts/run";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { LongTermMemory } from "@reeve/memory/long-term-memory";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Catalogs } from "./catalogs.ts";
import type { Clock } from "@reeve/platform/async/clock";
import type { ModelProvider } from "./model-provider.ts";

/** Everything outside of a run that its worker needs. */
export interface RunPorts {
  readonly log: RunLog;
  readonly journal: CallJournal;
  /** The queue of a pool of toolhosts. */
  toolCalls(pool: string): Promise<Pick<WorkQueue<ToolCallRequest>, "publish" | "holds">>;
  catalogs(): Catalogs;
  provider(name: string): ModelProvider | undefined;
  readonly artifacts: Pick<ArtifactStore, "get" | "read">;
  readonly memory: LongTermMemory;
  readonly threads: ThreadLog;
  /** Where runs are dispatched whose turn has come, and where the messages lie by which runs are owned. */
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
  readonly clock: Clock;
  /** Is told how many runs are driven, whenever that changes. Absent: nobody wants to know. */
  reportActiveRuns?(runs: number): void;
  /** Name of this worker, unique to the life of its process. */
  readonly worker: string;
  /** How often an owner says that it is alive, in milliseconds. */
  readonly heartbeatMs: number;
  readonly logger: Logger;
}
