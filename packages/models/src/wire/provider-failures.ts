import {
  APIConnectionError as AnthropicConnectionError,
  APIError as AnthropicError,
} from "@anthropic-ai/sdk";
import { APIConnectionError, APIError } from "openai";
import type { ModelFailureReason } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { Fields } from "./merge-delta.ts";
import { isFields } from "./merge-delta.ts";
import { retryAfterMs } from "./retry-after.ts";

/** Characters of a provider's own words that a failure repeats. */
const maxWords = 500;

/** Characters of the shortest text that is taken for a key. */
const minKey = 8;

/** Says of the failures of one provider what a caller may do about them. Its messages never hold the key. */
export class ProviderFailures {
  readonly #provider: string;
  readonly #apiKey: string;

  constructor(provider: string, apiKey: string) {
    this.#provider = provider;
    this.#apiKey = apiKey;
  }

  /**
   * The failure behind an exception of an SDK or of the connection. Any other exception is a fault of ours, and given
   * back as it is.
   */
  ofException(error: unknown): unknown {
    if (isUnreachable(error)) {
      const message = `${this.#provider} cannot be reached: ${this.#withoutKey(causeOf(error))}`;
      return new ModelFailure("unavailable", message, { cause: error });
    }
    if (!(error instanceof APIError || error instanceof AnthropicError)) return error;
    const status = typeof error.status === "number" ? error.status : undefined;
    return this.#refusal(status, error.error ?? error.message, {
      cause: error,
      retryAfterMs: retryAfterMs(error.headers, Date.now()),
    });
  }

  /** What the provider reports in the middle of a stream. */
  ofReport(body: unknown): ModelFailure {
    const { code, status } = errorIn(body);
    const number = String(code ?? status);
    return this.#refusal(/^\d{3}$/.test(number) ? Number(number) : undefined, body, {});
  }

  #refusal(
    status: number | undefined,
    body: unknown,
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined },
  ): ModelFailure {
    const error = errorIn(body);
    const reason = reasonOf(status, error);
    const answered = status === undefined ? this.#provider : `${this.#provider} answered ${status}`;
    // The words that go with a refused key quote the key, or a part of it.
    const words = reason === "unauthenticated" ? "it does not accept the key" : wordsOf(error);
    return new ModelFailure(reason, `${answered}: ${this.#withoutKey(words)}`, {
      ...options,
      ...(isSpent(error) && { retryable: false }),
    });
  }

  #withoutKey(text: string): string {
    // What is so short is no secret, as the "none" for servers that ask for no key, but may be a word.
    return this.#apiKey.length < minKey ? text : text.replaceAll(this.#apiKey, "[key]");
  }
}

/** What a body says of the error: some wrap it in `error`, once or twice, some send only words. */
function errorIn(body: unknown): Fields {
  if (!isFields(body)) return { message: body };
  const inner = body["error"];
  return inner === undefined || inner === null ? body : errorIn(inner);
}

/** Money that is spent does not come back by waiting, as the rate of requests does. */
function isSpent({ code, type, details }: Fields): boolean {
  const cause = isFields(details) ? details["error_code"] : undefined;
  const said = [code, type, cause].filter((word) => typeof word === "string").join(" ");
  return /insufficient_quota|billing|spend_limit/.test(said);
}

function reasonOf(status: number | undefined, { code, type, message }: Fields): ModelFailureReason {
  const said = [code, type].filter((word) => typeof word === "string").join(" ");
  if (status === 401 || status === 403) return "unauthenticated";
  if (status === 429) return "rate_limited";
  if (status === 413 || isOverflow(said, typeof message === "string" ? message : "")) {
    return "context_overflow";
  }
  if (/content_filter|_policy/.test(said)) return "refused";
  if (status === undefined) return reasonOfWord(said);
  // A request that met another one may be made again, as one that took too long.
  return status >= 500 || [408, 409, 425].includes(status) ? "unavailable" : "invalid";
}

/** In the middle of a stream there is no status, only a word for it. */
function reasonOfWord(said: string): ModelFailureReason {
  if (/rate_limit/.test(said)) return "rate_limited";
  if (/authentication|permission|invalid_api_key/.test(said)) return "unauthenticated";
  return /invalid|not_found|billing/.test(said) ? "invalid" : "unavailable";
}

/** Some have a code for it, others only words. */
function isOverflow(said: string, message: string): boolean {
  return (
    /context_length_exceeded|exceed_context_size|request_(body_)?too_large/.test(said) ||
    /maximum context length|exceeds? (the )?(available )?context|prompt is too long/i.test(message)
  );
}

function wordsOf({ message }: Fields): string {
  if (typeof message !== "string" || message === "") return "it does not say why";
  return message.length > maxWords ? `${message.slice(0, maxWords)}…` : message;
}

/** The connection broke, or never was: says an SDK, or the system itself when it breaks in the middle of an answer. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof APIConnectionError || error instanceof AnthropicConnectionError) return true;
  const isOfApi = error instanceof APIError || error instanceof AnthropicError;
  return error instanceof Error && !isOfApi && "code" in error;
}

/** The innermost cause: the outer ones only say that there is one. */
function causeOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return String(innermost);
  return innermost.message === "" ? innermost.name : innermost.message;
}
