import { createHash } from "node:crypto";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { abortable } from "@reeve/platform/async/abortable";
import { ErrorReason } from "@reeve/contracts/error";
import type { Outage } from "@reeve/platform/async/retry/outlast-outage";
import { outlastOutage } from "@reeve/platform/async/retry/outlast-outage";
import { Failure } from "@reeve/platform/failure";
import type { CallPorts } from "../ports/call-ports.ts";

/** A part of a result that is stored as an artifact. */
export interface Part {
  /** Distinguishes the parts of one result. Empty for the text itself. */
  readonly key: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export type StoredPart =
  | (StoredArtifact & { readonly kind: "stored"; readonly isEarlier: boolean })
  | { readonly kind: "lost"; readonly reason: string };

/** An artifact as the store has it. */
export interface StoredArtifact {
  readonly artifactId: string;
  readonly sha256: string;
}

/** Where the parts of a result are stored. */
export interface StorePorts extends Pick<CallPorts, "artifacts" | "storeTimeoutMs" | "log"> {
  /** Tells whether the store is away as a whole. */
  readonly outage: Outage;
}

const mediaTypePattern = /^[\w.+-]{1,60}\/[\w.+-]{1,60}(; charset=utf-8)?$/;
const namePattern = /^[\w-]{1,128}$/;

/**
 * Stores a part of a result as an artifact of the run. The same call always makes the same artifact; `isEarlier` means that an
 * earlier attempt of the call stored other bytes under it. A store that is away is waited for. One that answers, but rejects the
 * part or does not take it in time, costs the part and never the call. Throws only when `signal` aborts.
 */
export async function storePart(
  { tenant, runId, call, startedBy }: ToolCallRequest,
  { key, mediaType, bytes }: Part,
  { artifacts, storeTimeoutMs, outage, log }: StorePorts,
  signal: AbortSignal,
): Promise<StoredPart> {
  const callId = call?.callId ?? "";
  const isKnown = mediaTypePattern.test(mediaType);
  const draft = {
    name: nameOf(call?.name ?? "", key, mediaType),
    mediaType: isKnown ? mediaType : "application/octet-stream",
    runId,
    createdBy: startedBy,
    // The prefix keeps it apart from an artifact that the tool itself stores under the id of its call.
    idempotencyKey: `result:${callId}${key && `:${key}`}`,
  };
  const put = async () => {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(storeTimeoutMs)]);
    // A store that is unavailable may not even react to the signal.
    const storing = abortable(artifacts.put(tenant, draft, once(bytes), bounded), bounded);
    return await storing.catch((error: unknown) => {
      throw bounded.aborted ? tookTooLong(storeTimeoutMs) : error;
    });
  };
  try {
    const { artifactId, sha256 } = await outlastOutage(put, outage, signal);
    const isEarlier = sha256 !== createHash("sha256").update(bytes).digest("hex");
    return { kind: "stored", artifactId, sha256, isEarlier };
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, callId }, "part of a result was not stored");
    const reason = error instanceof Failure ? error.message.slice(0, 200) : "the store broke";
    return { kind: "lost", reason };
  }
}

function tookTooLong(timeoutMs: number): Failure {
  const problem = `the store did not take it within ${timeoutMs / 1_000} s`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

/** A model may have made up the name of the tool, which is then not a valid file name. */
function nameOf(tool: string, key: string, mediaType: string): string {
  const [, kind = ""] = /^[a-z]+\/(json|png|jpeg|gif|webp|pdf|wav|mpeg)$/.exec(mediaType) ?? [];
  const extension = mediaType.startsWith("text/") ? "txt" : kind || "bin";
  return `${namePattern.test(tool) ? tool : "tool"}-result${key && `-${key}`}.${extension}`;
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
