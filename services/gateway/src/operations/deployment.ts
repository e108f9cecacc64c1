import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { GetDeploymentResponseSchema, QueueSchema } from "@reeve/contracts/operations";
import { QueueKind } from "@reeve/contracts/operations";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import type { WorkerPresence } from "@reeve/contracts/worker-presence";
import type { ObservedStore } from "@reeve/jetstream/observe/observed-store";
import type { QueueState } from "@reeve/jetstream/observe/queue-states";
import type { Table } from "@reeve/jetstream/table/port";
import { cached } from "@reeve/platform/async/cached";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";

/** How long the state of the deployment is reused. Open consoles read it again every five seconds. */
const freshMs = 4_000;
/** How long each part may take. */
const maxReadMs = 5_000;

export interface DeploymentPorts {
  readonly store: ObservedStore;
  readonly workers: Pick<Table<WorkerPresence>, "list">;
  readonly toolhosts: Pick<Table<ToolhostPresence>, "list">;
  /** Whether the store is full and its reserve is in use. */
  readonly isReserveInUse: () => boolean;
  readonly clock: Pick<Clock, "now">;
}

type Response = Exclude<
  MessageInitShape<typeof GetDeploymentResponseSchema>,
  { readonly $typeName: string }
>;
type Queue = Exclude<MessageInitShape<typeof QueueSchema>, { readonly $typeName: string }>;

/** The state of a deployment as one look found it. A part that could not be read is empty, and is one of the problems. */
interface Look {
  readonly atMs: number;
  readonly workers: readonly WorkerPresence[];
  readonly toolhosts: readonly ToolhostPresence[];
  readonly queues: readonly Queue[];
  readonly feeds: Response["feeds"];
  readonly store: Response["store"];
  readonly problems: readonly string[];
}

/** The state of the deployment, which is read at most every few seconds, however many people look at it. */
export class Deployment {
  readonly #ports: DeploymentPorts;
  readonly #look: () => Promise<Look>;
  readonly #workers: () => Promise<readonly WorkerPresence[]>;

  constructor(ports: DeploymentPorts) {
    this.#ports = ports;
    this.#look = cached(() => look(ports), freshMs);
    this.#workers = cached(() => rowsOf(ports.workers), freshMs);
  }

  /** Returns the state, with the ids of the runs of one tenant. */
  async shownTo(tenant: string): Promise<Response> {
    const { atMs, workers, toolhosts, queues, feeds, store, problems } = await this.#look();
    return {
      readAt: timestampFromMs(atMs),
      workers: workers.map(({ worker, runs, slots, active, draining, since }) => ({
        name: worker,
        slots,
        active,
        draining,
        runIds: runsOf(runs, tenant),
        ...(since && { since }),
      })),
      toolhosts: toolhosts.map((host) => toolhostOf(host, tenant)),
      queues: [...queues],
      feeds: feeds ?? [],
      ...(store && {
        store: { ...store, reserveInUse: this.#ports.isReserveInUse() },
      }),
      problems: [...problems],
    };
  }

  /** Returns what the workers have reported. Throws a Failure if the store does not answer. */
  workers(): Promise<readonly WorkerPresence[]> {
    return this.#workers();
  }
}

async function look(ports: DeploymentPorts): Promise<Look> {
  const { store, clock } = ports;
  const problems: string[] = [];
  const atMs = clock.now();
  const signal = AbortSignal.timeout(maxReadMs);
  const part = async <Part>(name: string, read: () => Promise<Part>, missing: Part) => {
    try {
      return await read();
    } catch (error) {
      const why = error instanceof Failure ? error.message : "the store refused the request";
      problems.push(`${name}: ${why}`);
      return missing;
    }
  };
  const queuesOf = async (
    name: string,
    kind: QueueKind,
    read: () => Promise<readonly QueueState[]>,
  ) => (await part(name, read, [])).map((state) => queueOf(kind, state, atMs));
  const [workers, toolhosts, runs, calls, notifications, feeds, usage] = await Promise.all([
    part("workers", () => rowsOf(ports.workers), []),
    part("toolhosts", () => rowsOf(ports.toolhosts), []),
    queuesOf("queue of runs", QueueKind.RUNS, () => store.runQueue()),
    queuesOf("queues of calls", QueueKind.TOOL_CALLS, () => store.toolCallQueues()),
    queuesOf("queues of notifications", QueueKind.NOTIFICATIONS, () => store.notificationQueues()),
    part("feeds", () => store.feeds(signal), []),
    part("store", () => store.usage(), undefined),
  ]);
  return {
    atMs,
    workers,
    toolhosts: toolhosts.toSorted((one, other) => one.pool.localeCompare(other.pool)),
    queues: [...runs, ...calls, ...notifications],
    feeds: feeds.map(({ name, batchesBehind }) => ({ name, batchesBehind: BigInt(batchesBehind) })),
    store: usage && {
      bytes: BigInt(usage.bytes),
      maxBytes: BigInt(usage.maxBytes),
      streams: usage.streams.map(({ name, bytes, messages }) => ({
        name,
        bytes: BigInt(bytes),
        messages: BigInt(messages),
      })),
    },
    problems: problems.toSorted(),
  };
}

async function rowsOf<Record>(table: Pick<Table<Record>, "list">): Promise<readonly Record[]> {
  const rows = await table.list("", AbortSignal.timeout(maxReadMs));
  return rows.map(({ record }) => record);
}

function toolhostOf(host: ToolhostPresence, tenant: string) {
  const { pool, slots, busy, draining, isolation, workspaces, since } = host;
  const { warmSandboxes, spareSandboxes } = host;
  return {
    name: host.host,
    pool,
    slots,
    busy,
    draining,
    isolation,
    workspaces,
    warmSandboxes,
    spareSandboxes,
    runIds: runsOf(host.calls, tenant),
    ...(since && { since }),
  };
}

/** Returns the ids of the runs that belong to a tenant: operators see how much others do, and not what. */
function runsOf(
  runs: readonly { readonly tenant: string; readonly runId: string }[],
  tenant: string,
): string[] {
  const own = runs.filter((run) => run.tenant === tenant).map(({ runId }) => runId);
  return [...new Set(own)];
}

function queueOf(kind: QueueKind, state: QueueState, nowMs: number): Queue {
  const { name, waiting, taken, redelivered, oldestMs } = state;
  return {
    kind,
    name,
    waiting: BigInt(waiting),
    taken: BigInt(taken),
    redelivered: BigInt(redelivered),
    // The clock of the store may be ahead.
    ...(oldestMs !== undefined && { oldestAge: durationFromMs(Math.max(0, nowMs - oldestMs)) }),
  };
}
