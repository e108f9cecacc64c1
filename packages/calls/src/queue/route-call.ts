import type { ToolCallRequest, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import { callableTool } from "../execute/callable-tool.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { Routing } from "../ports/routing.ts";
import type { WorkspaceKey } from "../ports/workspaces.ts";

/** Where a call is executed. `later`: this is not known yet. `back`: by a host that takes it from the pool. */
export type Route =
  | { readonly kind: "here" }
  | { readonly kind: "back" }
  | { readonly kind: "there"; readonly host: string }
  | { readonly kind: "later" };

/** How many times a call is forwarded. Hosts that disagree about its place must not forward it forever. */
const maxHops = 3;

const here: Route = { kind: "here" };

/** What is known of peers and of workspaces. */
type Known = Pick<Routing, "pool" | "peers" | "holders">;

/**
 * Decides where a call that has not started is executed: by a live host of the pool that holds its workspace; by one that has
 * its tool when this host lacks it or cannot reach what executes it; else here, where it waits for the tool when it is claimed.
 * A forwarded call whose tool cannot be called here goes back to the pool, because only this host takes from its queue. Makes
 * this host the holder of a workspace that has lost its holder.
 */
export async function routeCall(
  request: ToolCallRequest,
  hops: number,
  ports: Pick<CallPorts, "toolbox" | "host"> & { readonly routing: Known },
  signal: AbortSignal,
): Promise<Route> {
  const { toolbox, routing } = ports;
  const name = request.call?.name ?? "";
  const tool = callableTool(name, toolbox);
  const peers = routing.peers.list().filter(({ pool }) => pool === routing.pool);
  if (tool === undefined) {
    if (hops > 0) return { kind: "back" };
    // Peers announce tools that they cannot reach, so where the call has waited, none of them is better than this host.
    const mayReach = request.waits > 0 && toolbox.find(name) !== undefined;
    return (mayReach ? undefined : toOffering(name, peers, routing)) ?? here;
  }
  if (hops >= maxHops) return here;
  if (peers.length === 0 || !needsWorkspace(tool.descriptor)) return here;
  return await toHolder(request, ports, signal);
}

/**
 * Whether calls of the tool are executed where the files of the run are. Tools of MCP servers and providers have no access to them, and
 * web tools use none; those with a lock use something else that the host of the files keeps for the run.
 */
function needsWorkspace({
  source,
  permissionClass,
  exclusiveLock,
}: Pick<ToolDescriptor, "source" | "permissionClass" | "exclusiveLock">): boolean {
  if (source !== "builtin") return false;
  return permissionClass !== PermissionClass.NETWORK || exclusiveLock !== "";
}

function toOffering(
  name: string,
  peers: readonly ToolhostPresence[],
  { peers: known }: Known,
): Route | undefined {
  const [first, ...others] = peers.filter(
    ({ host, draining }) => !draining && known.offers(host, name),
  );
  if (first === undefined) return undefined;
  const { host } = others.reduce(
    (best, peer) => (freeSlots(peer) > freeSlots(best) ? peer : best),
    first,
  );
  return { kind: "there", host };
}

function freeSlots({ slots, busy }: ToolhostPresence): number {
  return slots - busy;
}

async function toHolder(
  { tenant, runId, workspace }: ToolCallRequest,
  { host, routing }: Pick<CallPorts, "host"> & { readonly routing: Known },
  signal: AbortSignal,
): Promise<Route> {
  const { holders, peers } = routing;
  const key: WorkspaceKey = { tenant, id: workspace?.id || runId };
  const known = await holders.holderOf(key, signal);
  if (known === host) return here;
  const live = known === undefined ? undefined : peerOf(known, routing);
  // A host that executes calls of another pool has its own files; nothing is taken from it here.
  if (live !== undefined && live.pool !== routing.pool) return here;
  if (live !== undefined && !live.draining) return await toListening(live.host, routing, signal);
  // A host that drains, or that was not heard from, releases its files when it is asked for them.
  if (known !== undefined && (await peers.listens(known, signal))) return here;
  const holder = await holders.hold(key, { host, instead: known }, signal);
  // A holder that has files is asked for them when they are taken, even when it seems to be gone.
  if (holder === host || holder === known) return here;
  const other = peerOf(holder, routing);
  if (other?.pool === routing.pool && !other.draining) return { kind: "there", host: holder };
  // The new holder was not heard from yet, or drains: a later delivery decides.
  return peers.list().length > 0 ? { kind: "later" } : here;
}

async function toListening(host: string, { peers }: Known, signal: AbortSignal): Promise<Route> {
  const listens = await peers.listens(host, signal);
  return listens ? { kind: "there", host } : { kind: "later" };
}

function peerOf(host: string, { peers }: Known): ToolhostPresence | undefined {
  return peers.list().find((peer) => peer.host === host);
}
