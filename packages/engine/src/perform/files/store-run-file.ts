import type { Artifact } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { runFileKey } from "@reeve/jetstream/objects/artifact-draft";
import { abortable } from "@reeve/platform/async/abortable";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import type { RunState } from "../../domain/state/run-state.ts";
import type { RunFile } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";

/** How long the store may take for a file, and how long it may be away. */
const storeTimeoutMs = 30_000;
const maxOutageMs = 600_000;

/**
 * Stores a file as an artifact of the run. A store that is away is waited for, because what produced the file may not do so again. Throws a
 * ModelFailure if it stays away, or refuses the file.
 */
export async function storeRunFile(
  { head: { runId, created } }: RunState,
  { name, mediaType, bytes, key }: RunFile,
  { artifacts, clock }: Pick<RunPorts, "artifacts" | "clock">,
  signal: AbortSignal,
): Promise<Artifact> {
  const draft = {
    name,
    mediaType,
    runId,
    createdBy: created?.startedBy ?? "",
    idempotencyKey: runFileKey(runId, key),
  };
  const put = async () => {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(storeTimeoutMs)]);
    // A store that is unavailable may not even react to the signal.
    const storing = artifacts.put(created?.tenant ?? "", draft, only(bytes), bounded);
    return await abortable(storing, bounded).catch((error: unknown) => {
      throw bounded.aborted ? tookTooLong() : error;
    });
  };
  return await retryUnavailable(put, { maxElapsedMs: maxOutageMs, clock }, signal).catch(notStored);
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
