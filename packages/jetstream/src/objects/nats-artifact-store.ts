import type { ObjectInfo } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { bucketOf, objectStoreOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { retry } from "@reeve/platform/async/retry/retry";
import { Failure } from "@reeve/platform/failure";
import {
  artifactIdOf,
  artifactOf,
  assertDraft,
  byAge,
  isArtifactId,
  artifactNotFound,
} from "./artifact-draft.ts";
import type { ArtifactDraft, ArtifactStore } from "./artifact-store.ts";
import { limitedContent } from "./limited-content.ts";
import type { PayloadCipher, Place } from "../sealing/payload-cipher.ts";
import { payloadCipherOf } from "../sealing/payload-cipher.ts";
import { describeObject, openObject, sealObject } from "./sealed-description.ts";
import type { NatsBytes } from "./nats-bytes.ts";
import { openBytes } from "./nats-bytes.ts";
import { openTable } from "../table/nats.ts";
import { storeFailure } from "../streams/errors.ts";
import type { Table } from "../table/port.ts";

/** The object store of the bytes. Their descriptions are in a bucket. */
export const artifactBytesBucket = objectStoreOf(ArtifactSchema);

/** How long a leader that was cut off may answer without what the others have, and a margin. */
const defaultStaleMs = 15_000;
const missingBackoff = { firstDelayMs: 100, maxDelayMs: 1_000 };

/** What was stored is not there. */
class Missing extends Error {}

export interface ArtifactStoreOptions {
  /** The size of the largest file. */
  readonly maxBytes: number;
  /** How long what was stored is searched for on several servers. */
  readonly maxStaleMs?: number;
}

/** Opens the store of artifacts, and creates it if it is missing. */
export async function openArtifactStore(
  nats: { readonly connection: NatsConnection },
  { maxBytes, maxStaleMs = defaultStaleMs }: ArtifactStoreOptions,
): Promise<ArtifactStore> {
  const bytes = await openBytes(nats.connection, artifactBytesBucket);
  const cipher = payloadCipherOf(nats.connection);
  const parts = { bytes, cipher, maxBytes, maxStaleMs };
  return new NatsArtifactStore(await openTable(nats, ArtifactSchema), parts);
}

interface ArtifactBytes extends Required<ArtifactStoreOptions> {
  readonly bytes: NatsBytes;
  readonly cipher: PayloadCipher;
}

/** Writes the description after the bytes, from what was stored with them. Only the description makes the artifact visible. */
class NatsArtifactStore implements ArtifactStore {
  readonly #descriptions: Table<Artifact>;
  readonly #bytes: NatsBytes;
  readonly #cipher: PayloadCipher;
  readonly #maxBytes: number;
  readonly #maxStaleMs: number;

  constructor(
    descriptions: Table<Artifact>,
    { bytes, cipher, maxBytes, maxStaleMs }: ArtifactBytes,
  ) {
    this.#descriptions = descriptions;
    this.#bytes = bytes;
    this.#cipher = cipher;
    this.#maxBytes = maxBytes;
    this.#maxStaleMs = maxStaleMs;
  }

  async put(
    tenant: string,
    draft: ArtifactDraft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Artifact> {
    assertDraft(draft);
    const artifactId = artifactIdOf(tenant, draft);
    const known = await this.get(tenant, artifactId, signal);
    if (known !== undefined) return known;
    const stored =
      (await this.#orphanedBytes(tenant, artifactId, draft, signal)) ??
      (await this.#store(tenant, artifactId, draft, content, signal));
    // Everything from the object: when two writers store the same key, the bytes of the first one are the artifact.
    const place = placeOf(tenant, artifactId);
    const described = await describeObject(this.#cipher, place, stored, signal);
    const artifact = artifactOf(artifactId, described.draft, described.bytes);
    const row = await this.#descriptions.create(keyOf(tenant, artifactId), artifact, signal);
    return row?.record ?? (await this.get(tenant, artifactId, signal)) ?? artifact;
  }

  async get(
    tenant: string,
    artifactId: string,
    signal: AbortSignal,
  ): Promise<Artifact | undefined> {
    signal.throwIfAborted();
    if (!isArtifactId(artifactId)) return undefined;
    return (await this.#descriptions.get(keyOf(tenant, artifactId), signal))?.record;
  }

  async getStored(
    tenant: string,
    artifactId: string,
    signal: AbortSignal,
  ): Promise<Artifact | undefined> {
    if (!isArtifactId(artifactId)) return undefined;
    return await this.#readStored(() => this.get(tenant, artifactId, signal), signal);
  }

  async *read(tenant: string, artifactId: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const artifact = await this.getStored(tenant, artifactId, signal);
    if (artifact === undefined) throw artifactNotFound(artifactId);
    const name = objectName(tenant, artifactId);
    const info = await this.#readStored(() => this.#bytes.find(name, signal), signal);
    if (info === undefined) {
      const message = `the bytes of artifact ${artifactId} are missing from the store`;
      throw new Failure("internal", ErrorReason.INTERNAL, message);
    }
    const chunks = this.#bytes.chunksOf(info, signal);
    yield* openObject(this.#cipher, placeOf(tenant, artifactId), { info, chunks }, signal);
  }

  async delete(tenant: string, artifactId: string, signal: AbortSignal): Promise<boolean> {
    const isKnown = (await this.get(tenant, artifactId, signal)) !== undefined;
    if (!isArtifactId(artifactId)) return false;
    // The description first, because lists show it.
    if (isKnown) await this.#descriptions.delete(keyOf(tenant, artifactId), signal);
    await this.#bytes.remove(objectName(tenant, artifactId));
    return isKnown;
  }

  async list(tenant: string, signal: AbortSignal): Promise<readonly Artifact[]> {
    const rows = await this.#descriptions.list(tenant, signal);
    return rows.map(({ record }) => record).toSorted(byAge);
  }

  /**
   * Reads what was stored, and again while it is missing and several servers keep it, for longer than a leader that was cut off
   * from the others may answer. Returns undefined when it stays missing.
   */
  async #readStored<Found>(
    read: () => Promise<Found | undefined>,
    signal: AbortSignal,
  ): Promise<Found | undefined> {
    const found = await read();
    if (found !== undefined || !(await this.#bytes.isReplicated())) return found;
    const readAgain = async () => {
      const again = await read();
      if (again === undefined) throw new Missing();
      return again;
    };
    const options = {
      backoff: missingBackoff,
      maxElapsedMs: this.#maxStaleMs,
      isRetryable: (error: unknown) => error instanceof Missing,
    };
    return await retry(readAgain, options, signal).catch((error: unknown) => {
      if (error instanceof Missing) return undefined;
      throw error;
    });
  }

  /** Returns the bytes that an earlier attempt with the same key stored before it died without a description. */
  async #orphanedBytes(
    tenant: string,
    artifactId: string,
    { idempotencyKey }: ArtifactDraft,
    signal: AbortSignal,
  ): Promise<ObjectInfo | undefined> {
    return idempotencyKey === undefined
      ? undefined
      : await this.#bytes.find(objectName(tenant, artifactId), signal);
  }

  async #store(
    tenant: string,
    artifactId: string,
    { name, mediaType, runId, createdBy = "" }: ArtifactDraft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<ObjectInfo> {
    const object = objectName(tenant, artifactId);
    const draft = { name, mediaType, runId, createdBy };
    const limited = limitedContent(content, this.#maxBytes, signal);
    const place = placeOf(tenant, artifactId);
    const sealed = sealObject(this.#cipher, place, { draft, content: limited }, signal);
    const written = await this.#bytes.write(object, sealed.metadata, sealed.content);
    const stored = written ?? (await this.#bytes.find(object, signal));
    if (stored !== undefined) return stored;
    throw storeFailure(new Error(`another writer of ${object} has not finished`));
  }
}

/** The place for which the bytes of an artifact are sealed. */
function placeOf(tenant: string, artifactId: string): Place {
  return { tenant, name: `${artifactBytesBucket}/${objectName(tenant, artifactId)}` };
}

function keyOf(tenant: string, artifact: string): string {
  return bucketOf(ArtifactSchema).key({ tenant, artifact });
}

function objectName(tenant: string, artifactId: string): string {
  return `${tenant}/${artifactId}`;
}
