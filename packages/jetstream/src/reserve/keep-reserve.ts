import { randomBytes } from "node:crypto";
import type { JetStreamManager } from "@nats-io/jetstream";
import { DiscardPolicy, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "@reeve/platform/async/clock";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { chunkBytes } from "../objects/write-chunks.ts";
import { callStore } from "../streams/call-store.ts";
import { openJetStreamManager } from "../streams/ensure-stream.ts";
import type { ApiError } from "../streams/errors.ts";
import { isNotFound, isStoreFull, storeFailure } from "../streams/errors.ts";
import { reserveState, reserveStream } from "./reserve-state.ts";

/** Interval between looks at the reserve. */
const checkMs = 5_000;
/** How long a full store is left alone, unless it has become smaller by the size of the reserve. */
const retryMs = 60_000;

/** When the reserve could not be filled, and what else was stored then. */
interface FailedFill {
  readonly atMs: number;
  readonly storedBytes: number;
}

export interface ReserveOptions {
  /** Size of the reserve. */
  readonly bytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Creates the stream of the reserve if it is missing, without content. Returns its name. */
export async function openReserve({
  connection,
}: {
  readonly connection: NatsConnection;
}): Promise<string> {
  const { streams } = await callStore(() => openJetStreamManager(connection));
  const config = {
    name: reserveStream,
    subjects: ["reserve.*"],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    // Several processes that fill the reserve at the same time replace each other's content.
    max_msgs_per_subject: 1,
  };
  await callStore(async () => {
    try {
      await streams.info(reserveStream);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await streams.add(config);
    }
  });
  return reserveStream;
}

/**
 * Keeps the reserve of the store filled, until `signal` aborts. While it cannot be filled, `reserveState` says that it is spent.
 * Several processes may do this, with the same size.
 */
export async function keepReserve(
  { connection }: { readonly connection: NatsConnection },
  { bytes, clock, log }: ReserveOptions,
  signal: AbortSignal,
): Promise<void> {
  await openReserve({ connection });
  const manager = await openJetStreamManager(connection);
  const chunks = Math.ceil(bytes / chunkBytes);
  const state = reserveState(connection);
  let failed: FailedFill | undefined;
  for (;;) {
    const { state: stored } = await callStore(() => manager.streams.info(reserveStream));
    const isComplete = stored.messages === chunks;
    const isTried = !isComplete && (await mayFill(manager, failed, { bytes, clock }));
    const isFilled = isComplete || (isTried && (await fill(connection, chunks)));
    if (isTried && !isFilled) {
      failed = { atMs: clock.now(), storedBytes: await storedBytes(manager) };
    }
    if (state.isSpent !== !isFilled) {
      if (isFilled) log.info("the store has room again");
      else log.warn("the store is full, and its reserve is in use; nothing new is accepted");
    }
    state.isSpent = !isFilled;
    await clock.sleep(checkMs, signal);
  }
}

/** Whether an attempt to fill the reserve may succeed: an attempt in vain writes a lot to the disk. */
async function mayFill(
  manager: JetStreamManager,
  failed: FailedFill | undefined,
  { bytes, clock }: Pick<ReserveOptions, "bytes" | "clock">,
): Promise<boolean> {
  if (failed === undefined || clock.now() - failed.atMs >= retryMs) return true;
  return (await storedBytes(manager)) + bytes <= failed.storedBytes;
}

async function storedBytes(manager: JetStreamManager): Promise<number> {
  const { storage } = await callStore(() => manager.getAccountInfo());
  return storage;
}

/** Fills the reserve. If the store has no room for all of it, leaves the reserve empty and returns false. */
async function fill(connection: NatsConnection, chunks: number): Promise<boolean> {
  const requests = requestClientOf(connection);
  const data = randomBytes(chunkBytes);
  const { streams } = await openJetStreamManager(connection);
  const purge = () => callStore(() => streams.purge(reserveStream));
  // A reserve of another size has other chunks.
  await purge();
  for (let chunk = 0; chunk < chunks; chunk++) {
    const reply = await requests.send(`reserve.${chunk}`, { data });
    if (reply === undefined) throw storeUnavailable();
    const { error } = reply.json<{ readonly error?: ApiError }>();
    if (error === undefined) continue;
    await purge();
    if (isStoreFull(error)) return false;
    throw storeFailure(error);
  }
  return true;
}
