import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { callStore } from "../call-store.ts";
import { openJetStreamManager } from "../ensure-stream.ts";
import { maxStorageOf } from "./max-storage.ts";

/**
 * Warns when several servers keep the streams, and only the disks or the settings of these servers limit what they store: when they are
 * full, the streams lose their quorum, and neither the reserve of the store nor a deletion helps. A limit of the account only
 * refuses writes. What a server may store is not visible to its clients, so a limit of the account that is too high is not noticed.
 */
export async function warnOfServerLimit(
  connection: NatsConnection,
  replicas: number,
  log: Logger,
): Promise<void> {
  if (replicas <= 1) return;
  const manager = await openJetStreamManager(connection);
  const account = await callStore(() => manager.getAccountInfo());
  if (maxStorageOf(account, replicas) !== undefined) return;
  log.warn(
    { replicas },
    'the account of NATS has no limit, so that full servers lose the quorum of their streams, and nothing can be cancelled or deleted then: set jetstream.max_file of the account below what the servers hold together, see docs/deploy.md, "A full store"',
  );
}
