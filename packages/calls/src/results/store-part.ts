import { createHash } from "node:crypto";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { abortable } from "@reeve/platform/async/abortable";
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
  | { readonly kind: "stored"; readonly artifactId: string; readonly isEarlier: boolean }
  | { readonly kind: "lost"; readonly reason: string };

const mediaTypePattern = /^[\w.+-]{1,60}\/[\w.+-]{1,60}(; charset=utf-8)?$/;
const namePattern = /^[\w-]{1,128}$/;

/**
 * Stores a part of a result as an artifact of the run. The same call always makes the same artifact; `isEarlier` means that an
 * earlier attempt of the call stored other bytes under it. A store that rejects the part or does not answer in time costs the
 * part and never the call. Throws only when `signal` aborts.
 */
export async function storePart(
  { tenant, runId, call }: ToolCallRequest,
  { key, mediaType, bytes }: Part,
  { artifacts, storeTimeoutMs, log }: Pick<CallPorts, "artifacts" | "storeTimeoutMs" | "log">,
  signal: AbortSignal,
): Promise<StoredPart> {
  const callId = call?.callId ?? "";
  const isKnown = mediaTypePattern.test(mediaType);
  const draft = {
    name: nameOf(call?.name ?? "", key, mediaType),
    mediaType: isKnown ? mediaType : "application/octet-stream",
    runId,
    // The prefix keeps it apart from an artifact that the tool itself stores under the id of its call.
    idempotencyKey: `result:${callId}${key && `:${key}`}`,
  };
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(storeTimeoutMs)]);
  try {
    const storing = artifacts.put(tenant, draft, once(bytes), bounded);
    // A store that is unavailable may not even react to the signal.
    const { artifactId, sha256 } = await abortable(storing, bounded);
    const isEarlier = sha256 !== createHash("sha256").update(bytes).digest("hex");
    return { kind: "stored", artifactId, isEarlier };
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, callId }, "part of a result was not stored");
    if (error instanceof Failure) return { kind: "lost", reason: error.message.slice(0, 200) };
    const reason = bounded.aborted
      ? `the store did not take it within ${storeTimeoutMs / 1_000} s`
      : "the store broke";
    return { kind: "lost", reason };
  }
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
