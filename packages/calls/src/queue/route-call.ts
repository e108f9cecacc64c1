import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import { needsWorkspace } from "./needs-workspace.ts";
import type { Routing, WorkspaceKey } from "../ports/routing.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";

/** Where a call is to be made. `later`: it cannot be told yet. */
export type Route =
  | { readonly kind: "here" }
  | { readonly kind: "there"; readonly host: string }
  | { readonly kind: "later" };

/** How often a call is sent on. Hosts that do not agree on where it belongs must not pass it on for ever. */
const maxHops = 3;

const here: Route = { kind: "here" };

/** What is known of other hosts and of workspaces. */
type Known = Pick<Routing, "pool" | "mates" | "holders">;

/**
 * Says where a call that nobody has begun is made: by a living host of the pool that holds its workspace, by one that has its
 * tool where this one has not, else here. Makes this host the holder of a workspace that nobody holds any more.
 */
export async function routeCall(
  request: ToolCallRequest,
  hops: number,
  ports: Pick<ToolhostPorts, "toolbox" | "host"> & { readonly routing: Known },
  signal: AbortSignal,
): Promise<Route> {
  const { toolbox, routing } = ports;
  if (hops >= maxHops) return here;
  const name = request.call?.name ?? "";
  const tool = toolbox.find(name);
  const mates = routing.mates.list().filter(({ pool }) => pool === routing.pool);
  if (tool === undefined) return whoHas(name, mates, routing);
  if (mates.length === 0 || !needsWorkspace(tool.descriptor)) return here;
  return await toHolder(request, ports, signal);
}

function whoHas(name: string, mates: readonly ToolhostPresence[], { mates: known }: Known): Route {
  const [first, ...others] = mates.filter(
    ({ host, draining }) => !draining && known.offers(host, name),
  );
  if (first === undefined) return here;
  const { host } = others.reduce((best, mate) => (room(mate) > room(best) ? mate : best), first);
  return { kind: "there", host };
}

/** How many calls a host could begin at once. */
function room({ slots, busy }: ToolhostPresence): number {
  return slots - busy;
}

async function toHolder(
  { tenant, runId, workspace }: ToolCallRequest,
  { host, routing }: Pick<ToolhostPorts, "host"> & { readonly routing: Known },
  signal: AbortSignal,
): Promise<Route> {
  const { holders, mates } = routing;
  const key: WorkspaceKey = { tenant, id: workspace?.id || runId };
  const known = await holders.holderOf(key, signal);
  if (known === host) return here;
  const living = known === undefined ? undefined : mateOf(known, routing);
  // Whoever makes calls of another pool has files of its own; nothing is taken from it here.
  if (living !== undefined && living.pool !== routing.pool) return here;
  if (living !== undefined && !living.draining) return await reached(known ?? "", routing, signal);
  // A host that is about to go, or was not heard of, lets its files go itself when it is asked for them.
  if (known !== undefined && (await mates.listens(known, signal))) return here;
  const holder = await holders.hold(key, { host, instead: known }, signal);
  // A holder that has files is asked for them where they are taken, also when it seems to be gone.
  if (holder === host || holder === known) return here;
  const other = mateOf(holder, routing);
  if (other?.pool === routing.pool && !other.draining) return { kind: "there", host: holder };
  // Not heard of yet, or about to go: whoever is there a moment later decides.
  return mates.list().length > 0 ? { kind: "later" } : here;
}

async function reached(host: string, { mates }: Known, signal: AbortSignal): Promise<Route> {
  const listens = await mates.listens(host, signal);
  return listens ? { kind: "there", host } : { kind: "later" };
}

function mateOf(host: string, { mates }: Known): ToolhostPresence | undefined {
  return mates.list().find((mate) => mate.host === host);
}
