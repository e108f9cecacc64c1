import type { NatsConnection } from "@nats-io/transport-node";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { ApiError } from "../../streams/errors.ts";
import { isForbidden, storeFailure } from "../../streams/errors.ts";
import { archiveStream } from "./archive-messages.ts";

/**
 * After which time the answer is asked for again, for how long at most it is used meanwhile, and for how long if the store does not give
 * another one: a store without archives works as well while it cannot answer.
 */
const refreshMs = 5 * 60_000;
const maxAgeMs = 10 * 60_000;
const maxUnansweredMs = 30 * 60_000;
/**
 * How long the marker of a closed log stays in it. Until it is removed, no reader and no writer of the log needs the index: so all
 * processes know by then that there is one.
 */
export const markerGraceMs = 60 * 60_000;

const notFound = 404;

/** Whether a store has archives. As long as it has none, no log costs a look into their index. */
export class ArchiveUse {
  readonly #connection: NatsConnection;
  #known: { readonly isInUse: boolean; readonly atMs: number } | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** Returns whether the store has, or had a few minutes ago, an archive. */
  async isInUse(): Promise<boolean> {
    const known = this.#known;
    // Once there are archives, there are probably always some.
    if (known?.isInUse === true) return true;
    const ageMs = known === undefined ? Infinity : bootClock.now() - known.atMs;
    if (ageMs <= refreshMs) return false;
    const asking = this.isInUseNow();
    if (ageMs > maxUnansweredMs) return await asking;
    const unlessAnswered = asking.catch(() => false);
    return ageMs > maxAgeMs && (await unlessAnswered);
  }

  /** Returns whether the store has an archive now. */
  async isInUseNow(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return await this.#asking;
  }

  async #ask(): Promise<boolean> {
    const atMs = bootClock.now();
    const subject = `$JS.API.STREAM.INFO.${archiveStream}`;
    const requests = requestClientOf(this.#connection);
    const reply = await requests.send(subject, {}).catch(unlessForbidden);
    if (reply === "forbidden") {
      this.#known = { isInUse: false, atMs };
      return false;
    }
    if (reply === undefined) throw storeUnavailable();
    const { error, state } = reply.json<{
      readonly error?: ApiError;
      readonly state?: { readonly last_seq: number };
    }>();
    if (state === undefined && error?.code !== notFound) {
      throw storeFailure(error ?? new Error("the reply has no state"));
    }
    const isInUse = (state?.last_seq ?? 0) > 0;
    this.#known = { isInUse, atMs };
    return isInUse;
  }
}

/** The users of the store were written before there were archives. The archiver has the same users, so there is no archive. */
function unlessForbidden(error: unknown): "forbidden" {
  if (isForbidden(error)) return "forbidden";
  throw error;
}
