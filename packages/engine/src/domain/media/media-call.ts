import type { MediaKind } from "@reeve/agent/media/media-kinds";
import type { MediaSize } from "@reeve/agent/media/media-price";
import { maxMediaUsd, mediaSize } from "@reeve/agent/media/media-price";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { MediaCallEnded, MediaCallStarted } from "@reeve/contracts/run";
import type { Call, Frame } from "../state/frame.ts";
import type { MediaCall } from "../state/media-call.ts";
import type { RunState } from "../state/run-state.ts";

/** Returns the call after its attempt started. */
export function withMediaStarted(
  call: Call,
  { attempt, reservedUsd = 0, isWaiting }: MediaCallStarted,
): Call {
  const waiting = isWaiting ? { isWaiting } : {};
  return { ...call, media: { attempt, status: "in_progress", reservedUsd, ...waiting } };
}

/** Returns the call after its attempt ended. */
export function withMediaEnded(call: Call, { attempt }: MediaCallEnded): Call {
  return { ...call, media: { attempt, status: "ended", reservedUsd: 0 } };
}

/** Returns the calls after their owner was lost: the same list if none generates media. */
export function withMediaLost(calls: readonly Call[]): readonly Call[] {
  if (!calls.some(awaitsMedia)) return calls;
  return calls.map((call): Call =>
    call.media !== undefined && awaitsMedia(call)
      ? { ...call, media: { attempt: requestsOf(call.media), status: "lost", reservedUsd: 0 } }
      : call,
  );
}

/** Returns how many attempts of a generation were requested: one that waited for memory was not, and its number is given again. */
function requestsOf({ attempt, isWaiting }: MediaCall): number {
  return isWaiting ? attempt - 1 : attempt;
}

/** Whether a call has an attempt, and no result. */
function awaitsMedia({ media, result }: Call): boolean {
  return media !== undefined && result === undefined;
}

/** Whether media are being generated for a call. */
export function isGenerating({ media, result }: Call): boolean {
  return media?.status === "in_progress" && result === undefined;
}

/** Returns what the generations in progress of a frame may cost at most, in US dollars. */
export function reservedForMedia({ calls }: Pick<Frame, "calls">): number {
  return calls.filter(isGenerating).reduce((sum, { media }) => sum + (media?.reservedUsd ?? 0), 0);
}

/** Returns what the generations of a frame may be billed that were requested and have no answer, in US dollars. */
export function billableForMedia({ calls }: Frame): number {
  const requested = calls.filter((call) => isGenerating(call) && call.media?.isWaiting !== true);
  return reservedForMedia({ calls: requested });
}

/** Returns the model with which the agent of a frame generates media. Undefined: it generates none of this kind. */
export function mediaModelOf(
  { media }: Pick<RunState, "media">,
  { delegate }: Pick<Frame, "delegate">,
  kind: MediaKind,
): ModelSpec | undefined {
  return media.find(({ agentId }) => agentId === (delegate?.agentId ?? ""))?.[kind];
}

/** Returns what decides on the cost of a generation, by the arguments of its call. */
export function mediaSizeOf(kind: MediaKind, args: JsonObject): MediaSize {
  const { prompt, text, count } = args;
  const said = kind === "image" ? prompt : text;
  const files = kind === "image" && typeof count === "number" ? count : 1;
  return mediaSize(files, typeof said === "string" ? said : "");
}

/** Returns the maximum cost of a generation in US dollars. Undefined: it is not known. */
export function maxCostOf(
  kind: MediaKind,
  model: ModelSpec | undefined,
  args: JsonObject,
): number | undefined {
  return model && maxMediaUsd(kind, model, mediaSizeOf(kind, args));
}
