import { durationMs } from "@bufbuild/protobuf/wkt";
import type { ModelCallFailed } from "@reeve/contracts/run";
import { formatMs } from "./numbers.ts";
import { oneLine } from "./plain-text.ts";

/**
 * Returns what people read about a failed model call that is repeated, or made with another model. Undefined: neither.
 * `uncalled` of the attempts so far did not reach the provider.
 */
export function describeModelWait(failed: ModelCallFailed, uncalled: number): string | undefined {
  const { retryDelay, attempt, message, fallbackModel } = failed;
  if (fallbackModel !== "") {
    return `${causeOf(failed)}, model ${oneLine(fallbackModel, 255)} takes over: ${oneLine(message, 300)}`;
  }
  if (retryDelay === undefined) return undefined;
  const again = `attempt ${attempt + 1 - uncalled} in ${formatMs(durationMs(retryDelay))}`;
  return `${causeOf(failed)}, ${again}: ${oneLine(message, 300)}`;
}

function causeOf({ provider, reason }: ModelCallFailed): string {
  const name = provider === "" ? "the provider" : oneLine(provider, 63);
  switch (reason) {
    case "rate_limited":
      return `rate limited by ${name}`;
    case "unavailable":
    case "paused":
      return `${name} is unavailable`;
    case "unauthenticated":
      return `${name} refuses the key`;
    case "not_configured":
      return `provider ${name} is missing`;
    default:
      return `${name} sent no usable answer`;
  }
}
