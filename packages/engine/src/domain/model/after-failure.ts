import { nextModelOf } from "./model-of.ts";
import type { NewFailure } from "./retry-delay.ts";
import { delayAfterFailure } from "./retry-delay.ts";
import type { Frame, ModelCall } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** Reasons that say nothing about other models, although a retry with the same one fails. */
const ofOtherModels: ReadonlySet<string> = new Set([
  "unauthenticated",
  "withheld",
  "provider_removed",
]);

/** What follows a failed attempt. Neither: the frame fails. */
export interface AfterFailure {
  /** The delay before the next attempt with the same model. */
  readonly delayMs?: number;
  /** Id of the model that takes over at once. */
  readonly fallbackModel?: string;
}

/**
 * Decides what follows the failure of `call`, at `nowMs`: another attempt, or the next model that the agent names. A request that
 * the provider refuses for its content is not sent to another one.
 */
export function afterFailure(
  state: RunState,
  { frame, call }: { readonly frame: Frame; readonly call: ModelCall },
  failure: NewFailure,
  nowMs: number,
): AfterFailure {
  const next = nextModelOf(state, frame);
  // Without another model, the run waits until the provider is there.
  const isMissing = failure.reason === "not_configured";
  if (next !== undefined && isMissing) return { fallbackModel: next.id };
  const delayMs = delayAfterFailure(state, { frame, call }, failure, nowMs);
  if (delayMs !== undefined) return { delayMs };
  const isOfProvider = failure.retryable || ofOtherModels.has(failure.reason);
  return next !== undefined && isOfProvider ? { fallbackModel: next.id } : {};
}
