import type { RunEvent, WatchRunRequest } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { Stretch } from "@reeve/log/log";
import type { RunLog } from "@reeve/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { endsRun, eventSelection } from "./event-selection.ts";
import { readRun, runKeyOf } from "./read-run.ts";

/** What a client gets at a time. */
export interface Watched {
  readonly events: readonly RunEvent[];
  /** Nothing that was asked for is missing up to this sequence. */
  readonly throughSequence: number;
}

export interface WatchPorts {
  readonly log: RunLog;
  /** A tick that comes again and again, for heartbeats. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** How long a stream is silent before it says that it lives. */
const heartbeatMs = 5_000;

/**
 * The events of a run after a sequence, each once and in order, until its terminal status; then nothing. An empty message
 * now and then says that nothing is missing.
 */
export async function* watchRun(
  { log, sleep }: WatchPorts,
  tenant: string,
  { runId, afterSequence, selection }: WatchRunRequest,
  signal: AbortSignal,
): AsyncIterable<Watched> {
  const key = runKeyOf(tenant, runId);
  const { lastSequence, endSequence } = await readRun(log, key, signal);
  if (afterSequence > lastSequence) throw beyondEnd(runId, afterSequence, lastSequence);
  if (endSequence !== undefined && afterSequence >= endSequence) {
    yield { events: [], throughSequence: afterSequence };
    return;
  }
  const isWanted = eventSelection(selection);
  const end = new AbortController();
  const bounded = AbortSignal.any([signal, end.signal]);
  const stretches = log.follow(key, afterSequence, bounded)[Symbol.asyncIterator]();
  let throughSequence = afterSequence;
  try {
    let next = stretches.next();
    for (;;) {
      const stretch = await nextOrTick(next, (ticking) => sleep(heartbeatMs, ticking), signal);
      if (stretch === "tick") {
        yield { events: [], throughSequence };
        continue;
      }
      if (stretch.done === true) return;
      const { events, tail } = stretch.value;
      const last = events.findIndex(endsRun);
      const shown = last < 0 ? events : events.slice(0, last + 1);
      throughSequence = last < 0 ? tail.sequence : (shown.at(-1)?.sequence ?? tail.sequence);
      const wanted = shown.filter(isWanted);
      if (wanted.length > 0 || last >= 0) yield { events: wanted, throughSequence };
      if (last >= 0) return;
      next = stretches.next();
    }
  } finally {
    end.abort(new DOMException("nobody watches any more", "AbortError"));
    await stretches.return?.().catch(() => undefined);
  }
}

async function nextOrTick(
  next: Promise<IteratorResult<Stretch<RunEvent>>>,
  tick: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<IteratorResult<Stretch<RunEvent>> | "tick"> {
  const ticking = new AbortController();
  const ticked = tick(AbortSignal.any([signal, ticking.signal])).then(() => "tick" as const);
  try {
    return await Promise.race([next, ticked]);
  } finally {
    ticking.abort();
    ticked.catch(() => undefined);
  }
}

function beyondEnd(runId: string, afterSequence: number, lastSequence: number): Failure {
  return new Failure(
    "out_of_range",
    ErrorReason.SEQUENCE_BEYOND_END,
    `run ${runId} has ${lastSequence} events; there is none after ${afterSequence}`,
    { metadata: { run_id: runId, last_sequence: String(lastSequence) } },
  );
}
