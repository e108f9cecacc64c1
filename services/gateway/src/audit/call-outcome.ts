import { Code, ConnectError } from "@connectrpc/connect";
import { Failure } from "@reeve/platform/failure";
import { codeName } from "@reeve/platform/rpc/outcome/code-name";
import { connectErrorOf } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";

/** How a call ended. */
export interface CallOutcome {
  /** The name of the status: `OK`, `NOT_FOUND`. */
  readonly code: string;
  /** The reason in the domain of Reeve. Empty if it has none. */
  readonly reason: string;
}

export const succeeded: CallOutcome = { code: "OK", reason: "" };

/** Returns how a call ended that threw an error. Internal errors are not described. */
export function outcomeOf(error: unknown, signal: AbortSignal): CallOutcome {
  if (error instanceof Failure) {
    const { code } = connectErrorOf(error, () => true);
    return { code: codeName(code), reason: reasonName(error.reason) };
  }
  if (error instanceof ConnectError && error.code !== Code.Unknown) {
    return { code: codeName(error.code), reason: "" };
  }
  return { code: codeName(signal.aborted ? Code.Canceled : Code.Internal), reason: "" };
}
