import type { PushReceiver } from "@reeve/contracts/a2a";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { AddressGuard, privateRanges } from "@reeve/sandbox/network/address-guard";
import { Agent, fetch } from "undici";

/** How an attempt to deliver a notification ended. A receiver that refuses it gets it no more. */
type PushAttempt =
  | { readonly kind: "delivered" }
  | { readonly kind: "refused" | "unavailable"; readonly problem: string };

/** Posts notifications to the URLs that the operator permits. */
export interface PushTarget extends AsyncDisposable {
  /** Throws a Failure of kind `invalid` if notifications are not sent to a URL. */
  assertPermitted(url: string): void;
  /** Posts JSON. Redirects are not followed. Throws only the reason of `signal`. */
  post(receiver: PushReceiver, body: string, signal: AbortSignal): Promise<PushAttempt>;
}

export interface PushTargetOptions {
  /** What the permitted URLs begin with. */
  readonly prefixes: readonly string[];
  /** Addresses and ranges of private networks that are permitted. */
  readonly allowedAddresses: readonly string[];
}

const timeoutMs = 10_000;
const isTemporary = (status: number) => status === 408 || status === 429 || status >= 500;

export function openPushTarget({ prefixes, allowedAddresses }: PushTargetOptions): PushTarget {
  const guard = new AddressGuard(allowedAddresses, privateRanges);
  const agent = new Agent({
    connect: { lookup: guard.lookup, timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const isPermitted = (text: string) =>
    URL.canParse(text) && prefixes.some((prefix) => isBelow(prefix, new URL(text)));
  return {
    assertPermitted(url) {
      if (!isPermitted(url)) throw notPermitted(url);
      guard.assertUrl(new URL(url));
    },
    async post(receiver, body, signal) {
      try {
        // The settings may have changed since the configuration was stored.
        if (!isPermitted(receiver.url)) return { kind: "refused", problem: notPermittedNow };
        guard.assertUrl(new URL(receiver.url));
        const response = await fetch(receiver.url, {
          method: "POST",
          headers: headersOf(receiver),
          body,
          redirect: "manual",
          dispatcher: agent,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        // Whatever it says is not needed, and may be endless.
        await response.body?.cancel().catch(() => undefined);
        const { status } = response;
        if (status >= 200 && status < 300) return { kind: "delivered" };
        const kind = isTemporary(status) ? "unavailable" : "refused";
        return { kind, problem: `the receiver answered with status ${status}` };
      } catch (error) {
        signal.throwIfAborted();
        // An address that is not permitted.
        const kind = failureIn(error) === undefined ? "unavailable" : "refused";
        return { kind, problem: problemOf(error) };
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/** Returns the headers of a notification. Throws a Failure of kind `invalid` if a header cannot have the texts of the receiver. */
export function headersOf({
  token,
  scheme,
  credentials,
}: Pick<PushReceiver, "token" | "scheme" | "credentials">): Record<string, string> {
  const headers = {
    "content-type": "application/a2a+json",
    "user-agent": "Reeve",
    "a2a-version": "1.0",
    ...(token !== "" && { "x-a2a-notification-token": token }),
    ...(scheme !== "" && { authorization: `${scheme} ${credentials}`.trim() }),
  };
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    const message =
      "token and authentication of a push notification configuration must fit into HTTP headers; use printable ASCII without line breaks";
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
  }
}

function isBelow(prefix: string, { href, username, password, pathname }: URL): boolean {
  if (username !== "" || password !== "" || /%2f|%5c/i.test(pathname)) return false;
  const base = new URL(prefix).href;
  return href === base || href.startsWith(base.endsWith("/") ? base : `${base}/`);
}

/** Without the URL, which may be a secret: it is for the log. */
const notPermittedNow = "REEVE_A2A_PUSH permits its URL no longer";

function notPermitted(url: string): Failure {
  const message = `push notifications are not sent to ${url.slice(0, 200)}; ask the operator to permit its address with REEVE_A2A_PUSH`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}

/** Errors of the client may contain the URL, which may be a secret. */
function problemOf(error: unknown): string {
  const failure = failureIn(error);
  if (failure !== undefined) return failure.message;
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return `the receiver did not answer within ${timeoutMs / 1_000} seconds`;
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  return `the receiver cannot be reached: ${code}`;
}

function failureIn(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Failure ? cause : undefined;
}
