import { create } from "@bufbuild/protobuf";
import { FilePartSchema } from "@reeve/contracts/content/parts";
import type { FilePart } from "@reeve/contracts/content/parts";
import { inspectMedia } from "@reeve/jetstream/objects/inspect-media";
import type { RunState } from "../../domain/state/run-state.ts";
import { maxFileBytes } from "../../ports/media-generator.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";

/** A generated file, and the attempt that generated it. */
export interface GeneratedFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Names the file among all of the run: storing it again changes nothing. */
  readonly key: string;
}

/**
 * Stores a generated file as an artifact of the run. Throws a ModelFailure if it is not what its type says, or too large: images are
 * checked by their header, and never decoded.
 */
export async function storeMedia(
  { head: { runId, created } }: RunState,
  { name, mediaType, bytes, key }: GeneratedFile,
  { artifacts }: Pick<RunPorts, "artifacts">,
  signal: AbortSignal,
): Promise<FilePart> {
  if (bytes.length > maxFileBytes) {
    throw unusable(`a file of ${bytes.length} bytes; the limit is ${maxFileBytes}`);
  }
  const found = inspectMedia(bytes, mediaType);
  if (!("width" in found)) throw unusable(`a file that ${found[1]}`);
  const draft = {
    name,
    mediaType,
    runId,
    createdBy: created?.startedBy ?? "",
    idempotencyKey: `${runId}/${key}`,
  };
  const stored = await artifacts.put(created?.tenant ?? "", draft, only(bytes), signal);
  const { artifactId, sizeBytes, sha256 } = stored;
  return create(FilePartSchema, { artifactId, mediaType, name, sizeBytes, sha256, ...found });
}

async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

function unusable(what: string): ModelFailure {
  const options = { retryable: false, answerBegan: true };
  return new ModelFailure("malformed", `the provider sent ${what}`, options);
}
