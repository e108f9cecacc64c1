import type { ModelCallFailed } from "@reeve/contracts/run";

/**
 * Whether a failed model call reached its provider, and is therefore an attempt. A worker does not call a provider that it does
 * not have, or that it leaves alone.
 */
export function reachedProvider({ reason }: Pick<ModelCallFailed, "reason">): boolean {
  return reason !== "not_configured" && reason !== "paused";
}
