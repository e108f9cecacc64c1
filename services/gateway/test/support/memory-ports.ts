import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import type { QueueHolder } from "@reeve/contracts/queue";
import type { Dispatch, Run, RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { Thread, ThreadEvent } from "@reeve/contracts/thread";
import type { ToolCallFact, WorkspaceRecord } from "@reeve/contracts/tool";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { MemoryLog } from "@reeve/jetstream/log/memory";
import { memoryCallJournal, memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { CollectionEditor } from "@reeve/knowledge/collection-editor";
import { maxTextObjectBytes } from "@reeve/knowledge/records/knowledge-limits";
import { documentParser } from "@reeve/knowledge/parse/parse-document";
import { DocumentFetcher } from "@reeve/knowledge/fetch/document-fetcher";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { allRoles } from "@reeve/platform/rpc/roles";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ToolOffers } from "../../src/app/client-tools/tool-offers.ts";
import type { GatewayPorts } from "../../src/app/gateway-ports.ts";
import { openRunLists } from "../../src/app/list-runs.ts";
import { RunQuotas } from "../../src/quotas/run-quotas.ts";
import { GatewayPresence } from "../../src/app/presence/gateway-presence.ts";
import { openThreadLists } from "../../src/app/threads/list-threads.ts";

const never = new AbortController().signal;
const home = { folder: undefined, log: createLogger("test", "silent"), clock: bootClock };

/** The principal in the tests of the gateway. */
export const ann = { tenant: "acme", subject: "ann", roles: allRoles } as const;

export interface MemoryPorts extends GatewayPorts {
  readonly holders: MemoryTable<QueueHolder>;
  readonly log: MemoryLog<RunKey, RunEvent>;
  readonly dispatch: MemoryWorkQueue<Dispatch>;
  readonly agents: MemoryTable<Agent>;
  readonly runs: MemoryTable<Run>;
  readonly inbox: MemoryTable<Approval>;
  readonly journal: MemoryLog<CallKey, ToolCallFact>;
  readonly threads: MemoryLog<ThreadKey, ThreadEvent>;
  readonly workspaces: {
    readonly records: MemoryTable<WorkspaceRecord>;
    readonly snapshots: MemoryObjects;
  };
}

/** Creates the ports of a gateway in memory, with one model. */
export function memoryPorts(): MemoryPorts {
  const models = create(ModelCatalogSchema, {
    models: [{ id: "known", provider: "scripted", upstreamName: "known" }],
    providers: [{ name: "scripted", scripted: true }],
  });
  const tools = [create(ToolCatalogSchema, { pool: "default", isolation: "bubblewrap" })];
  const runs = new MemoryTable<Run>();
  const threadIndex = new MemoryTable<Thread>();
  const log = memoryRunLog();
  const journal = memoryCallJournal();
  return {
    log,
    logEnds: log,
    logParts: log,
    logBatches: log,
    unconfirmedLog: log,
    journal,
    remove: { runs: log, journals: journal },
    dispatch: new MemoryWorkQueue(),
    agents: new MemoryTable(),
    models: {
      registry: new MemoryTable(),
      localModels: () => models,
      assertRoom: () => undefined,
      clock: bootClock,
    },
    runs,
    runLists: openRunLists(runs, home, never),
    inbox: new MemoryTable(),
    artifacts: new MemoryArtifactStore({ maxBytes: 1_000 }),
    memory: new LongTermMemory(new MemoryTable(), () => 0),
    knowledge: new CollectionEditor(
      { table: new MemoryTable(), objects: new MemoryObjects({ maxBytes: maxTextObjectBytes }) },
      { parse: documentParser(), now: () => 0 },
    ),
    documents: new DocumentFetcher({ egress: undefined }),
    threads: memoryThreadLog(),
    threadIndex,
    presence: new GatewayPresence(new MemoryTable(), bootClock),
    threadLists: openThreadLists(threadIndex, home, never),
    workspaces: { records: new MemoryTable(), snapshots: new MemoryObjects({ maxBytes: 1_000 }) },
    runQuotas: new RunQuotas({
      quotas: () => [],
      usage: new MemoryTable(),
      clock: bootClock,
      countOpen: () => Promise.resolve({ open: 0, queued: 0, missing: [] }),
      costOf: () => Promise.resolve(0),
      bytesOf: () => Promise.resolve(0),
      exists: () => Promise.resolve(false),
    }),
    quotaLimits: { of: () => Promise.resolve([]) },
    artifactQuotas: { store: (_, content, put) => put(content) },
    clientTools: {
      offers: new ToolOffers(new MemoryTable(), () => [], Date.now),
      classes: new Set([PermissionClass.NETWORK, PermissionClass.EDITOR_MUTATE]),
      now: Date.now,
    },
    holders: new MemoryTable(),
    assertRoom: () => undefined,
    offer: () => ({ tools, models }),
    policy: () => undefined,
  };
}

/** Stores an agent of `acme`. */
export async function storeAgent(
  { agents }: Pick<MemoryPorts, "agents">,
  id: string,
  spec: NonNullable<MessageInitShape<typeof AgentSchema>["spec"]> = {},
): Promise<void> {
  const agent = { revision: 1, spec: { id, name: id, model: "known", ...spec } };
  await agents.put(`acme.${id}`, create(AgentSchema, agent), never);
}

/** Appends facts, in one batch, to the log of a run of `acme`. */
export async function appendFacts(
  log: MemoryLog<RunKey, RunEvent>,
  run: string,
  ...facts: readonly ExternalFact[]
): Promise<void> {
  const key = { tenant: "acme", run };
  const { tail } = await log.read(key, emptyTail, never);
  const events = facts.map((event, index) =>
    create(RunEventSchema, { runId: run, sequence: tail.sequence + 1 + index, event }),
  );
  const outcome = await log.append(key, tail, events, never);
  if (outcome.kind === "conflict") throw new Error(`another writer appended to ${run}`);
}

/** Returns the kinds of the events of a run of `acme`, in order. */
export async function kindsOf(log: MemoryLog<RunKey, RunEvent>, run: string): Promise<string[]> {
  const { events } = await log.read({ tenant: "acme", run }, emptyTail, never);
  return events.map(({ event }) => event.case ?? "unknown");
}
