import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { CallResult } from "@reeve/calls/ports/tool";

/**
 * Returns the result of a call that the server refused, did not answer in time, or answered with an invalid result. Returns
 * undefined for other errors: the server may be gone.
 */
export function failedCall(error: unknown, idleTimeoutMs: number): CallResult | undefined {
  if (error instanceof ProtocolError) return { content: error.message, isError: true };
  if (isTimeout(error)) {
    const content = `the server did not answer within ${idleTimeoutMs / 1_000} s; the outcome of the call is unknown`;
    return { content, isError: true, endReason: "timeout" };
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    const content = "the answer of the server is not a valid result of a tool call";
    return { content, isError: true };
  }
  return undefined;
}

function isTimeout(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.RequestTimeout;
  return error instanceof DOMException && error.name === "TimeoutError";
}
