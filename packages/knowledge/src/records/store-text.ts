import { randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { DocumentTextSchema } from "@reeve/contracts/extensions/knowledge";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { ParsedDocument } from "../parse/parse-document.ts";

/** Stores the passages of a document as an object of its own. Returns its name. */
export async function storeText(
  objects: Pick<Objects, "write">,
  folder: string,
  parsed: ParsedDocument,
  signal: AbortSignal,
): Promise<string> {
  const { name } = await objects.write(folder, encoded(parsed), signal);
  return name;
}

async function* encoded({ passages }: ParsedDocument): AsyncIterable<Uint8Array> {
  const text = { passages: [...passages], nonce: randomBytes(16) };
  yield toBinary(DocumentTextSchema, create(DocumentTextSchema, text));
}
