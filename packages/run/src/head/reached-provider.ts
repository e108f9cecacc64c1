import type { ModelCallFailed } from "@reeve/contracts/run";

/**
 * Whether a failed model call reached its provider, and is therefore an attempt. A worker does not call a provider that it does
 * not have, that it leaves alone, or whose model the operator's policy withholds.
 */
export function reachedProvider({ reason }: Pick<ModelCallFailed, "reason">): boolean {
  return reason !== "not_configured" && reason !== "paused" && reason !== "withheld";
}
