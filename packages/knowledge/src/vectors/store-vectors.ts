import { randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { StoredVectors } from "@reeve/contracts/extensions/knowledge";
import { DocumentVectorsSchema, StoredVectorsSchema } from "@reeve/contracts/extensions/knowledge";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { EmbeddedTexts } from "./embed-texts.ts";

/** Stores the embeddings of the passages of a document as an object of its own. */
export async function storeVectors(
  objects: Pick<Objects, "write">,
  folder: string,
  {
    model,
    dimensions,
    values,
    tokens,
    costUsd,
    nowMs,
  }: Omit<EmbeddedTexts, "refused"> & { readonly nowMs: number },
  signal: AbortSignal,
): Promise<StoredVectors> {
  const { name: object } = await objects.write(folder, encoded(values), signal);
  return create(StoredVectorsSchema, {
    model,
    dimensions,
    object,
    tokens: BigInt(tokens),
    embeddedAt: timestampFromMs(nowMs),
    ...(costUsd !== undefined && { costUsd }),
  });
}

async function* encoded(values: Int8Array): AsyncIterable<Uint8Array> {
  const message = { values: new Uint8Array(values), nonce: randomBytes(16) };
  yield toBinary(DocumentVectorsSchema, create(DocumentVectorsSchema, message));
}
