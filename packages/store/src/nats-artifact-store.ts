import { ReadableStream } from "node:stream/web";
import type { ObjectStore } from "@nats-io/obj";
import { Objm } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { bucketOf } from "@reeve/contracts/channel";
import { artifactIdOf, byAge, Measure, noSuchArtifact } from "./artifact-draft.ts";
import type { ArtifactDraft, ArtifactStore } from "./artifact-store.ts";
import { openTable } from "./nats-table.ts";
import { storeCall, storeFailure } from "./store-call.ts";
import type { Table } from "./table.ts";

/** The bytes lie in an object store beside the bucket of their descriptions. */
const bytesBucket = `${bucketOf(ArtifactSchema).name}-bytes`;
const mostTimeMs = 300_000;

/** Opens the store of artifacts, and makes it where it is missing. A file has at most `maxBytes`. */
export async function openArtifactStore(
  nats: { readonly connection: NatsConnection },
  { maxBytes }: { readonly maxBytes: number },
): Promise<ArtifactStore> {
  const bytes = await storeCall(() => new Objm(nats.connection).create(bytesBucket));
  return new NatsArtifactStore(await openTable(nats, ArtifactSchema), bytes, maxBytes);
}

class NatsArtifactStore implements ArtifactStore {
  readonly #descriptions: Table<Artifact>;
  readonly #bytes: ObjectStore;
  readonly #maxBytes: number;

  constructor(descriptions: Table<Artifact>, bytes: ObjectStore, maxBytes: number) {
    this.#descriptions = descriptions;
    this.#bytes = bytes;
    this.#maxBytes = maxBytes;
  }

  async put(
    tenant: string,
    draft: ArtifactDraft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Artifact> {
    const artifactId = artifactIdOf(tenant, draft);
    const known = await this.get(tenant, artifactId, signal);
    if (known !== undefined) return known;
    const measure = new Measure(this.#maxBytes);
    const object = { name: objectName(tenant, artifactId) };
    let refusal: unknown;
    const measured = async function* () {
      try {
        for await (const chunk of content) {
          signal.throwIfAborted();
          measure.add(chunk);
          yield chunk;
        }
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
    try {
      await this.#bytes.put(object, ReadableStream.from(measured()), { timeout: mostTimeMs });
    } catch (error) {
      await this.#bytes.delete(object.name).catch(() => undefined);
      throw refusal ?? storeFailure(error);
    }
    const artifact = measure.describe(artifactId, draft);
    // Only now is there anything to be seen: the description makes the artifact.
    await this.#descriptions.put(keyOf(tenant, artifactId), artifact, signal);
    return artifact;
  }

  async get(
    tenant: string,
    artifactId: string,
    signal: AbortSignal,
  ): Promise<Artifact | undefined> {
    return (await this.#descriptions.get(keyOf(tenant, artifactId), signal))?.record;
  }

  async *read(tenant: string, artifactId: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    if ((await this.get(tenant, artifactId, signal)) === undefined)
      throw noSuchArtifact(artifactId);
    const object = await storeCall(() => this.#bytes.get(objectName(tenant, artifactId)));
    if (object === null) throw noSuchArtifact(artifactId);
    for await (const chunk of object.data) {
      signal.throwIfAborted();
      yield chunk;
    }
    const broken = await object.error;
    if (broken instanceof Error) throw storeFailure(broken);
  }

  async list(tenant: string, signal: AbortSignal): Promise<readonly Artifact[]> {
    const rows = await this.#descriptions.list(tenant, signal);
    return rows.map(({ record }) => record).toSorted(byAge);
  }
}

function keyOf(tenant: string, artifact: string): string {
  return bucketOf(ArtifactSchema).key({ tenant, artifact });
}

function objectName(tenant: string, artifactId: string): string {
  return `${tenant}/${artifactId}`;
}
