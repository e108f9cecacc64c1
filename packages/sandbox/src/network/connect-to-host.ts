import { once } from "node:events";
import type { Socket } from "node:net";
import { connect, isIP } from "node:net";
import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { AddressGuard } from "./address-guard.ts";
import type { Lookups } from "./lookups.ts";

/** How long one address may take to accept a connection. */
const connectMs = 10_000;
const maxAddresses = 8;

export interface RouteOptions {
  readonly guard: AddressGuard;
  readonly lookups: Lookups;
  /** Serializes the lookups of one sandbox, because each holds a thread that file operations need as well. */
  readonly lookupMutex: Semaphore;
}

/** A connection, or the reason why there is none. */
export type HostConnection =
  | { readonly kind: "open"; readonly socket: Socket }
  | { readonly kind: "refused" | "failed"; readonly reason: string };

/**
 * Connects to a host. Resolves its name once and connects to an address that was checked, so a changed name (DNS rebinding)
 * leads nowhere else. Refuses the host if any of its addresses is blocked.
 */
export async function connectToHost(
  host: string,
  port: number,
  { guard, lookups, lookupMutex }: RouteOptions,
  signal: AbortSignal,
): Promise<HostConnection> {
  let addresses: readonly string[];
  try {
    addresses = isIP(host) > 0 ? [host] : await lookups.addresses(host, lookupMutex, signal);
  } catch (error) {
    return { kind: "failed", reason: `${host} has no address: ${codeOf(error)}` };
  }
  const blocked = addresses.find((address) => !guard.permits(address));
  if (blocked !== undefined) {
    const subject = blocked === host ? host : `${host} is at ${blocked}, which`;
    const remedy = "only REEVE_NETWORK_RANGES can permit it";
    return { kind: "refused", reason: `${subject} is blocked here; ${remedy}` };
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
  return { kind: "failed", reason: `cannot connect to ${host}:${port}: ${problem}` };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string" && error.code !== "ABORT_ERR") {
    return error.code;
  }
  return /^(Abort|Timeout)Error$/.test(error.name) ? "it took too long" : error.message;
}
