import { emptyTail } from "../../src/log/port.ts";
import type { RunLog } from "../../src/log/run-log.ts";
import { appendEvents, eventsAfter, freshRun, texts, wordsOf } from "./facts.ts";

const never = new AbortController().signal;

/** What became of races in which several writers append after the same tail at once. */
export interface RaceCounts {
  /** Races in which more than one writer was told that its batch is stored. */
  severalWinners: number;
  /** Races in which no writer was told so. */
  noWinner: number;
  /** Batches whose writer was told that they are stored, and that a reader does not see. */
  lostBatches: number;
}

/** Runs races over logs that are connected to different servers, each on a run of its own. */
export async function raceAppends(
  logs: readonly RunLog[],
  races: number,
  beforeRace: (race: number) => Promise<void> = () => Promise.resolve(),
): Promise<RaceCounts> {
  const counts: RaceCounts = { severalWinners: 0, noWinner: 0, lostBatches: 0 };
  for (let race = 0; race < races; race++) {
    const key = freshRun();
    const [first] = logs;
    if (first === undefined) throw new Error("a race needs writers");
    const created = eventsAfter(0, { case: "runCreated", value: { tenant: key.tenant } });
    const tail = await appendEvents(first, key, emptyTail, created, never);
    await beforeRace(race);
    const outcomes = await Promise.all(
      logs.map((log, writer) => log.append(key, tail, texts(tail, `writer-${writer}`), never)),
    );
    const winners = outcomes.flatMap(({ kind }, writer) => (kind === "appended" ? [writer] : []));
    if (winners.length > 1) counts.severalWinners++;
    if (winners.length === 0) counts.noWinner++;
    const seen = await Promise.all(
      logs.map((log) => log.read(key, tail, never).catch(() => undefined)),
    );
    for (const winner of winners) {
      const isSeen = seen.every(
        (range) => range !== undefined && wordsOf(range.events).includes(`2 writer-${winner}`),
      );
      if (!isSeen) counts.lostBatches++;
    }
  }
  return counts;
}
