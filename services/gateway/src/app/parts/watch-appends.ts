import { ErrorReason } from "@reeve/contracts/error";
import type { Log } from "@reeve/jetstream/log/port";
import { listenTo } from "@reeve/jetstream/log/listen-to";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";

/** The reasons with which a log says that it has not stored a batch. After any other failure it may have. */
const ofStore: ReadonlySet<ErrorReason> = new Set([
  ErrorReason.STORAGE_FULL,
  ErrorReason.TOO_LARGE,
]);

/** Finds out whether a command whose store is full has appended anything. */
export class AppendWatch {
  #mayHaveStored = false;
  readonly #refused = new Set<unknown>();

  /** Whether an error is that of an append, and nothing was appended before it either. */
  isRefused(error: unknown): boolean {
    return this.#refused.has(error);
  }

  /** Wraps a log of the command. */
  log<Key, Event>(log: Log<Key, Event>): Log<Key, Event> {
    return {
      append: async (...given) => {
        try {
          const outcome = await log.append(...given);
          if (outcome.kind === "appended") this.#mayHaveStored = true;
          return outcome;
        } catch (error) {
          if (!(error instanceof Failure) || !ofStore.has(error.reason)) this.#mayHaveStored = true;
          else if (!this.#mayHaveStored) this.#refused.add(error);
          throw error;
        }
      },
      read: (...given) => log.read(...given),
      follow: (...given) => log.follow(...given),
      listen: (key) => listenTo(log, key),
    };
  }

  /** Wraps the logs of threads of the command. */
  threads(threads: ThreadLog): ThreadLog {
    return {
      ...this.log(threads),
      last: (...given) => threads.last(...given),
      readPart: (...given) => threads.readPart(...given),
    };
  }
}
