import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { urlOf } from "../settings/read-settings.ts";
import type { HttpReceiver } from "../settings/receiver-schema.ts";
import type { ReadSecret } from "../settings/secret-text.ts";
import { slackMessage } from "../formats/slack.ts";
import { standardMessage } from "../formats/standard.ts";
import { teamsMessage } from "../formats/teams.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { Attempt, Sender } from "./sender.ts";
import { signMessage } from "./sign-message.ts";

export interface SenderOptions {
  readonly publicUrl: string;
  readonly timeoutMs: number;
  readonly readSecret: ReadSecret;
  /** Milliseconds since the epoch. */
  readonly clock: Pick<Clock, "now">;
}

const messages = { standard: standardMessage, slack: slackMessage, teams: teamsMessage } as const;
/** A request that may succeed later without changes. */
const isTemporary = (status: number) => status === 408 || status === 429 || status >= 500;

/**
 * Returns what posts notifications to a URL as JSON. Each request has the id of its notification and is signed anew, because
 * receivers refuse signatures that are minutes old. Redirects are not followed: they could lead the message to another receiver.
 */
export function httpSender(receiver: HttpReceiver, options: SenderOptions): Sender {
  const { publicUrl, timeoutMs, clock } = options;
  return {
    async send(notification, signal): Promise<Attempt> {
      const body = JSON.stringify(messages[receiver.format](notification, publicUrl));
      try {
        const url = await urlOf(receiver, options.readSecret);
        const response = await fetch(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "user-agent": "Reeve",
            ...(receiver.format === "standard" &&
              (await signMessage(receiver, notification, body, options))),
          },
          body,
          redirect: "manual",
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        // Whatever it says is not needed, and may be endless.
        await response.body?.cancel().catch(() => undefined);
        const { status, headers } = response;
        if (status >= 200 && status < 300) return { kind: "delivered" };
        return {
          kind: isTemporary(status) ? "unavailable" : "refused",
          problem: `the receiver answered with status ${status}`,
          retryAfterMs: retryAfterMs(headers.get("retry-after"), clock.now()),
        };
      } catch (error) {
        signal.throwIfAborted();
        return { kind: "unavailable", problem: problemOf(error, timeoutMs) };
      }
    },
  };
}

/** Errors of the client may contain the URL, which may be a secret. Only their codes are passed on. */
function problemOf(error: unknown, timeoutMs: number): string {
  if (error instanceof Failure) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return `the receiver did not answer within ${timeoutMs / 1_000} seconds`;
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  return `the receiver cannot be reached: ${code}`;
}
