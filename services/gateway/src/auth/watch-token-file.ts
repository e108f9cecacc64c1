import { readFileSync } from "node:fs";
import type { Clock } from "@reeve/platform/async/clock";
import { every } from "@reeve/platform/async/every";
import { Failure } from "@reeve/platform/failure";
import { ErrorReason } from "@reeve/contracts/error";
import type { Credentials } from "@reeve/platform/rpc/principal";
import { tokenDigest } from "@reeve/platform/rpc/principal";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { parseTokenFile } from "./token-file.ts";

/** How often the file is read. A revoked token works at most twice as long. */
const readMs = 1_000;

export interface WatchedTokens extends Credentials, Disposable {}

/**
 * Returns the tokens of a file, and reads it again every second, so that tokens are added and revoked without a restart, two
 * seconds after a change at the latest.
 * Throws a Failure if the file cannot be read or has a mistake. When that happens later, the tokens stay as they were, and the
 * log says what is wrong.
 */
export function watchTokenFile(
  path: string,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): WatchedTokens {
  let text = readFile(path);
  let tokens = parse(path, text);
  let before = text;
  let problem = "";
  const read = () => {
    try {
      const next = readFile(path);
      // An editor may be writing the file: a change counts once it is read twice.
      const isWhole = next === before;
      before = next;
      if (!isWhole) return;
      if (next !== text) tokens = parse(path, next);
      text = next;
      problem = "";
    } catch (error) {
      const { message } = error as Failure;
      if (message !== problem) log.error({ path, problem: message }, "the token file is not used");
      problem = message;
    }
  };
  const reading = every(readMs, read);
  return {
    accept(token) {
      const digest = tokenDigest(token);
      const grant = () => {
        const stored = tokens.get(digest);
        const isExpired = (stored?.expiresAt ?? Infinity) <= clock.now();
        return isExpired ? undefined : stored;
      };
      return Promise.resolve(grant() && grant);
    },
    [Symbol.dispose]: () => reading[Symbol.dispose](),
  };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unusable(path, error);
  }
}

function parse(path: string, text: string): ReturnType<typeof parseTokenFile> {
  try {
    return parseTokenFile(text);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): Failure {
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new Failure(
    "precondition",
    ErrorReason.INVALID_REQUEST,
    `REEVE_TOKENS_FILE ${path}: ${problem}`,
    { cause },
  );
}
