import { createHash } from "node:crypto";
import type { ObjectInfo } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { Failure } from "@reeve/platform/failure";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { openJetStreamManager } from "../streams/ensure-stream.ts";
import { retryRead } from "../table/retry-read.ts";

/**
 * How many chunks one connection requests at a time. A server closes a connection for which it holds more than 64 MiB: these
 * are at most 16 times the size of a chunk, whatever the number of readers.
 */
const maxRequestedChunks = 16;

const permits = new WeakMap<NatsConnection, Semaphore>();

/** Where the chunks of an object are. */
export interface ChunkSource {
  readonly connection: NatsConnection;
  readonly bucket: string;
}

/**
 * Yields the bytes of an object. Requests each chunk only once the previous one is consumed. Throws a Failure if a chunk is
 * missing or altered, and one of kind `unavailable` if the store does not answer.
 */
export async function* readChunks(
  source: ChunkSource,
  { name, nuid, chunks, digest }: Pick<ObjectInfo, "name" | "nuid" | "chunks" | "digest">,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const { connection, bucket } = source;
  const subject = `$O.${bucket}.C.${nuid}`;
  const turns = permits.get(connection) ?? new Semaphore(maxRequestedChunks);
  permits.set(connection, turns);
  const hash = createHash("sha256");
  let revision = 0;
  for (let read = 0; read < chunks; read++) {
    const chunk = await requestChunk();
    if (chunk === undefined) throw damaged(name, `chunk ${read + 1} of ${chunks} is missing`);
    revision = chunk.revision;
    hash.update(chunk.data);
    yield chunk.data;
  }
  const computed = hash.digest("base64url");
  const expected = digest.replace("SHA-256=", "").replaceAll("=", "");
  if (computed !== expected) throw damaged(name, "its digest does not match");

  async function requestChunk() {
    using _ = await turns.acquire(signal);
    return await retryRead(connection, () => nextChunk(source, subject, revision + 1), signal);
  }
}

interface Chunk {
  readonly data: Uint8Array;
  readonly revision: number;
}

/** Returns the first message of a subject from a revision on. */
async function nextChunk(
  { connection, bucket }: ChunkSource,
  subject: string,
  from: number,
): Promise<Chunk | undefined> {
  const stream = `OBJ_${bucket}`;
  const query = { next_by_subj: subject, seq: from };
  const data = JSON.stringify(query);
  const reply = await requestClientOf(connection).send(`$JS.API.DIRECT.GET.${stream}`, { data });
  if (reply === undefined) throw storeUnavailable();
  const revision = Number(reply.headers?.get("Nats-Sequence"));
  if (reply.headers?.code === 0 && revision > 0) return { data: reply.data, revision };
  // A replica that answers directly may lag behind: the leader knows whether the chunk exists.
  const { streams } = await openJetStreamManager(connection);
  const stored = await streams.getMessage(stream, query);
  return stored === null ? undefined : { data: stored.data, revision: stored.seq };
}

function damaged(name: string, problem: string): Failure {
  const message = `the stored object ${name} is damaged: ${problem}; store it again`;
  return new Failure("internal", ErrorReason.INTERNAL, message);
}
