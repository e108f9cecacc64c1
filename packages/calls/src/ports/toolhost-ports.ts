import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Routing } from "./routing.ts";
import type { Toolbox } from "./tool.ts";
import type { Workspaces } from "./workspaces.ts";

/** What the execution of calls stands on. */
export interface ToolhostPorts {
  readonly journal: CallJournal;
  /** The queue from which calls are taken. */
  readonly requests: Pick<WorkQueue<ToolCallRequest>, "holds">;
  /** The way to the other hosts. Absent: there are none. */
  readonly routing?: Routing;
  readonly toolbox: Toolbox;
  readonly workspaces: Workspaces;
  /** Where results go that are too large to be shown. */
  readonly artifacts: Pick<ArtifactStore, "put">;
  /** How long the store may take for one of them before the result goes without it. */
  readonly keepMs: number;
  /** Name of this process, unique to its life. */
  readonly host: string;
  /** How often a delivery is extended; well below the queue's wait. */
  readonly heartbeatMs: number;
  readonly log: Logger;
}
