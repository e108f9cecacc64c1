import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent, RunStatus, WatchRunRequest } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { EventRange, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey, RunLog, RunTailReader } from "@reeve/jetstream/log/run-log";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { endsRun, eventSelection, isRecord } from "./event-selection.ts";
import { runNotFound, runKeyOf } from "./read-run.ts";
import { assertSameHistory, resumeTokenAt } from "./resume-token.ts";

/** A message of a watch. */
export interface WatchUpdate {
  readonly events: readonly RunEvent[];
  /** The client has all selected events up to this sequence. */
  readonly throughSequence: number;
  /** Names the history that the client has. */
  readonly resumeToken: string;
  /** The final status of the run, in the last message only. */
  readonly endStatus?: RunStatus;
}

/** Events of a run, with the tails of their batches instead of a token. */
type WatchPart = Omit<WatchUpdate, "resumeToken"> & Pick<EventRange<RunEvent>, "batchTails">;

export interface WatchPorts {
  readonly log: RunLog;
  readonly logEnds: RunTailReader;
  /** For the interval between heartbeats. */
  sleep: Clock["sleep"];
}

/** The time without a message after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;
/** The maximum total size of a message's events. gRPC clients accept 4 MiB by default. */
const maxBytes = 1024 * 1024;
/** The maximum number of past events that are kept in memory for a client. */
const maxHeldEvents = 200;

/**
 * Yields the selected events of a run after a sequence, each once and in order, up to the terminal status. An empty message is
 * a heartbeat: it says that nothing is missing up to its `throughSequence`. Throws a Failure of kind `not_found` if the run
 * does not exist or is deleted meanwhile, `out_of_range` for a sequence beyond the end of the log, and `data_loss` when the client has seen events that
 * are not stored.
 */
export async function* watchRun(
  ports: WatchPorts,
  tenant: string,
  request: WatchRunRequest,
  signal: AbortSignal,
): AsyncIterable<WatchUpdate> {
  const { log, sleep } = ports;
  const { runId, afterSequence, selection } = request;
  const key = runKeyOf(tenant, runId);
  const { lastSequence, end: ended, ...read } = await readStart(ports, key, request, signal);
  let { resumeToken } = read;
  if (afterSequence > lastSequence) throw beyondEnd(runId, afterSequence, lastSequence);
  if (ended !== undefined && afterSequence >= ended.sequence) {
    yield { events: [], throughSequence: afterSequence, resumeToken, endStatus: ended.status };
    return;
  }
  const isSelected = eventSelection(selection);
  // A client knows at once that it watches, and not only when the run does something.
  if (ended === undefined && !read.missed.some(isSelected)) {
    yield { events: [], throughSequence: afterSequence, resumeToken };
  }
  let throughSequence = afterSequence;
  // Heartbeats depend on what the client receives, so events that it did not select must not count as messages.
  async function* selected(until: AbortSignal): AsyncIterable<WatchPart> {
    for await (const { events, tail, batchTails } of following(read, log, key, until)) {
      const end = events.find(endsRun);
      const visible = end === undefined ? events : events.slice(0, events.indexOf(end) + 1);
      const chosen = visible.filter(isSelected);
      if (end?.event.case === "status") {
        yield {
          events: chosen,
          throughSequence: end.sequence,
          endStatus: end.event.value.status,
          batchTails,
        };
      } else if (chosen.length === 0) {
        throughSequence = tail.sequence;
        resumeToken = resumeTokenAt(throughSequence, batchTails);
      } else yield { events: chosen, throughSequence: tail.sequence, batchTails };
    }
  }
  for await (const next of withHeartbeats(selected, (until) => sleep(heartbeatMs, until), signal)) {
    if (next === "heartbeat") {
      yield { events: [], throughSequence, resumeToken };
      continue;
    }
    for (const { batchTails: tails, ...part } of splitBySize(next)) {
      ({ throughSequence } = part);
      resumeToken = resumeTokenAt(throughSequence, tails);
      yield { ...part, resumeToken };
    }
    if (next.endStatus !== undefined) return;
  }
  // The log ended before its terminal status: the run was deleted.
  throw runNotFound(runId);
}

