import type { ModelCallFailed } from "@reeve/contracts/run";

/** Reasons of calls that no provider received. */
const notCalled: ReadonlySet<string> = new Set([
  "not_configured",
  "paused",
  "provider_removed",
  "withheld",
]);

/**
 * Whether a failed model call reached its provider, and is therefore an attempt. A worker does not call a provider that it does
 * not have, that was deleted, that it leaves alone, or whose model the operator's policy withholds.
 */
export function reachedProvider({ reason }: Pick<ModelCallFailed, "reason">): boolean {
  return !notCalled.has(reason);
}
