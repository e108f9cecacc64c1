import { createHash } from "node:crypto";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";

/** Something of a result that goes into the store. */
export interface Part {
  /** Tells the parts of one result apart; empty for the text itself. */
  readonly key: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** What became of a part. */
export type Kept =
  | { readonly kind: "kept"; readonly artifactId: string; readonly isEarlier: boolean }
  | { readonly kind: "lost"; readonly reason: string };

const mediaTypePattern = /^[\w.+-]{1,60}\/[\w.+-]{1,60}(; charset=utf-8)?$/;
const namePattern = /^[\w-]{1,128}$/;

/**
 * Stores a part of a result as an artifact of the run. The same call always makes the same artifact; `isEarlier` says that
 * an earlier attempt of the call has left other bytes there. A store that does not take it, or does not answer in time,
 * costs the part and never the call; throws only when `signal` aborts.
 */
export async function keepPart(
  { tenant, runId, call }: ToolCallRequest,
  { key, mediaType, bytes }: Part,
  { artifacts, keepMs, log }: Pick<ToolhostPorts, "artifacts" | "keepMs" | "log">,
  signal: AbortSignal,
): Promise<Kept> {
  const callId = call?.callId ?? "";
  const isKnown = mediaTypePattern.test(mediaType);
  const draft = {
    name: nameOf(call?.name ?? "", key, mediaType),
    mediaType: isKnown ? mediaType : "application/octet-stream",
    runId,
    // A tool may store artifacts of its own under the id of its call.
    idempotencyKey: `result:${callId}${key && `:${key}`}`,
  };
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(keepMs)]);
  try {
    const storing = artifacts.put(tenant, draft, once(bytes), bounded);
    const { artifactId, sha256 } = await until(storing, bounded);
    const isEarlier = sha256 !== createHash("sha256").update(bytes).digest("hex");
    return { kind: "kept", artifactId, isEarlier };
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, callId }, "part of a result could not be kept");
    if (error instanceof Failure) return { kind: "lost", reason: error.message.slice(0, 200) };
    const reason = bounded.aborted
      ? `the store did not take it within ${keepMs / 1_000} s`
      : "the store broke";
    return { kind: "lost", reason };
  }
}

/** A store that is away may not even hear that nobody waits any more. */
async function until<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** A model may have given the tool any name, which is then none of a file. */
function nameOf(tool: string, key: string, mediaType: string): string {
  const [, kind = ""] = /^[a-z]+\/(json|png|jpeg|gif|webp|pdf|wav|mpeg)$/.exec(mediaType) ?? [];
  const extension = mediaType.startsWith("text/") ? "txt" : kind || "bin";
  return `${namePattern.test(tool) ? tool : "tool"}-result${key && `-${key}`}.${extension}`;
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
