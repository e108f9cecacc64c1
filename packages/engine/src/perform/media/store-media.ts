import { create } from "@bufbuild/protobuf";
import type { FilePart } from "@reeve/contracts/content/parts";
import { FilePartSchema } from "@reeve/contracts/content/parts";
import { inspectMedia } from "@reeve/jetstream/objects/inspect-media";
import type { RunState } from "../../domain/state/run-state.ts";
import { maxFileBytes } from "../../ports/media-generator.ts";
import type { RunFile } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { storeRunFile } from "../files/store-run-file.ts";

/**
 * Stores a generated file as an artifact of the run, as `storeRunFile` does. Throws a ModelFailure also if the file is not what its type
 * says, or too large: images are checked by their header, and never decoded.
 */
export async function storeMedia(
  state: RunState,
  file: RunFile,
  ports: Pick<RunPorts, "artifacts" | "clock">,
  signal: AbortSignal,
): Promise<FilePart> {
  const { name, mediaType, bytes } = file;
  if (bytes.length > maxFileBytes) {
    throw unusable(`a file of ${bytes.length} bytes; the limit is ${maxFileBytes}`);
  }
  const found = inspectMedia(bytes, mediaType);
  if (!("width" in found)) throw unusable(`a file that ${found[1]}`);
  const { artifactId, sizeBytes, sha256 } = await storeRunFile(state, file, ports, signal);
  return create(FilePartSchema, { artifactId, mediaType, name, sizeBytes, sha256, ...found });
}

function unusable(what: string): ModelFailure {
  const options = { retryable: false, answerBegan: true };
  return new ModelFailure("malformed", `the provider sent ${what}`, options);
}
