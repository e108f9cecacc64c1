import type { NetworkEntry } from "@reeve/agent/spec/network-entry";
import { includesEntry, parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Network access that the operator of a toolhost permits its sandboxes. */
export interface NetworkPolicy {
  /** Hosts and ports that agents may request. Empty: none. */
  readonly allow: readonly NetworkEntry[];
  /** Addresses and ranges that may be reached although they are local, link-local, or private. */
  readonly ranges: readonly string[];
  /** Maximum bytes of all connections of one call together, in both directions. */
  readonly maxBytes: number;
}

/** Parses the network entries of an agent. Throws a Failure that names all entries beyond the policy. */
export function permittedEntries(
  requested: readonly string[],
  { allow }: Pick<NetworkPolicy, "allow">,
): readonly NetworkEntry[] {
  const entries = requested.map((text) => {
    const entry = parseNetworkEntry(text, "agent");
    if (entry === undefined) throw denied(`"${text}" is not of the form host:port or *.host:port`);
    return entry;
  });
  const refused = entries.filter((entry) => !allow.some((outer) => includesEntry(outer, entry)));
  if (refused.length === 0) return entries;
  const refusedTexts = refused.map(({ text }) => text).join(", ");
  const permitted = allow.map(({ text }) => text).join(", ") || "nothing";
  throw denied(
    `the agent requests ${refusedTexts}, but its operator permits only ${permitted}; ` +
      "remove it from deep_agent.network.allow, or add it to REEVE_NETWORK_ALLOW of the toolhost",
  );
}

function denied(problem: string): Failure {
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, `no network: ${problem}`);
}