/** The start of a watch: the past events that the client missed, and the tail or sequence after which to follow the log. */
interface WatchStart {
  missed: readonly RunEvent[];
  missedBatches: readonly Tail[];
  readonly after: Tail | number;
  readonly resumeToken: string;
  readonly lastSequence: number;
  /** The terminal status. Undefined: the run has not ended. */
  readonly end: { readonly sequence: number; readonly status: RunStatus } | undefined;
}

/** Reads where to start for a client that has seen the events up to `after_sequence`. */
async function readStart(
  { log, logEnds }: Pick<WatchPorts, "log" | "logEnds">,
  key: RunKey,
  request: WatchRunRequest,
  signal: AbortSignal,
): Promise<WatchStart> {
  const { afterSequence } = request;
  const last = afterSequence === 0 ? undefined : await logEnds.last(key, signal);
  const { events, tail, batchTails } =
    last !== undefined && isEnough(last, request) ? last : await log.read(key, emptyTail, signal);
  if (events.length === 0) throw runNotFound(key.run);
  assertSameHistory(key.run, request, batchTails);
  const known = {
    ...endOf(events, tail),
    resumeToken: resumeTokenAt(afterSequence, batchTails),
  };
  const missed = events.filter(({ sequence }) => sequence > afterSequence);
  // Many events are read again, in parts, instead of being held in memory for a client that may be slow.
  if (missed.length > maxHeldEvents) {
    return { ...known, missed: [], missedBatches: [], after: afterSequence };
  }
  const missedBatches = batchTails.filter(({ sequence }) => sequence > afterSequence);
  return { ...known, missed, missedBatches, after: tail };
}

/**
 * Whether the last batch alone says where to start: the client has all events before it, and if the run had ended before, it
 * would contain nothing but records.
 */
function isEnough(
  { events, tail }: EventRange<RunEvent>,
  { afterSequence }: WatchRunRequest,
): boolean {
  return afterSequence > tail.sequence - events.length && !events.every((event) => isRecord(event));
}

function endOf(
  events: readonly RunEvent[],
  { sequence: lastSequence }: Tail,
): Pick<WatchStart, "lastSequence" | "end"> {
  const end = events.find(endsRun);
  if (end?.event.case !== "status") return { lastSequence, end: undefined };
  return { lastSequence, end: { sequence: end.sequence, status: end.event.value.status } };
}

async function* following(
  read: Omit<WatchStart, "lastSequence" | "end">,
  log: RunLog,
  key: RunKey,
  signal: AbortSignal,
): AsyncIterable<EventRange<RunEvent>> {
  const { after } = read;
  if (typeof after === "object" && read.missed.length > 0) {
    yield { events: read.missed, tail: after, batchTails: read.missedBatches };
    read.missed = [];
    read.missedBatches = [];
  }
  yield* log.follow(key, after, signal);
}

/**
 * Splits an update into messages that every client accepts. A message over a client's limit would end its stream, and end it
 * again each time the client resumes.
 */
function* splitBySize({ events, ...rest }: WatchPart): Iterable<WatchPart> {
  let portion: RunEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = events.length === 1 ? 0 : toBinary(RunEventSchema, event).length;
    if (portion.length > 0 && bytes + size > maxBytes) {
      yield { events: portion, throughSequence: event.sequence - 1, batchTails: rest.batchTails };
      portion = [];
      bytes = 0;
    }
    portion.push(event);
    bytes += size;
  }
  yield { events: portion, ...rest };
}

function beyondEnd(runId: string, afterSequence: number, lastSequence: number): Failure {
  return new Failure(
    "out_of_range",
    ErrorReason.SEQUENCE_BEYOND_END,
    `run ${runId} has only ${lastSequence} events; start after one of them, not after ${afterSequence}`,
    { metadata: { run_id: runId, last_sequence: String(lastSequence) } },
  );
}
