import type { ToolCatalog, ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { openHostQueues } from "@reeve/jetstream/queue/nats-host-queues";
import type { QueueTimeouts } from "@reeve/jetstream/queue/nats";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { steadyClock } from "@reeve/platform/async/clock";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { Background } from "@reeve/platform/async/background";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Table } from "@reeve/jetstream/table/port";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Executions } from "@reeve/calls/ports/executions";
import type { Slots } from "@reeve/calls/queue/slots";
import { ownExecutions } from "@reeve/calls/queue/slots";
import type { Routing } from "@reeve/calls/ports/routing";
import { LivePeers } from "./live-peers.ts";
import type { PresenceOptions } from "./presence-heartbeat.ts";
import { PresenceHeartbeat } from "./presence-heartbeat.ts";
import { PeerExecutions } from "./peer-executions.ts";
import { answerProbes, isListening, probeHost } from "@reeve/jetstream/queue/nats-host-probes";
import { TableWorkspaceHolders } from "@reeve/calls/queue/table-workspace-holders";

/**
 * How long the start waits for the presences of the other hosts. Without a limit it might wait forever: a presence may expire
 * while the watch opens, so that nothing is received at all.
 */
const maxWaitMs = 5_000;

/** The pool of this host. */
export interface Pool extends AsyncDisposable {
  readonly routing: Routing;
  /** What became of calls that this host or another one has started. */
  readonly executions: Executions;
  readonly presence: PresenceHeartbeat;
  /** The catalogs that the hosts of all pools have announced. */
  readonly catalogs: Table<ToolCatalog>;
  /** Notifies that a host may be gone. */
  readonly hostLeft: Wakeup;
}

export interface PoolOptions {
  readonly pool: string;
  readonly host: string;
  readonly slots: Slots;
  readonly reported?: PresenceOptions["reported"];
  /** How long the queues of calls wait for a silent host, and this host as their taker. */
  readonly timeouts: QueueTimeouts;
  readonly requests: WorkQueue<ToolCallRequest>;
  readonly nats: Nats;
  readonly log: Logger;
}

/**
 * Makes this host known to its peers, and follows them until it is disposed, even while this host drains. When it is disposed,
 * the peers see this host as gone.
 */
export async function joinPool(options: PoolOptions, signal: AbortSignal): Promise<Pool> {
  const { pool, host, slots, reported, timeouts, requests, nats, log } = options;
  await using joining = new AsyncDisposableStack();
  const hostLeft = new Wakeup();
  const table = await openTable(nats, ToolhostPresenceSchema);
  const catalogs = await openTable(nats, ToolCatalogSchema);
  // Does not end with the process signal: a host that drains still has to know its peers.
  const following = joining.use(new Background(log, neverAborts));
  const view = await openLiveView(catalogs, log, following.signal);
  const peers = new LivePeers({
    host,
    presence: table,
    catalogs: view,
    isListening: (other) => isListening(nats.connection, other),
    onChange: () => hostLeft.notify(),
    log,
  });
  const executes = (call: CallKey) => slots.isSettling(call);
  joining.use(answerProbes(nats.connection, host, executes));
  const shown = { host, pool, slots, reported, log };
  const presence = joining.use(new PresenceHeartbeat(table, shown));
  const { promise: known, resolve: isKnown } = Promise.withResolvers<void>();
  following.run((until) => peers.follow(isKnown, until));
  following.run((until) => peers.probeSilent(until));
  await settledWithin(known, maxWaitMs, signal);
  await presence.begin(signal);
  const routing: Routing = {
    pool,
    peers,
    holders: new TableWorkspaceHolders(await openTable(nats, WorkspaceRecordSchema)),
    calls: await openHostQueues(nats, { pool, ...timeouts }),
    requests,
  };
  const executions = new PeerExecutions({
    own: ownExecutions(slots),
    host,
    probe: (other, key, until) => probeHost(nats.connection, other, key, until),
    isAbsent: (other, until) => peers.isGone(other, until),
    connectedMs: () => connectionStateOf(nats.connection).upForMs,
    clock: steadyClock,
  });
  const resources = joining.move();
  return {
    routing,
    executions,
    presence,
    catalogs,
    hostLeft,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
