import { once } from "node:events";
import type { Socket } from "node:net";
import { connect, isIP } from "node:net";
import type { AddressGuard } from "./address-guard.ts";
import type { Turns } from "@reeve/platform/async/turns";
import type { Lookups } from "./lookups.ts";

/** How long one address may take to accept a connection. */
const connectMs = 10_000;
const maxAddresses = 8;

export interface RouteOptions {
  readonly guard: AddressGuard;
  readonly lookups: Lookups;
  /** Lookups hold a thread that files need as well: those of one sandbox take turns. */
  readonly turns: Turns;
}

/** A connection, or why there is none. */
export type HostConnection =
  | { readonly kind: "open"; readonly socket: Socket }
  | { readonly kind: "refused" | "failed"; readonly reason: string };

/**
 * Connects to a host. Its name is resolved once, and the connection goes to an address that was looked at: whatever the name
 * says a moment later leads nowhere else. One address that is closed refuses the name.
 */
export async function connectToHost(
  host: string,
  port: number,
  { guard, lookups, turns }: RouteOptions,
  signal: AbortSignal,
): Promise<HostConnection> {
  let addresses: readonly string[];
  try {
    addresses = isIP(host) > 0 ? [host] : await lookups.addresses(host, turns, signal);
  } catch (error) {
    return { kind: "failed", reason: `${host} has no address: ${codeOf(error)}` };
  }
  const closed = addresses.find((address) => !guard.permits(address));
  if (closed !== undefined) {
    const at = closed === host ? host : `${host} is at ${closed}, which`;
    const remedy = "only REEVE_NETWORK_RANGES of the toolhost can open it";
    return { kind: "refused", reason: `${at} is closed to sandboxes; ${remedy}` };
  }
  let problem = "it has no address";
  for (const address of addresses.slice(0, maxAddresses)) {
    const socket = connect({ host: address, port });
    try {
      await once(socket, "connect", {
        signal: AbortSignal.any([signal, AbortSignal.timeout(connectMs)]),
      });
      return { kind: "open", socket };
    } catch (error) {
      socket.on("error", () => undefined).destroy();
      problem = codeOf(error);
      if (signal.aborted) break;
    }
  }
  return { kind: "failed", reason: `${host}:${port} is not reached: ${problem}` };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string" && error.code !== "ABORT_ERR") {
    return error.code;
  }
  return /^(Abort|Timeout)Error$/.test(error.name) ? "it took too long" : error.message;
}
