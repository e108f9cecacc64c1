import type { Clock } from "@reeve/platform/async/clock";
import { delayAfter } from "@reeve/platform/async/retry/backoff";

/** A reserve that is freed sooner than this after it was filled counts as a failed attempt. */
const earlyMs = 60_000;
/** How long a full store is left alone after failed attempts in a row, unless it has become smaller by the size of the reserve. */
const retries = { firstDelayMs: 10_000, maxDelayMs: 60_000 };

/** What a look at the reserve shows. */
export interface ReserveLook {
  readonly isWhole: boolean;
  readonly isEmpty: boolean;
  /** The sequence of the last content that anybody wrote, even if it was removed since. */
  readonly lastSequence: number;
}

/** Until when the store is left alone, and what else was stored when the reserve could not be filled for long. */
interface FailedFill {
  readonly untilMs: number;
  readonly storedBytes: number;
}

export interface FillBackoffOptions {
  /** Size of the reserve. */
  readonly bytes: number;
  /** Monotonic. */
  readonly clock: Pick<Clock, "now">;
  /** Returns what is stored while the reserve is empty. */
  readonly storedBytes: () => Promise<number>;
}

/**
 * Decides when the reserve may be filled: each attempt writes all of it to the disks. An attempt has failed if the store had no
 * room for it, and also if the reserve, filled by any service, was freed within a minute: rows that are rewritten need no room in the
 * end, and would free the reserve of a full store after each attempt.
 */
export class FillBackoff {
  readonly #options: FillBackoffOptions;
  #failed: FailedFill | undefined;
  #failuresInRow = 0;
  #wholeSinceMs: number | undefined;
  #lastSequence: number | undefined;

  constructor(options: FillBackoffOptions) {
    this.#options = options;
  }

  /** Notes what a look shows. Returns whether the reserve was freed so early that `noteFailure` is due. */
  noteLook({ isWhole, isEmpty, lastSequence }: ReserveLook): boolean {
    const nowMs = this.#options.clock.now();
    const isWritten = this.#lastSequence !== undefined && lastSequence !== this.#lastSequence;
    this.#lastSequence = lastSequence;
    if (isWhole) {
      this.#wholeSinceMs ??= nowMs;
      this.#failed = undefined;
      if (nowMs - this.#wholeSinceMs >= earlyMs) this.#failuresInRow = 0;
      return false;
    }
    const sinceMs = this.#wholeSinceMs;
    this.#wholeSinceMs = undefined;
    // Another process fills it now, perhaps to another size.
    if (!isEmpty) return false;
    // Without a look that showed it whole, another process filled it.
    return sinceMs === undefined ? isWritten : nowMs - sinceMs < earlyMs;
  }

  /** Notes that this process filled the reserve, up to a sequence. */
  noteFill(lastSequence: number | undefined): void {
    this.noteLook({ isWhole: true, isEmpty: false, lastSequence: lastSequence ?? 0 });
  }

  /** Notes that the reserve was freed early, or that this process could not fill it, up to a sequence. */
  async noteFailure(lastSequence = this.#lastSequence): Promise<void> {
    this.#lastSequence = lastSequence;
    const { clock, storedBytes } = this.#options;
    this.#failuresInRow++;
    const untilMs = clock.now() + delayAfter(this.#failuresInRow, retries);
    this.#failed = { untilMs, storedBytes: await storedBytes() };
  }

  /** Whether an attempt to fill the reserve may succeed for long. */
  async mayFill(): Promise<boolean> {
    const { bytes, clock, storedBytes } = this.#options;
    const failed = this.#failed;
    if (failed === undefined || clock.now() >= failed.untilMs) return true;
    return (await storedBytes()) + bytes <= failed.storedBytes;
  }
}
