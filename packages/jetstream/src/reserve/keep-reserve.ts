import { randomBytes } from "node:crypto";
import type { JetStreamManager } from "@nats-io/jetstream";
import { DiscardPolicy, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "@reeve/platform/async/clock";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { chunkBytes } from "../objects/write-chunks.ts";
import { callStore } from "../streams/call-store.ts";
import { configOfStream } from "../streams/config-of-stream.ts";
import { openJetStreamManager } from "../streams/ensure-stream.ts";
import type { ApiError } from "../streams/errors.ts";
import { warnOfServerLimit } from "../streams/account/warn-of-server-limit.ts";
import { isForbidden, isNotFound, isStoreFull, storeFailure } from "../streams/errors.ts";
import { replicasOfNew } from "../streams/new-stream-replicas.ts";
import { FillBackoff } from "./fill-backoff.ts";
import { keptMs, reserveFreed, reserveStream, spentSetter, whenFreed } from "./reserve-state.ts";

/** The time after a look because of an announcement in which there is no other. */
const minLookMs = 500;
/** How long the servers of a cluster take to exchange how much of an account is in use. */
const usageLagMs = 2_000;

export interface ReserveOptions {
  /** Size of the reserve. */
  readonly bytes: number;
  /** Monotonic. */
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
    if ((await configOfStream(streams, reserveStream)) !== undefined) return;
    const replicas = await replicasOfNew(connection, streams);
    await streams.add({ ...config, num_replicas: replicas });
  });
  return reserveStream;
}

/**
 * Keeps the reserve of the store filled, until `signal` aborts. From the moment at which any process has freed it until it is
 * filled again, `reserveState` says that it is spent. While its stream is missing, and this process may not create it, nothing
 * is reserved, and nothing is spent. Several processes may keep it, with the same size.
 */
export async function keepReserve(
  { connection }: { readonly connection: NatsConnection },
  { bytes, clock, log }: ReserveOptions,
  signal: AbortSignal,
): Promise<void> {
  const setSpent = spentSetter(connection, log);
  const freed = new Wakeup();
  using _ = whenFreed(connection, () => freed.notify());
  await createIfMissing(connection, log);
  const manager = await openJetStreamManager(connection);
  await warnOfServerLimit(connection, await replicasOf(manager), log);
  const chunks = Math.ceil(bytes / chunkBytes);
  let isClustered = false;
  const measure = async () => {
    if (isClustered) await clock.sleep(usageLagMs, signal);
    return await storedBytes(manager);
  };
  const backoff = new FillBackoff({ bytes, clock, storedBytes: measure });
  let dueMs = clock.now();
  for (;;) {
    const stored = await storedContent(manager);
    let isFilled = stored === undefined || stored.chunks === chunks;
    if (stored !== undefined) {
      ({ isClustered } = stored);
      const isEmpty = stored.chunks === 0;
      const { lastSequence } = stored;
      if (backoff.noteLook({ isWhole: isFilled, isEmpty, lastSequence })) {
        setSpent(true);
        await backoff.noteFailure();
      }
    }
    // A look because of an announcement leaves the room to the process that freed it.
    const isDue = clock.now() >= dueMs;
    if (isDue) {
      dueMs = clock.now() + keptMs;
      if (stored === undefined) await createIfMissing(connection, log);
      else if (!isFilled && (await backoff.mayFill())) {
        const filled = await fill(connection, { chunks, stored: stored.chunks });
        ({ isFilled } = filled);
        if (isFilled) backoff.noteFill(filled.lastSequence);
        else await backoff.noteFailure(filled.lastSequence);
      }
    }
    setSpent(!isFilled);
    // Processes that do not keep the reserve learn from this that it is still in use.
    if (!isFilled && isDue) connection.publish(reserveFreed);
    // Anybody who may use NATS can announce: not each announcement costs a request.
    if (!isDue) await clock.sleep(minLookMs, signal);
    await untilNextLook(connection, freed, dueMs - clock.now(), { clock, signal });
  }
}

/** Creates the stream of the reserve, or reports that it is missing. */
async function createIfMissing(connection: NatsConnection, log: Logger): Promise<void> {
  try {
    await openReserve({ connection });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    log.error(
      { stream: reserveStream },
      "the stream RESERVE is missing, and this user of NATS may not create it: a full store will refuse cancellations and deletions too; run `reeve provision` as the operator",
    );
  }
}

/** Resolves after `delayMs`, when the reserve is said to be freed, and when the connection is open again: announcements are lost. */
async function untilNextLook(
  connection: NatsConnection,
  freed: Wakeup,
  delayMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const over = new AbortController();
  const removeListener = connectionStateOf(connection).onChange((isUp) => {
    if (isUp) over.abort();
  });
  const until = AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([clock.sleep(Math.max(0, delayMs), until), freed.wait(until)]);
  } catch (error) {
    if (signal.aborted) throw error;
  } finally {
    removeListener();
    over.abort();
  }
}

/** Returns how many servers keep the reserve; 0 if there is none. */
async function replicasOf({ streams }: JetStreamManager): Promise<number> {
  const config = await callStore(() => configOfStream(streams, reserveStream));
  return config?.num_replicas ?? 0;
}

interface StoredContent {
  readonly chunks: number;
  readonly lastSequence: number;
  readonly isClustered: boolean;
}

/** Returns what the reserve has; undefined: there is none. */
async function storedContent(manager: JetStreamManager): Promise<StoredContent | undefined> {
  return await callStore(async () => {
    try {
      const { state, cluster } = await manager.streams.info(reserveStream);
      const isClustered = cluster !== undefined;
      return { chunks: state.messages, lastSequence: state.last_seq, isClustered };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
}

async function storedBytes(manager: JetStreamManager): Promise<number> {
  const { storage } = await callStore(() => manager.getAccountInfo());
  return storage;
}

interface Fill {
  readonly isFilled: boolean;
  /** The sequence of the last chunk that was written; undefined: none was. */
  readonly lastSequence: number | undefined;
}

/** Fills the reserve. If the store has no room for all of it, leaves the reserve empty. */
async function fill(
  connection: NatsConnection,
  { chunks, stored }: { readonly chunks: number; readonly stored: number },
): Promise<Fill> {
  const requests = requestClientOf(connection);
  const data = randomBytes(chunkBytes);
  const { streams } = await openJetStreamManager(connection);
  const purge = () => callStore(() => streams.purge(reserveStream));
  // A larger reserve has other chunks. Others stay: another process may have just written them.
  if (stored > chunks) await purge();
  let lastSequence: number | undefined;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const reply = await requests.send(`reserve.${chunk}`, { data });
    if (reply === undefined) throw storeUnavailable();
    const { error, seq } = reply.json<{ readonly error?: ApiError; readonly seq?: number }>();
    lastSequence = seq ?? lastSequence;
    if (error === undefined) continue;
    await purge();
    if (isStoreFull(error)) return { isFilled: false, lastSequence };
    throw storeFailure(error);
  }
  return { isFilled: true, lastSequence };
}
