import { createHash } from "node:crypto";
import type { ObjectInfo } from "@nats-io/obj";
import type { PayloadCipher, Place } from "../sealing/payload-cipher.ts";
import { openContent, sealContent } from "../sealing/sealed-content.ts";
import type { StoredBytes } from "./artifact-draft.ts";
import type { ArtifactDraft } from "./artifact-store.ts";

type Described = Pick<ArtifactDraft, "name" | "mediaType" | "runId"> & {
  readonly createdBy: string;
};

/** What the object of an artifact says about it. */
export interface ObjectDescription {
  readonly draft: Described;
  readonly bytes: StoredBytes;
}

/** The bytes of an artifact, and what is stored with them. */
export interface SealedObject {
  readonly content: AsyncIterable<Uint8Array>;
  /** Complete when `content` has ended. */
  readonly metadata: Record<string, string>;
}

/** Returns the bytes of an artifact as they are stored, sealed if the cipher is on: their description then too. */
export function sealObject(
  cipher: PayloadCipher,
  place: Place,
  { draft, content }: { readonly draft: Described; readonly content: AsyncIterable<Uint8Array> },
  signal: AbortSignal,
): SealedObject {
  if (!cipher.isOn) return { content, metadata: { ...draft } };
  const metadata: Record<string, string> = {};
  return { content: sealed(), metadata };

  async function* sealed(): AsyncIterable<Uint8Array> {
    const hash = createHash("sha256");
    let sizeBytes = 0;
    const counted = async function* () {
      for await (const chunk of content) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        yield chunk;
      }
    };
    yield* sealContent(cipher, place, counted(), signal);
    const text = JSON.stringify({ ...draft, sizeBytes, sha256: hash.digest("hex") });
    const bytes = await cipher.seal(descriptionAt(place), Buffer.from(text), signal);
    metadata["sealed"] = Buffer.from(bytes).toString("base64");
  }
}

/** Returns what is stored with the bytes of an artifact. */
export async function describeObject(
  cipher: PayloadCipher,
  place: Place,
  { size, digest, mtime, metadata = {} }: ObjectInfo,
  signal: AbortSignal,
): Promise<ObjectDescription> {
  const createdAt = new Date(mtime);
  const { sealed, name = "", mediaType = "", runId = "", createdBy = "" } = metadata;
  if (sealed === undefined) {
    const sha256 = Buffer.from(digest.replace("SHA-256=", ""), "base64url").toString("hex");
    const draft = { name, mediaType, runId, createdBy };
    return { draft, bytes: { sizeBytes: size, sha256, createdAt } };
  }
  const bytes = await cipher.open(descriptionAt(place), Buffer.from(sealed, "base64"), signal);
  // Only `sealObject` can have written it: it is authentic.
  const { sizeBytes, sha256, ...draft } = JSON.parse(Buffer.from(bytes).toString()) as Described &
    Pick<StoredBytes, "sizeBytes" | "sha256">;
  return { draft, bytes: { sizeBytes, sha256, createdAt } };
}

/** Yields the bytes of an artifact, as they were before they were sealed. */
export function openObject(
  cipher: PayloadCipher,
  place: Place,
  { info, chunks }: { readonly info: ObjectInfo; readonly chunks: AsyncIterable<Uint8Array> },
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const isSealed = info.metadata?.["sealed"] !== undefined;
  return isSealed ? openContent(cipher, place, chunks, signal) : chunks;
}

function descriptionAt({ tenant, name }: Place): Place {
  return { tenant, name: `${name}/description` };
}
