import type { Offer } from "@reeve/agent/spec/check-spec";
import type { Policy } from "@reeve/agent/policy/policy";
import type { Agent, ModelRegistry } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import type { Dispatch, Run } from "@reeve/contracts/run";
import type { Thread } from "@reeve/contracts/thread";
import type { CallJournal, CallKey } from "@reeve/jetstream/log/call-journal";
import type { LogRemover, SettledLog } from "@reeve/jetstream/log/port";
import type {
  RunBatchReader,
  RunKey,
  RunLog,
  RunPartReader,
  RunTailReader,
} from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { CollectionEditor } from "@reeve/knowledge/collection-editor";
import type { DocumentFetcher } from "@reeve/knowledge/fetch/document-fetcher";
import type { LongTermMemory } from "@reeve/memory/long-term-memory";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Table, TableHistory } from "@reeve/jetstream/table/port";
import type { Holders } from "@reeve/run/policy/runtime-checks";
import type { ArtifactQuotas } from "../quotas/artifact-quotas.ts";
import type { QuotaLimits } from "../quotas/quota-limits.ts";
import type { RunQuotas } from "../quotas/run-quotas.ts";
import type { ClientToolClasses } from "./client-tools/manifest-tools.ts";
import type { ToolOffers } from "./client-tools/tool-offers.ts";
import type { StoredWorkspaces } from "./delete/delete-workspace.ts";
import type { RegistryPorts } from "./models/registry-ports.ts";
import type { RunLists } from "./runs/run-lists.ts";
import type { ThreadLists } from "./threads/list-threads.ts";
import type { GatewayPresence } from "./presence/gateway-presence.ts";
import type { KnownHolders } from "./sweep/carrying-worker.ts";

/** The stores and queues that the gateway's methods use. */
export interface GatewayPorts {
  /** The logs of runs. That a run does not exist, all four say only when the store has confirmed it. */
  readonly log: RunLog;
  readonly logEnds: RunTailReader;
  readonly logParts: RunPartReader;
  readonly logBatches: RunBatchReader;
  /** The same logs as one server knows them: for a caller that has let them settle, or whose append finds out. */
  readonly unconfirmedLog: Pick<RunLog, "read"> & RunBatchReader & SettledLog;
  /** The journals of tool calls, to withdraw the open calls of a cancelled run. */
  readonly journal: Pick<CallJournal, "read" | "append">;
  /** Removes the logs of runs, and the journals of their calls. */
  readonly remove: {
    readonly runs: Pick<LogRemover<RunKey>, "removeThrough">;
    readonly journals: Pick<LogRemover<CallKey>, "remove">;
  };
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
  /** The agents, each with its last revisions. */
  readonly agents: Table<Agent> & TableHistory<Agent>;
  /** The models and providers that are stored through the API. */
  readonly models: RegistryPorts;
  /** The index of runs. It follows their logs with a short delay. */
  readonly runs: Table<Run>;
  readonly runLists: RunLists;
  /** This gateway among those of its store. */
  readonly presence: GatewayPresence;
  /** The index of approvals, which approvals maintains. The rows of deleted runs are deleted here. */
  readonly inbox: Pick<Table<Approval>, "delete">;
  readonly artifacts: ArtifactStore;
  readonly memory: LongTermMemory;
  readonly knowledge: CollectionEditor;
  /** Documents on the web. */
  readonly documents: Pick<DocumentFetcher, "fetch">;
  readonly threads: ThreadLog;
  /** The index of threads. It follows their logs with a short delay. */
  readonly threadIndex: Table<Thread>;
  readonly threadLists: ThreadLists;
  /** The workspaces of runs and threads. */
  readonly workspaces: StoredWorkspaces;
  /** Admits new runs up to the quotas of the operator. */
  readonly runQuotas: Pick<RunQuotas, "admit" | "release" | "keepCost">;
  /** What is used of the quotas of the operator. */
  readonly quotaLimits: Pick<QuotaLimits, "of">;
  /** Admits uploads of artifacts up to the quotas of the operator. */
  readonly artifactQuotas: Pick<ArtifactQuotas, "store">;
  /** The tools of clients. */
  readonly clientTools: {
    readonly offers: ToolOffers;
    /** The classes that these tools can have. */
    readonly classes: ClientToolClasses;
    /** The time, in milliseconds since the epoch. */
    now(): number;
  };
  /** The processes that take work, and what each of them checks. */
  readonly holders: Holders & KnownHolders;
  /** Throws a Failure with the reason STORAGE_FULL while the store has only its reserve, so that nothing new is accepted. */
  assertRoom(): void;
  /**
   * Returns the tools and models that the deployment currently offers. With `registry`, those that it would offer if this were stored of
   * models and providers.
   */
  offer(registry?: ModelRegistry): Offer;
  /** Returns the operator's policy of now. Undefined: none. */
  policy(): Policy | undefined;
}
