/** What a taker knows about a lane. */
export interface LaneState {
  /** How many messages wait, as the last answer of the lane said. */
  readonly pending: number;
  /** Whether a pull of the lane is open, or must not begin. */
  readonly isPulling: boolean;
  /** Whether the last answer is so old that the lane should be probed before another lane gets a slot. */
  readonly isStale: boolean;
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
 * with messages share the free slots in turn. A taker with fewer free slots than lanes first probes the other lanes: those whose
 * last answer is old, and one of them before each turn. It therefore finds each new message soon, and within as
 * many messages as there are lanes.
 */
export class LaneTurns {
  /** The lane whose turn it is, of those with messages, and of the others. */
  #serve = 0;
  #probe = 0;
  /** How many lanes it has probed since the last turn. */
  #probed = 0;

  next(lanes: readonly LaneState[], { available, expected, waiting }: Slots): readonly LanePull[] {
    if (available <= expected) return [];
    // A pull that waits rarely brings a message: it must not keep the last slot from a lane that has some.
    const free = Math.max(1, available - expected - waiting);
    const ready = [...lanes.keys()].filter((lane) => lanes[lane]?.isPulling === false);
    const pendingOf = (lane: number) => lanes[lane]?.pending ?? 0;
    const quiet = ready.filter((lane) => pendingOf(lane) === 0);
    const busy = ready.filter((lane) => pendingOf(lane) > 0);
    // A lane with messages whose pull gets no answer must not keep the free slots from the others.
    if (busy.length === 0 || free >= quiet.length + busy.length) {
      this.#probed = 0;
      const shares = this.#shares(busy, free - quiet.length, pendingOf);
      return [...quiet.map((lane) => ({ lane, batch: 1, waits: true })), ...shares];
    }
    const probes = this.#probes(quiet, (lane) => lanes[lane]?.isStale === true).slice(0, free);
    this.#probed += probes.length;
    this.#probe = (probes.at(-1) ?? this.#probe - 1) + 1;
    const shares = this.#shares(busy, free - probes.length, pendingOf);
    return [...probes.map((lane) => ({ lane, batch: 1, waits: false })), ...shares];
  }

  #probes(quiet: readonly number[], isStale: (lane: number) => boolean): readonly number[] {
    // Answers may take so long that the first one is old before the last one arrives: each turn probes a lane once.
    const left = Math.max(quiet.length - this.#probed, 0);
    const stale = startingAt(quiet.filter(isStale), this.#probe).slice(0, left);
    const next = this.#probed === 0 ? startingAt(quiet, this.#probe).slice(0, 1) : [];
    return stale.length > 0 ? stale : next;
  }

  #shares(
    busy: readonly number[],
    free: number,
    pendingOf: (lane: number) => number,
  ): readonly LanePull[] {
    if (busy.length === 0 || free <= 0) return [];
    this.#probed = 0;
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
