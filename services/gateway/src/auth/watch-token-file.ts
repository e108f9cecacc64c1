import type { Clock } from "@reeve/platform/async/clock";
import { watchFile } from "@reeve/platform/process/watch-file";
import type { Credentials } from "@reeve/platform/rpc/principal";
import { tokenDigest } from "@reeve/platform/rpc/principal";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { parseTokenFile } from "./token-file.ts";

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
  const file = watchFile(path, {
    setting: "REEVE_TOKENS_FILE",
    noun: "token file",
    parse: parseTokenFile,
    log,
  });
  return {
    accept(token) {
      const digest = tokenDigest(token);
      const grant = () => {
        const stored = file.current.get(digest);
        const isExpired = (stored?.expiresAt ?? Infinity) <= clock.now();
        return isExpired ? undefined : stored;
      };
      return Promise.resolve(grant() && grant);
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}
