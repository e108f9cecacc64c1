import type { ModelFailureReason } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { Fields } from "./merge-delta.ts";
import { isFields } from "./merge-delta.ts";
import { retryAfterMs } from "./retry-after.ts";

/** How many characters of a provider's message a failure repeats. */
const maxMessageCharacters = 500;

/** The length from which a key is treated as a secret. */
const minKeyCharacters = 8;

/** The classes of the errors that the SDK of a provider throws. */
export interface SdkErrors {
  readonly APIError: abstract new (...given: never) => Error & {
    readonly status: unknown;
    readonly error: unknown;
    readonly headers: Headers | undefined;
  };
  readonly APIConnectionError: abstract new (...given: never) => Error;
}

/** Classifies the failures of one provider by what a caller can do about them. Its messages never contain the key. */
export class ProviderFailures {
  readonly #provider: string;
  readonly #apiKey: string;
  readonly #sdk: () => SdkErrors | undefined;

  /** `sdk` returns the errors of the provider's SDK once it is loaded. */
  constructor(provider: string, apiKey: string, sdk: () => SdkErrors | undefined) {
    this.#provider = provider;
    this.#apiKey = apiKey;
    this.#sdk = sdk;
  }

  /**
   * Returns the failure for an exception of an SDK or of the connection. Returns any other exception as it is, because it
   * is a bug of this program.
   */
  ofException(error: unknown): unknown {
    const sdk = this.#sdk();
    if (isUnreachable(error, sdk)) {
      const message = `${this.#provider} cannot be reached: ${this.#withoutKey(causeOf(error))}`;
      const isUnprocessed = unsentCodes.has(codeOf(error));
      return new ModelFailure("unavailable", message, { cause: error, isUnprocessed });
    }
    if (sdk === undefined || !(error instanceof sdk.APIError)) return error;
    const status = typeof error.status === "number" ? error.status : undefined;
    return this.#refusal(status, error.error ?? error.message, {
      cause: error,
      retryAfterMs: retryAfterMs(error.headers, Date.now()),
    });
  }

  /** Returns the failure for an error that the provider reports within a stream. */
  ofReport(body: unknown): ModelFailure {
    const { code, status } = errorIn(body);
    const number = String(code ?? status);
    return this.#refusal(/^\d{3}$/.test(number) ? Number(number) : undefined, body, {});
  }

  /** Returns the failure for an answer of another media type than that of events. */
  ofOtherType(type: string): ModelFailure {
    const message = `${this.#provider} answered with ${type} and no events; check ${this.#provider.toUpperCase()}_BASE_URL`;
    return new ModelFailure("malformed", message, { retryable: false });
  }

  #refusal(
    status: number | undefined,
    body: unknown,
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined },
  ): ModelFailure {
    const error = errorIn(body);
    const reason = reasonOf(status, error);
    const answered = status === undefined ? this.#provider : `${this.#provider} answered ${status}`;
    // The message of a refused key may quote a part of the key.
    const text = reason === "unauthenticated" ? "it does not accept the key" : messageIn(error);
    return new ModelFailure(reason, `${answered}: ${this.#withoutKey(text)}`, {
      ...options,
      ...(isSpent(error) && { retryable: false }),
      // Other errors of a server, and timeouts of proxies, may come after the work.
      ...(status === 503 && { isUnprocessed: true }),
    });
  }

  #withoutKey(text: string): string {
    // A short key is no secret, such as "none" for servers without keys, and may be a common word.
    return this.#apiKey.length < minKeyCharacters ? text : text.replaceAll(this.#apiKey, "[key]");
  }
}

/** Returns the error in a body. Some providers wrap it in `error`, once or twice; some send only text. */
function errorIn(body: unknown): Fields {
  if (!isFields(body)) return { message: body };
  const inner = body["error"];
  return inner === undefined || inner === null ? body : errorIn(inner);
}

/** Whether an account has no credit left. Waiting does not help then, unlike with a rate limit. Some providers say so in text only. */
function isSpent({ code, type, details, message }: Fields): boolean {
  const cause = isFields(details) ? details["error_code"] : undefined;
  const codes = [code, type, cause].filter((word) => typeof word === "string").join(" ");
  if (/insufficient_quota|billing|spend_limit/.test(codes)) return true;
  return typeof message === "string" && /credit balance is too low/i.test(message);
}

function reasonOf(status: number | undefined, error: Fields): ModelFailureReason {
  const { code, type, message } = error;
  const codes = [code, type].filter((word) => typeof word === "string").join(" ");
  if (status === 401 || status === 403) return "unauthenticated";
  if (status === 429) return "rate_limited";
  if (status === 413 || isOverflow(codes, typeof message === "string" ? message : "")) {
    return "context_overflow";
  }
  if (/content_filter|_policy|moderation/.test(codes)) return "refused";
  if (status === 402 || isSpent(error)) return "no_credit";
  if (status === 404 || /not_found/.test(codes)) return "unknown_model";
  if (isParameter(codes, error)) return "unsupported";
  if (status === undefined) return reasonOfCode(codes);
  // Conflicts and timeouts are retryable as well.
  if (status >= 500 || [408, 409, 425].includes(status)) return "unavailable";
  return status === 400 || status === 422 ? "invalid" : "unsupported";
}

/** Whether a setting of the request is refused, and not its messages. The Messages API names it only in its text. */
function isParameter(codes: string, { param, code, message }: Fields): boolean {
  const isOfMessages = typeof param === "string" && /^(messages|input)\b/.test(param);
  if (!isOfMessages && parameterCode.test(codes)) return true;
  return code === undefined && typeof message === "string" && settingMessage.test(message);
}

const settingMessage =
  /^`?(max_tokens|temperature|top_[kp]|thinking|tools|tool_choice|model|stop_sequences)\b/;

const parameterCode =
  /unsupported_(parameter|value)|unknown_parameter|missing_required_parameter|invalid_(parameter|type|value|function_parameters)\b/;

/** An error within a stream has no status, only a code. */
function reasonOfCode(codes: string): ModelFailureReason {
  if (/rate_limit/.test(codes)) return "rate_limited";
  if (/authentication|permission|invalid_api_key/.test(codes)) return "unauthenticated";
  return /invalid/.test(codes) ? "invalid" : "unavailable";
}

/** Some providers have a code for it, others only a message. */
function isOverflow(codes: string, message: string): boolean {
  return (
    /context_length_exceeded|exceed_context_size|request_(body_)?too_large/.test(codes) ||
    /maximum context length|exceeds? (the )?(available )?context|prompt is too long/i.test(message)
  );
}

function messageIn({ message }: Fields): string {
  if (typeof message !== "string" || message === "") return "it does not say why";
  return message.length > maxMessageCharacters
    ? `${message.slice(0, maxMessageCharacters)}…`
    : message;
}

/** Whether a connection failed: by an SDK's exception, or within an answer by an exception of the system. */
function isUnreachable(error: unknown, sdk: SdkErrors | undefined): boolean {
  if (sdk !== undefined && error instanceof sdk.APIConnectionError) return true;
  const isOfApi = sdk !== undefined && error instanceof sdk.APIError;
  return error instanceof Error && !isOfApi && "code" in error;
}

/** Codes of connections over which no request was sent. */
const unsentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** Returns the code of the innermost cause that has one. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const own = "code" in error && typeof error.code === "string" ? error.code : "";
  return codeOf(error.cause) || own;
}

/** Returns the message of the innermost cause; the outer ones are generic. */
function causeOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return String(innermost);
  return innermost.message === "" ? innermost.name : innermost.message;
}
