import type { Clock } from "@reeve/platform/async/clock";

/** How long a full store is left alone, unless it has become smaller by the size of the reserve. */
const retryMs = 60_000;

/** What a look at the reserve shows. */
export interface ReserveLook {
  readonly isWhole: boolean;
  readonly isEmpty: boolean;
  /** The sequence of the last content that anybody wrote, even if it was removed since. */
  readonly lastSequence: number;
}

/** When the reserve could not be filled for long, and what else was stored then. */
interface FailedFill {
  readonly atMs: number;
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
      return false;
    }
    const sinceMs = this.#wholeSinceMs;
    this.#wholeSinceMs = undefined;
    // Another process fills it now, perhaps to another size.
    if (!isEmpty) return false;
    // Without a look that showed it whole, another process filled it.
    return sinceMs === undefined ? isWritten : nowMs - sinceMs < retryMs;
  }

  /** Notes that this process filled the reserve, up to a sequence. */
  noteFill(lastSequence: number | undefined): void {
    this.noteLook({ isWhole: true, isEmpty: false, lastSequence: lastSequence ?? 0 });
  }

  /** Notes that the reserve was freed early, or that this process could not fill it, up to a sequence. */
  async noteFailure(lastSequence = this.#lastSequence): Promise<void> {
    this.#lastSequence = lastSequence;
    const { clock, storedBytes } = this.#options;
    const atMs = clock.now();
    this.#failed = { atMs, storedBytes: await storedBytes() };
  }

  /** Whether an attempt to fill the reserve may succeed for long. */
  async mayFill(): Promise<boolean> {
    const { bytes, clock, storedBytes } = this.#options;
    const failed = this.#failed;
    if (failed === undefined || clock.now() - failed.atMs >= retryMs) return true;
    return (await storedBytes()) + bytes <= failed.storedBytes;
  }
}
