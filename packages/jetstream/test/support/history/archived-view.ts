import type { RunEvent } from "@reeve/contracts/run";
import type { LogArchiver } from "../../../src/log/archive/port.ts";
import type { openRunLog } from "../../../src/log/open.ts";
import type { EventRange, Tail } from "../../../src/log/port.ts";
import { emptyTail } from "../../../src/log/port.ts";
import type { RunKey } from "../../../src/log/run-log.ts";

type OpenLog = Awaited<ReturnType<typeof openRunLog>>;
/** What a log offers to the contracts of logs. */
type ViewedLog = Pick<OpenLog, "append" | "read" | "last" | "readPart" | "readBatches" | "follow">;

/**
 * Returns a log that archives each log after the given number of appends. An archive changes the revision of the tail, which means nothing to
 * callers, but the contracts compare it: here the revision of each tail is its sequence.
 */
export function archivedView(
  log: OpenLog,
  archiver: LogArchiver<RunKey>,
  appends: number,
): ViewedLog {
  const counts = new Map<string, number>();
  /** Returns the stored tail for one that was shown; one that is not the end is as good as a sequence. */
  const storedTail = async (key: RunKey, tail: Tail, signal: AbortSignal): Promise<Tail> => {
    if (tail.sequence === 0) return emptyTail;
    const range = await log.read(key, emptyTail, signal);
    const found = range.batchTails.find(({ sequence }) => sequence === tail.sequence);
    return { ...(found ?? { ...emptyTail, sequence: tail.sequence }), digest: tail.digest };
  };
  return {
    async append(key, tail, events, signal) {
      const outcome = await log.append(key, await storedTail(key, tail, signal), events, signal);
      if (outcome.kind === "conflict") return outcome;
      const name = `${key.tenant}.${key.run}`;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      if (count === appends) await archiver.archive(key, signal);
      return { ...outcome, tail: shown(outcome.tail) };
    },
    async read(key, tail, signal) {
      return shownRange(await log.read(key, await storedTail(key, tail, signal), signal));
    },
    async last(key, signal) {
      return shownRange(await log.last(key, signal));
    },
    async readPart(key, tail, maxBytes, signal) {
      const after = await storedTail(key, tail, signal);
      return shownRange(await log.readPart(key, after, maxBytes, signal));
    },
    async *readBatches(key, signal) {
      for await (const batch of log.readBatches(key, signal)) {
        yield { ...batch, revision: batch.last };
      }
    },
    async *follow(key, after, signal) {
      const from = typeof after === "number" ? after : await storedTail(key, after, signal);
      for await (const range of log.follow(key, from, signal)) yield shownRange(range);
    },
  };
}

function shown(tail: Tail): Tail {
  return { ...tail, revision: tail.sequence };
}

function shownRange<Range extends EventRange<RunEvent>>(range: Range): Range {
  return { ...range, tail: shown(range.tail), batchTails: range.batchTails.map(shown) };
}
