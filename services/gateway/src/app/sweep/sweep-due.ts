import type { Agenda, AgendaEntry } from "@reeve/jetstream/local-index/agenda";
import type { Clock } from "@reeve/platform/async/clock";

/** Entries that one round sweeps; the others stay due. */
const maxInRound = 1_000;
/** Entries of a round that are reserved for the last changed ones, so that a backlog does not delay them. */
const maxFresh = 500;
/** Entries that are swept at a time. */
const concurrency = 8;

/** The part of an agenda that a gateway sweeps. */
export interface SweptAgenda {
  /** The index that has the agenda while it is open. */
  readonly lists: { readonly agenda: Pick<Agenda, "due"> | undefined };
  /** The shards of this gateway. */
  readonly shards: { readonly owned: readonly number[] };
  /** Interval between rounds. */
  readonly roundMs: number;
}

/** Sweeps the due entries of an agenda, round by round, until `signal` aborts. `sweep` decides when an entry is due again. */
export async function sweepDue(
  swept: SweptAgenda,
  clock: Pick<Clock, "sleep">,
  sweep: (entry: AgendaEntry) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(swept.roundMs, signal);
    const due = dueEntries(swept)[Symbol.iterator]();
    const sweepNext = async () => {
      for (let next = due.next(); next.done !== true; next = due.next()) await sweep(next.value);
    };
    await Promise.all(Array.from({ length: concurrency }, sweepNext));
  }
}

/** Returns the entries of a round: those of the last changed records, and those that have been due for longest. */
function dueEntries({ lists, shards }: SweptAgenda): readonly AgendaEntry[] {
  const { agenda } = lists;
  if (agenda === undefined) return [];
  const fresh = agenda.due(shards.owned, "last", maxFresh);
  const known = new Set(fresh.map(({ key }) => key));
  const longest = agenda.due(shards.owned, "first", maxInRound);
  const others = longest.filter(({ key }) => !known.has(key));
  return [...fresh, ...others].slice(0, maxInRound);
}
