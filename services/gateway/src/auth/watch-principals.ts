import type { Clock } from "@reeve/platform/async/clock";
import type { WatchFileOptions } from "@reeve/platform/process/watch-file";
import { watchFile } from "@reeve/platform/process/watch-file";
import type { Credential } from "@reeve/platform/rpc/principal";
import type { StoredPrincipal } from "./principal-lines.ts";

/** The principals of a file that is read again when it changes. */
export interface WatchedPrincipals extends Disposable {
  /** Returns the principal with a key at this moment. Undefined if there is none, or its time is over. */
  find(key: string): Credential | undefined;
  /** Returns all principals by key, also those whose time is over. */
  all(): ReadonlyMap<string, StoredPrincipal>;
}

export interface WatchPrincipalsOptions extends WatchFileOptions<
  ReadonlyMap<string, StoredPrincipal>
> {
  /** Wall-clock time. */
  readonly clock: Clock;
}

/**
 * Returns the principals of a file, and reads it again every second, so that they are added and revoked without a restart, two
 * seconds after a change at the latest. Throws a Failure if the file cannot be read or has a mistake. When that happens later,
 * the principals stay as they were, and the log says what is wrong.
 */
export function watchPrincipals(
  path: string,
  { clock, ...options }: WatchPrincipalsOptions,
): WatchedPrincipals {
  const watched = watchFile(path, options);
  return {
    find(key) {
      const stored = watched.current.get(key);
      return (stored?.expiresAt ?? Infinity) <= clock.now() ? undefined : stored;
    },
    all: () => watched.current,
    [Symbol.dispose]: () => watched[Symbol.dispose](),
  };
}
