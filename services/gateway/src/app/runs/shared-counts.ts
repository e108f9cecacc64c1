import type { MessageInitShape } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { CountRunsRequest, CountRunsResponseSchema } from "@reeve/contracts/run";
import { CountRunsRequestSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import type { Clock } from "@reeve/platform/async/clock";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import { countRuns } from "./count-runs.ts";
import type { RunLists } from "./run-lists.ts";

type Counts = MessageInitShape<typeof CountRunsResponseSchema>;

interface Entry {
  readonly counts: Promise<Counts>;
  /** Infinite until the runs are counted. */
  expiresMs: number;
}

/** How old shared counts are at most: open consoles read them again every 10 seconds. */
const maxAgeMs = 5_000;
/** Each has up to 500 intervals. */
const maxEntries = 200;
const maxCountMs = 30_000;
const retryAfterMs = 1_000;

/**
 * Counts runs once for all who ask for the same within some seconds, and for few requests at a time, so that open consoles do not
 * keep the process from its other work. Tenants share nothing.
 */
export class SharedCounts {
  readonly #lists: RunLists;
  readonly #clock: Pick<Clock, "now">;
  readonly #entries = new Map<string, Entry>();
  readonly #counting = new KeyedSemaphore({ permits: 2, permitsPerKey: 1, maxWaitingPerKey: 20 });

  constructor(lists: RunLists, clock: Pick<Clock, "now">) {
    this.#lists = lists;
    this.#clock = clock;
  }

  async count(tenant: string, request: CountRunsRequest, signal: AbortSignal): Promise<Counts> {
    this.#removeExpired();
    const key = JSON.stringify([tenant, textOf(request)]);
    const entry = this.#entries.get(key) ?? this.#begin(key, tenant, request);
    return await abortable(entry.counts, signal);
  }

  #begin(key: string, tenant: string, request: CountRunsRequest): Entry {
    // Not the signal of the caller: others wait for the same counts.
    const counts = this.#counted(tenant, request, AbortSignal.timeout(maxCountMs));
    const beganMs = this.#clock.now();
    const entry: Entry = { counts, expiresMs: Number.POSITIVE_INFINITY };
    this.#entries.set(key, entry);
    void counts.then(
      () => (entry.expiresMs = beganMs + maxAgeMs),
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return entry;
  }

  async #counted(tenant: string, request: CountRunsRequest, signal: AbortSignal): Promise<Counts> {
    try {
      using permit = await this.#counting.acquire(tenant, signal);
      if (permit === undefined) throw tooMany();
      return await countRuns(this.#lists, tenant, request, signal);
    } catch (error) {
      throw signal.aborted ? tooMany() : error;
    }
  }

  #removeExpired(): void {
    const nowMs = this.#clock.now();
    for (const [key, { expiresMs }] of this.#entries) {
      if (expiresMs <= nowMs) this.#entries.delete(key);
    }
    // The oldest are first. A count that is removed while others wait for it still answers them.
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < maxEntries) return;
      this.#entries.delete(key);
    }
  }
}

function tooMany(): Failure {
  const message = "too many counts of runs are being made; try again in a second";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { retryAfterMs });
}

function textOf(request: CountRunsRequest): string {
  return Buffer.from(toBinary(CountRunsRequestSchema, request)).toString("base64");
}
