import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** The answers of identity providers have a few KiB. */
const maxBytes = 1024 * 1024;
const timeoutMs = 5_000;

export interface JsonAnswer {
  readonly status: number;
  /** Undefined if the answer is empty. */
  readonly body: unknown;
}

/**
 * Sends an HTTP request, and returns the answer, whatever its status is. Throws a Failure of kind `unavailable` if there is
 * no answer within five seconds, or if it redirects, is not JSON, or is larger than 1 MiB. Throws the signal's reason when the signal aborts.
 */
export async function fetchJson(
  url: string,
  init: Pick<RequestInit, "method" | "body" | "headers">,
  signal: AbortSignal,
): Promise<JsonAnswer> {
  try {
    const response = await fetch(url, {
      ...init,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const text = await textOf(response);
    return {
      status: response.status,
      body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
  } catch (error) {
    signal.throwIfAborted();
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `${url} gives no usable answer: ${problemOf(error)}; check the address and the network`,
      { cause: error },
    );
  }
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The cause names what a failed request met, such as ECONNREFUSED. */
function problemOf(error: unknown): string {
  if (error instanceof SyntaxError) return "it is not JSON";
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== ""
    ? error.cause.message
    : error.message;
}
