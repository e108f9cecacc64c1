import type { NatsConnection } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import type { FailureKind } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { serverVersionAt } from "@reeve/platform/nats/server-version";

/**
 * The first patch release of each line of NATS servers on which writers that race on three servers were tested. Older ones tell
 * several writers that their batches follow the same tail. Lines that are not listed are supported as of `firstLine`.
 */
const firstPatches: ReadonlyMap<string, number> = new Map([
  ["2.9", 25],
  ["2.10", 7],
]);
const firstLine = { major: 2, minor: 11 } as const;

/** Returns whether NATS servers of this version keep replicas of a stream without losing acknowledged writes. */
export function keepsReplicas(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/, 3).map(Number);
  const firstPatch = firstPatches.get(`${major}.${minor}`);
  if (firstPatch !== undefined) return patch >= firstPatch;
  return major > firstLine.major || (major === firstLine.major && minor >= firstLine.minor);
}

type ConnectedServer = Pick<NatsConnection, "info" | "getServer">;

/**
 * Throws a Failure of kind `precondition` if a server of the cluster may not keep replicas of a stream: the one to which
 * `connection` is connected, or one to which it may move. Ignores servers that do not answer.
 */
export async function assertClusterKeepsReplicas(connection: ConnectedServer): Promise<void> {
  assertKeepsReplicas(connection, "precondition");
  const others = connection.info?.connect_urls ?? [];
  const versions = await Promise.all(others.map((address) => serverVersionAt(address)));
  for (const [index, version] of versions.entries()) {
    if (version !== undefined && !keepsReplicas(version)) {
      throw unsupported(others[index] ?? "", version, "precondition");
    }
  }
}

/**
 * Throws a Failure if the server to which `connection` is connected may not keep replicas of a stream. A connection may move to
 * another server of its cluster at any time, so a writer checks before each write.
 */
export function assertKeepsReplicas(
  connection: ConnectedServer,
  kind: FailureKind = "unavailable",
): void {
  const version = connection.info?.version;
  if (version === undefined || keepsReplicas(version)) return;
  throw unsupported(connection.getServer(), version, kind);
}

function unsupported(server: string, version: string, kind: FailureKind): Failure {
  return new Failure(
    kind,
    kind === "unavailable" ? ErrorReason.UNAVAILABLE : ErrorReason.INTERNAL,
    `the NATS server at ${server} has version ${version}, which loses acknowledged writes of streams with replicas; install nats-server 2.10.7 or later (of the 2.9 line, 2.9.25 or later) on every server of the cluster, or keep one replica of each stream`,
  );
}
