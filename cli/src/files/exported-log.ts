import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { fromJsonString } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { StoredRunBatch } from "@reeve/contracts/run";
import { ExportRunLogResponseSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { sizeOf } from "./small-file.ts";

/** Yields the batches of a log that `export` wrote. Throws a Failure if the file is none. */
export async function* exportedBatches(path: string): AsyncIterable<StoredRunBatch> {
  await sizeOf(path);
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  for await (const line of lines) {
    if (line.trim() !== "") yield* batchesOf(line, path);
  }
}

function batchesOf(line: string, path: string): readonly StoredRunBatch[] {
  try {
    return fromJsonString(ExportRunLogResponseSchema, line, { ignoreUnknownFields: true }).batches;
  } catch (cause) {
    const message = `${path} is not a log as \`reeve export\` writes it`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
  }
}
