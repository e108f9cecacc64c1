import type { Clock } from "@reeve/platform/async/clock";
import type { Credentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { tokenDigest } from "@reeve/platform/rpc/credentials/bearer-tokens";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { parseTokenFile } from "./token-file.ts";
import type { WatchedPrincipals } from "./watch-principals.ts";
import { watchPrincipals } from "./watch-principals.ts";

export interface WatchedTokens extends Credentials, Pick<WatchedPrincipals, "all">, Disposable {}

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
  const options = { setting: "REEVE_TOKENS_FILE", noun: "token file", parse: parseTokenFile };
  const tokens = watchPrincipals(path, { ...options, clock, log });
  return {
    accept(token) {
      const digest = tokenDigest(token);
      const grant = () => tokens.find(digest);
      return Promise.resolve(grant() && grant);
    },
    all: () => tokens.all(),
    [Symbol.dispose]: () => tokens[Symbol.dispose](),
  };
}
