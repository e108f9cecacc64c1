import type { NatsConnection } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { serverVersionAt } from "@reeve/platform/nats/server-version";
import type { AccountLimits } from "./max-storage.ts";
import { maxStorageOf } from "./max-storage.ts";

/**
 * The first release that refuses a message for a full account and stores nothing. Before 2.10.11, servers store the message, then
 * remove it, and no longer find the messages before it on the same subject: a log reads as empty, and a writer that expects none is
 * told that it was first. From 2.10.11 on, they refuse it and store it nevertheless.
 */
const first = { major: 2, minor: 10, patch: 19 } as const;

/** Returns whether a NATS server of this version keeps its streams intact when an account is full. */
export function keepsFullAccounts(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/, 3).map(Number);
  if (major !== first.major) return major > first.major;
  return minor > first.minor || (minor === first.minor && patch >= first.patch);
}

/**
 * Throws a Failure of kind `precondition` if the account has a limit, and a server of the cluster does not keep its streams intact
 * there: the connected one, or one to which `connection` may move. Ignores servers that do not answer.
 */
export async function assertKeepsFullAccount(
  connection: Pick<NatsConnection, "info" | "getServer">,
  account: AccountLimits,
): Promise<void> {
  const maxBytes = maxStorageOf(account);
  if (maxBytes === undefined) return;
  const { version, connect_urls: others = [] } = connection.info ?? {};
  if (version !== undefined) assertKeeps(connection.getServer(), version, maxBytes);
  const versions = await Promise.all(others.map((address) => serverVersionAt(address)));
  for (const [index, other] of versions.entries()) {
    if (other !== undefined) assertKeeps(others[index] ?? "", other, maxBytes);
  }
}

function assertKeeps(server: string, version: string, maxBytes: number): void {
  if (keepsFullAccounts(version)) return;
  throw new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `the account of NATS may store ${maxBytes} bytes, and the server at ${server} has version ${version}, which corrupts logs when an account is full; install nats-server ${first.major}.${first.minor}.${first.patch} or later, or limit a single server itself (jetstream.max_file) and not the account`,
  );
}
