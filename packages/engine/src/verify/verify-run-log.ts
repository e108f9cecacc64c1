import type { Run, RunEvent, StoredRunBatch } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { runLogDefinition } from "@reeve/jetstream/log/definitions";
import { channelOf } from "@reeve/contracts/channel";
import { runOf } from "@reeve/run/head/run-of";
import { isTerminal, statusName } from "@reeve/run/head/run-status";
import { apply } from "../domain/state/apply.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { initialState } from "../domain/state/run-state.ts";
import type { LogProblem } from "./check-batches.ts";
import { checkBatches } from "./check-batches.ts";

export type { LogProblem } from "./check-batches.ts";

/** The log of a run as it is stored, and what other parts of the store say of the run. */
export interface StoredRunLog {
  readonly subject: string;
  readonly batches: readonly StoredRunBatch[];
  /** The run as the index showed it before the log was read. */
  readonly indexed: Run | undefined;
  /** The run as `GetRun` showed it after the log was read. */
  readonly current: Run | undefined;
}

export interface VerifiedLog {
  readonly runId: string;
  readonly status: RunStatus;
  readonly batches: number;
  readonly events: number;
  /** The sequence of the first event that the chain of digests covers; 0: the log has no digests. */
  readonly chainedFrom: number;
  /** The digest of the last batch, which stands for the whole log. Kept elsewhere, it shows later whether the log was replaced. */
  readonly headDigest: string;
  readonly headSequence: number;
  /** Empty: the log is what its writers appended, as far as digests without a key can show. */
  readonly problems: readonly LogProblem[];
}

const logSubject = channelOf(runLogDefinition.schema);

/**
 * Verifies the log of a run: its digests, the order and the number of its events, its end, that the state machine accepts each
 * event, and that other views of the run agree with it. `expectedDigest` is a digest that was noted earlier: some batch of
 * the log must have it.
 */
export function verifyRunLog(
  runId: string,
  { subject, batches, indexed, current }: StoredRunLog,
  expectedDigest = "",
): VerifiedLog {
  const { events, digests, chainedFrom, problems: found } = checkBatches(subject, batches);
  const { state, problems: rejected } = fold(events);
  const run = state.head.isCreated ? runOf(state.head) : undefined;
  const head = digests.at(-1);
  const problems = [
    ...found,
    ...identityProblems(runId, subject, events),
    ...endProblems(events),
    ...rejected,
    ...viewProblems(run, indexed, "the index of runs"),
    ...viewProblems(run, current, "GetRun"),
  ];
  if (expectedDigest !== "" && !digests.some(({ digest }) => digest === expectedDigest)) {
    const message = `no batch has the expected digest ${expectedDigest}: the log was replaced, or its end was lost`;
    problems.push({ kind: "unexpected_digest", sequence: 0, message });
  }
  return {
    runId,
    status: run?.status ?? RunStatus.UNSPECIFIED,
    batches: batches.length,
    events: events.length,
    chainedFrom,
    headDigest: head?.digest ?? "",
    headSequence: head?.sequence ?? 0,
    problems,
  };
}

/** Applies the events to the state machine, up to the first one that it rejects. */
function fold(events: readonly RunEvent[]): {
  readonly state: RunState;
  readonly problems: readonly LogProblem[];
} {
  let state = initialState;
  for (const event of events) {
    try {
      state = apply(state, event);
    } catch (error) {
      const message = `the state machine does not accept the event: ${error instanceof Error ? error.message : String(error)}`;
      return { state, problems: [{ kind: "fold_failed", sequence: event.sequence, message }] };
    }
  }
  return { state, problems: [] };
}

function* identityProblems(
  runId: string,
  subject: string,
  events: readonly RunEvent[],
): Iterable<LogProblem> {
  const first = events[0];
  const { tenant, run } = logSubject.tokensOf(subject) ?? {};
  const created = first?.event.case === "runCreated" ? first.event.value : undefined;
  if (created === undefined) {
    yield { kind: "gap", sequence: 0, message: "the log does not start with run_created" };
  } else if (tenant !== created.tenant || run !== runId) {
    const message = `run ${runId} of tenant ${created.tenant} is stored on ${subject}`;
    yield { kind: "foreign_event", sequence: 1, message };
  }
  const origin = created?.origin;
  if (
    origin !== undefined &&
    (origin.runId === runId || origin.runId === "" || origin.sequence === 0)
  ) {
    const message = `the origin is sequence ${origin.sequence} of run ${origin.runId || "without an id"}`;
    yield { kind: "foreign_event", sequence: 1, message };
  }
  for (const event of events) {
    if (event.runId === runId) continue;
    const message = `the event belongs to run ${event.runId || "without an id"}`;
    yield { kind: "foreign_event", sequence: event.sequence, message };
  }
}

/** A run ends once, with one terminal status; nothing follows it. */
function* endProblems(events: readonly RunEvent[]): Iterable<LogProblem> {
  const end = events.findIndex(
    ({ event }) => event.case === "status" && isTerminal(event.value.status),
  );
  if (end === -1) return;
  for (const { sequence, event } of events.slice(end + 1)) {
    const message = `${event.case ?? "an unknown event"} follows the terminal status at sequence ${events[end]?.sequence}`;
    yield { kind: "wrong_end", sequence, message };
  }
}

/** Compares what the log folds to with another view of the run, which may be older or newer than the log that was read. */
function* viewProblems(
  run: Run | undefined,
  view: Run | undefined,
  name: string,
): Iterable<LogProblem> {
  if (view === undefined) return;
  const { lastSequence, status, agentId, threadId } = view;
  const last = run?.lastSequence ?? 0;
  if (name !== "GetRun" && lastSequence > last) {
    const message = `${name} has seen ${lastSequence} events, but the log has ${last}: its end was lost or removed`;
    yield { kind: "lost_events", sequence: lastSequence, message };
  }
  if (run === undefined) return;
  const isOld = lastSequence !== last && !isTerminal(status);
  const differs = (field: string, shown: unknown, folded: unknown): readonly LogProblem[] =>
    shown === folded
      ? []
      : [
          {
            kind: "wrong_view",
            sequence: 0,
            message: `${name} shows the ${field} ${String(shown)}, but the log folds to ${String(folded)}`,
          },
        ];
  yield* differs("agent", agentId, run.agentId);
  yield* differs("thread", threadId, run.threadId);
  if (!isOld) yield* differs("status", statusName(status), statusName(run.status));
  if (name === "GetRun" && lastSequence === last) {
    yield* differs("output", view.output, run.output);
    yield* differs("error", view.error?.reason, run.error?.reason);
  }
}
