import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { CallResult } from "@reeve/calls/ports/tool";

/** What a server said against a call, and a call that it left unanswered. Undefined: the server may be gone. */
export function failedOutcome(error: unknown, silenceMs: number): CallResult | undefined {
  if (error instanceof ProtocolError) return { content: error.message, isError: true };
  if (isTimeout(error)) {
    const content = `the server did not answer within ${silenceMs / 1_000} s; the outcome of the call is unknown`;
    return { content, isError: true, endReason: "timeout" };
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    return { content: "the server answered with what is no result of a tool", isError: true };
  }
  return undefined;
}

function isTimeout(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.RequestTimeout;
  return error instanceof DOMException && error.name === "TimeoutError";
}
