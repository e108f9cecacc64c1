import { create } from "@bufbuild/protobuf";
import { FilePartSchema } from "@reeve/contracts/content/parts";
import type { FilePart } from "@reeve/contracts/content/parts";
import { abortable } from "@reeve/platform/async/abortable";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import { ErrorReason } from "@reeve/contracts/error";
import { inspectMedia } from "@reeve/jetstream/objects/inspect-media";
import type { RunState } from "../../domain/state/run-state.ts";
import { maxFileBytes } from "../../ports/media-generator.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";

/** How long the store may take for a file, and how long it may be away. */
const storeTimeoutMs = 30_000;
const maxOutageMs = 600_000;

/** A generated file, and the attempt that generated it. */
export interface GeneratedFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Names the file among all of the run: storing it again changes nothing. */
  readonly key: string;
}

/**
 * Stores a generated file as an artifact of the run. A store that is away is waited for, because the file is paid for. Throws a
 * ModelFailure if it stays away, or refuses the file, and if the file is not what its type says, or too large: images are checked by
 * their header, and never decoded.
 */
export async function storeMedia(
  { head: { runId, created } }: RunState,
  { name, mediaType, bytes, key }: GeneratedFile,
  { artifacts, clock }: Pick<RunPorts, "artifacts" | "clock">,
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
  const put = async () => {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(storeTimeoutMs)]);
    // A store that is unavailable may not even react to the signal.
    const storing = artifacts.put(created?.tenant ?? "", draft, only(bytes), bounded);
    return await abortable(storing, bounded).catch((error: unknown) => {
      throw bounded.aborted ? tookTooLong() : error;
    });
  };
  const stored = await retryUnavailable(put, { maxElapsedMs: maxOutageMs, clock }, signal).catch(
    notStored,
  );
  const { artifactId, sizeBytes, sha256 } = stored;
  return create(FilePartSchema, { artifactId, mediaType, name, sizeBytes, sha256, ...found });
}

function tookTooLong(): Failure {
  const problem = `the store did not take it within ${storeTimeoutMs / 1_000} s`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

function notStored(error: unknown): never {
  if (!(error instanceof Failure)) throw error;
  const message = `the generated files cannot be stored: ${error.message}`;
  const options = { retryable: false, answerBegan: true, cause: error };
  throw new ModelFailure("unavailable", message, options);
}

async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

function unusable(what: string): ModelFailure {
  const options = { retryable: false, answerBegan: true };
  return new ModelFailure("malformed", `the provider sent ${what}`, options);
}
