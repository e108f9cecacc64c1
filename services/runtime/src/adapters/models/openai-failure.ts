import { APIConnectionError, APIError } from "openai";
import type { ModelFailureReason } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import { isFields } from "./merge-delta.ts";
import { retryAfterMs } from "./retry-after.ts";

/** Characters of a provider's own words that a failure repeats. */
const maxWords = 500;

/**
 * What a caller may do about an exception of the SDK or of the connection. Any other is a fault of ours, and given back
 * as it is.
 */
export function openaiFailure(error: unknown, provider: string): unknown {
  if (error instanceof APIConnectionError || isOfSystem(error)) {
    return new ModelFailure("unavailable", `${provider} cannot be reached: ${causeOf(error)}`, {
      cause: error,
    });
  }
  if (!(error instanceof APIError)) return error;
  const status = typeof error.status === "number" ? error.status : undefined;
  const body: unknown = error.error;
  return refusedBy(provider, status, isFields(body) ? body : { message: error.message }, {
    cause: error,
    retryAfterMs: retryAfterMs(error.headers, Date.now()),
  });
}

/** A failure that the provider reports in the middle of a stream. */
export function streamedFailure(body: unknown, provider: string): ModelFailure {
  const fields = isFields(body) ? body : { message: body };
  const status = Number(fields["code"] ?? fields["status"]);
  return refusedBy(provider, Number.isInteger(status) ? status : undefined, fields, {});
}

function refusedBy(
  provider: string,
  status: number | undefined,
  body: Readonly<Record<string, unknown>>,
  options: ErrorOptions & { readonly retryAfterMs?: number | undefined },
): ModelFailure {
  const reason = reasonOf(status, body);
  const answered = status === undefined ? provider : `${provider} answered ${status}`;
  // The words that go with a refused key quote the key.
  const words = reason === "unauthenticated" ? "it does not accept the key" : wordsOf(body);
  return new ModelFailure(reason, `${answered}: ${words}`, options);
}

function reasonOf(
  status: number | undefined,
  { code, type, message }: Readonly<Record<string, unknown>>,
): ModelFailureReason {
  const said = [code, type].filter((word) => typeof word === "string").join(" ");
  if (isOverflow(said, typeof message === "string" ? message : "")) return "context_overflow";
  if (/content_filter|content_policy/.test(said)) return "refused";
  if (status === 401 || status === 403) return "unauthenticated";
  if (status === 429 || (status === undefined && /rate_limit/.test(said))) return "rate_limited";
  if (status === 408 || (status !== undefined && status >= 500)) return "unavailable";
  if (status === undefined) return /invalid/.test(said) ? "invalid" : "unavailable";
  return "invalid";
}

/** OpenAI has a code for it, others only words. */
function isOverflow(said: string, message: string): boolean {
  return (
    /context_length_exceeded|exceed_context_size/.test(said) ||
    /maximum context length|exceeds? the (available )?context/i.test(message)
  );
}

function wordsOf({ message }: Readonly<Record<string, unknown>>): string {
  if (typeof message !== "string" || message === "") return "it does not say why";
  return message.length > maxWords ? `${message.slice(0, maxWords)}…` : message;
}

function isOfSystem(error: unknown): boolean {
  return error instanceof Error && !(error instanceof APIError) && "code" in error;
}

/** The innermost cause: the outer ones only say that there is one. */
function causeOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return String(innermost);
  return innermost.message === "" ? innermost.name : innermost.message;
}
