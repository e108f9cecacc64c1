import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent, RunStatus, WatchRunRequest } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import { listenTo } from "@reeve/jetstream/log/listen-to";
import type { EventRange } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { Clock } from "@reeve/platform/async/clock";
import { steadyClock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { endsRun, eventSelection } from "./event-selection.ts";
import { runNotFound, runKeyOf } from "./read-run.ts";
import { resumeTokenAt } from "./watch/resume-token.ts";
import type { StartPorts, WatchStart } from "./watch/start-watch.ts";
import { startWatch } from "./watch/start-watch.ts";

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
type WatchPart = Omit<WatchUpdate, "resumeToken"> &
  Pick<EventRange<RunEvent>, "batchTails" | "bytes">;

export interface WatchPorts extends StartPorts {
  readonly log: RunLog;
  /** For the interval between heartbeats. */
  sleep: Clock["sleep"];
}

/** The time without a message after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;
/** The maximum total size of a message's events: it is held until the client has read it. gRPC clients accept 4 MiB by default. */
const maxBytes = 256 * 1024;

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
  const { log } = ports;
  const clock = { now: steadyClock.now, sleep: ports.sleep };
  const interval = { everyMs: heartbeatMs, clock };
  const { runId, afterSequence, selection } = request;
  const key = runKeyOf(tenant, runId);
  // Since before the log is read, so that nothing is missed between the read and what follows.
  using listener = listenTo(log, key);
  let started: WatchStart | undefined;
  async function* starting(until: AbortSignal): AsyncIterable<WatchStart> {
    yield await startWatch(ports, key, request, until);
  }
  for await (const next of withHeartbeats(starting, interval, signal)) {
    // Until the log was read, the client stays where it says that it is.
    if (next !== "heartbeat") started = next;
    else yield { events: [], throughSequence: afterSequence, resumeToken: request.resumeToken };
  }
  if (started === undefined) throw new Error("a watch started without a start");
  const start = started;
  const { lastSequence, end: ended } = start;
  let { resumeToken } = start;
  if (afterSequence > lastSequence) throw beyondEnd(runId, afterSequence, lastSequence);
  if (ended !== undefined && afterSequence >= ended.sequence) {
    yield { events: [], throughSequence: afterSequence, resumeToken, endStatus: ended.status };
    return;
  }
  const isSelected = eventSelection(selection);
  // A client knows at once that it watches, and not only when the run does something.
  if (ended === undefined && !start.missed.some(isSelected)) {
    yield { events: [], throughSequence: afterSequence, resumeToken };
  }
  let throughSequence = afterSequence;
  const { after, isCurrent } = start;
  const current = isCurrent && typeof after === "object" ? after : undefined;
  // A follower of its own listens itself, and nothing would take what this listener keeps.
  if (current === undefined) listener[Symbol.dispose]();
  const follow = (until: AbortSignal) =>
    current === undefined ? log.follow(key, after, until) : listener.follow(current, until);
  /** Returns what the client gets of a range. Undefined: it selected nothing of it. */
  const partOf = ({ events, tail, ...range }: EventRange<RunEvent>): WatchPart | undefined => {
    const end = events.find(endsRun);
    const visible = end === undefined ? events : events.slice(0, events.indexOf(end) + 1);
    // The log is followed from the start of a batch.
    const missed = visible.filter(({ sequence }) => sequence > afterSequence);
    const chosen = missed.filter(isSelected);
    if (end?.event.case === "status") {
      const { status: endStatus } = end.event.value;
      return { events: chosen, throughSequence: end.sequence, endStatus, ...range };
    }
    if (chosen.length > 0) return { events: chosen, throughSequence: tail.sequence, ...range };
    throughSequence = tail.sequence;
    resumeToken = resumeTokenAt(throughSequence, range.batchTails);
    return undefined;
  };
  const missedPart = () => {
    const missed = missedOf(start);
    return missed && partOf(missed);
  };
  // Heartbeats depend on what the client receives, so events that it did not select must not count as messages.
  async function* selected(until: AbortSignal): AsyncIterable<WatchPart> {
    let first = missedPart();
    if (first !== undefined) yield first;
    // A generator holds what its variables hold, as long as the client watches.
    first = undefined;
    for await (const range of follow(until)) {
      const part = partOf(range);
      if (part !== undefined) yield part;
    }
  }
  for await (const next of withHeartbeats(selected, interval, signal)) {
    if (next === "heartbeat") {
      yield { events: [], throughSequence, resumeToken };
      continue;
    }
    for (const { batchTails: tails, bytes: _, ...part } of splitBySize(next)) {
      ({ throughSequence } = part);
      resumeToken = resumeTokenAt(throughSequence, tails);
      yield { ...part, resumeToken };
    }
    if (next.endStatus !== undefined) return;
  }
  // The log ended before its terminal status: the run was deleted.
  throw runNotFound(runId);
}

/** Takes what a client has missed, which is held no longer than necessary. */
function missedOf(
  start: Pick<WatchStart, "missed" | "missedBatches" | "missedBytes" | "after">,
): EventRange<RunEvent> | undefined {
  const { missed: events, missedBatches: batchTails, missedBytes: bytes, after: tail } = start;
  if (typeof tail !== "object" || events.length === 0) return undefined;
  start.missed = [];
  start.missedBatches = [];
  return { events, tail, batchTails, bytes };
}

/**
 * Splits an update into messages that every client accepts. A message over a client's limit would end its stream, and end it
 * again each time the client resumes.
 */
function* splitBySize(update: WatchPart): Iterable<WatchPart> {
  const { events, ...rest } = update;
  if (rest.bytes !== undefined && rest.bytes <= maxBytes) return yield update;
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
