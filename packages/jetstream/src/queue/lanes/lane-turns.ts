/** What a taker knows about a lane. */
export interface LaneState {
  /** How many messages wait, as the last answer of the lane said. */
  readonly pending: number;
  /** Whether a pull of the lane is open, or must not begin. */
  readonly isPulling: boolean;
}

/** The slots of a taker, and those that open pulls may fill. */
export interface Slots {
  readonly available: number;
  /** Max number of messages of open pulls that do not wait. */
  readonly expected: number;
  /** Max number of messages of open pulls that wait. */
  readonly waiting: number;
}

/** A pull to begin. */
export interface LanePull {
  readonly lane: number;
  readonly batch: number;
  /** Whether the pull waits for messages when the lane is empty. */
  readonly waits: boolean;
}

/**
 * Decides which lanes a taker pulls from. While no lane is known to have messages, it waits on all of them. Otherwise the lanes
 * with messages share the free slots in turn. A taker with fewer free slots than lanes looks at one of the others before each
 * turn, so that it finds each new message within as many messages as there are lanes.
 */
export class LaneTurns {
  /** The lane whose turn it is, of those with messages, and of the others. */
  #serve = 0;
  #probe = 0;
  #hasProbed = false;

  next(lanes: readonly LaneState[], { available, expected, waiting }: Slots): readonly LanePull[] {
    if (available <= expected) return [];
    // A pull that waits rarely brings a message: it must not keep the last slot from a lane that has some.
    const free = Math.max(1, available - expected - waiting);
    const ready = [...lanes.keys()].filter((lane) => lanes[lane]?.isPulling === false);
    const pendingOf = (lane: number) => lanes[lane]?.pending ?? 0;
    const quiet = ready.filter((lane) => pendingOf(lane) === 0);
    const busy = ready.filter((lane) => pendingOf(lane) > 0);
    const isBusy = lanes.some(({ pending }) => pending > 0);
    if (!isBusy || free >= quiet.length + busy.length) {
      this.#hasProbed = false;
      const shares = this.#shares(busy, free - quiet.length, pendingOf);
      return [...quiet.map((lane) => ({ lane, batch: 1, waits: true })), ...shares];
    }
    const probe = this.#hasProbed ? undefined : startingAt(quiet, this.#probe)[0];
    if (probe === undefined) return this.#shares(busy, free, pendingOf);
    this.#hasProbed = true;
    this.#probe = probe + 1;
    const shares = this.#shares(busy, free - 1, pendingOf);
    return [{ lane: probe, batch: 1, waits: false }, ...shares];
  }

  #shares(
    busy: readonly number[],
    free: number,
    pendingOf: (lane: number) => number,
  ): readonly LanePull[] {
    if (busy.length === 0 || free <= 0) return [];
    this.#hasProbed = false;
    const turns = startingAt(busy, this.#serve);
    const extra = free % turns.length;
    const share = (free - extra) / turns.length;
    this.#serve = turns[extra] ?? 0;
    return turns
      .map((lane, turn) => ({
        lane,
        batch: Math.min(share + (turn < extra ? 1 : 0), pendingOf(lane)),
        waits: false,
      }))
      .filter(({ batch }) => batch > 0);
  }
}

/** Returns sorted lanes in the order of a round that begins at `first`. */
function startingAt(lanes: readonly number[], first: number): readonly number[] {
  const index = Math.max(
    lanes.findIndex((lane) => lane >= first),
    0,
  );
  return [...lanes.slice(index), ...lanes.slice(0, index)];
}
