import type { NetworkEntry } from "@reeve/agent/spec/network-entry";
import { includesEntry, parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** What the operator of a toolhost permits its sandboxes, and how much of it. */
export interface NetworkPolicy {
  /** The most that an agent may be given. Empty: nothing. */
  readonly allow: readonly NetworkEntry[];
  /** Addresses and ranges that may be reached although they are of this host, of its links or of private networks. */
  readonly ranges: readonly string[];
  /** Bytes of all connections of one call together, in both directions. */
  readonly maxBytes: number;
}

/** What an agent asks for, when all of it is permitted. Throws a Failure that names what is not. */
export function permittedEntries(
  wanted: readonly string[],
  { allow }: Pick<NetworkPolicy, "allow">,
): readonly NetworkEntry[] {
  const entries = wanted.map((text) => {
    const entry = parseNetworkEntry(text, "agent");
    if (entry === undefined) throw denied(`"${text}" is no host:port or *.host:port`);
    return entry;
  });
  const refused = entries.filter((entry) => !allow.some((outer) => includesEntry(outer, entry)));
  if (refused.length === 0) return entries;
  const asked = refused.map(({ text }) => text).join(", ");
  const most = allow.map(({ text }) => text).join(", ") || "nothing";
  throw denied(
    `the agent asks for ${asked}, beyond what its operator permits, which is ${most}; ` +
      "take it out of deep_agent.network.allow, or have REEVE_NETWORK_ALLOW of the toolhost permit it",
  );
}

function denied(problem: string): Failure {
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, `no network: ${problem}`);
}
