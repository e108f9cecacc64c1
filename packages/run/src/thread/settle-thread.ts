import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { DispatchSchema } from "@reeve/contracts/run";
import { cancelRun } from "../commands/cancel-run.ts";
import { publishUntilHeld } from "@reeve/jetstream/queue/publish-until-held";
import { isTerminal } from "../head/run-status.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import type { ThreadView } from "./append-thread.ts";
import { appendThread, refreshThread } from "./append-thread.ts";
import { endingOf } from "./ending-of.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadState, Turn } from "./thread-state.ts";
import { activeTurn, interruptingTurn, waitingTurns } from "./thread-state.ts";
import { runCreatedOf, runOfTurn } from "./turn-run.ts";

/** Each turn takes a few rounds: it is cancelled, ended, and the next one begins. */
const maxRounds = 2_000;

/**
 * Does everything that a thread is owed, whoever began it and died: a turn whose run has ended is ended, the next one
 * begins, its run is written if nobody has and dispatched if nobody took it; those that an interrupting turn wants out of
 * its way are cancelled. May be called at any time by anybody, any number of times at once. Returns the state that then
 * stands.
 */
export async function settleThread(
  ports: ThreadPorts,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadState> {
  return await settleFrom(
    ports,
    key,
    await refreshThread(ports.threads, key, undefined, signal),
    signal,
  );
}

/** As `settleThread`, of a thread that was seen already. */
export async function settleFrom(
  ports: ThreadPorts,
  key: ThreadKey,
  from: ThreadView,
  signal: AbortSignal,
): Promise<ThreadState> {
  let seen = from;
  for (let round = 0; round < maxRounds; round++) {
    const { state } = seen;
    // Turns begin in order: only the foremost can be owed anything.
    const turn = activeTurn(state) ?? waitingTurns(state)[0];
    if (turn === undefined) return state;
    const next = await move(ports, key, seen, turn, signal);
    if (next === "rests") return state;
    seen = next;
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `thread ${key.thread} changes without a pause; try again`,
  );
}

/** Brings the foremost turn one act further. `rests`: it is its worker's now. */
async function move(
  ports: ThreadPorts,
  key: ThreadKey,
  seen: ThreadView,
  turn: Turn,
  signal: AbortSignal,
): Promise<ThreadView | "rests"> {
  const run = await runOfTurn(ports, key, turn, signal);
  if (run.kind === "other" || isTerminal(run.head.status)) {
    const ending = endingOf(turn, run);
    return await appendThread(ports.threads, key, seen, ending, signal);
  }
  const interrupting = interruptingTurn(seen.state);
  if (interrupting !== undefined && isBefore(seen.state, turn, interrupting)) {
    const requestedBy = runCreatedOf(interrupting).startedBy;
    const reason = `interrupted by run ${interrupting.runId}`;
    const runKey = { tenant: key.tenant, run: turn.runId };
    await cancelRun(ports, runKey, { requestedBy, reason }, signal);
    return await refreshThread(ports.threads, key, seen, signal);
  }
  if (!turn.isStarted) {
    const beginning = (state: ThreadState) =>
      activeTurn(state) === undefined && waitingTurns(state)[0]?.runId === turn.runId
        ? [{ case: "turnStarted", value: { runId: turn.runId } } as const]
        : [];
    return await appendThread(ports.threads, key, seen, beginning, signal);
  }
  if (run.head.claim === undefined) await offerTurn(ports, key, turn.runId, signal);
  return "rests";
}

function isBefore({ turns }: ThreadState, one: Turn, other: Turn): boolean {
  return turns.indexOf(one) < turns.indexOf(other);
}

/** Offers the run of a turn that begins to the workers. */
export async function dispatchTurn(
  { dispatch }: Pick<ThreadPorts, "dispatch">,
  key: ThreadKey,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const { message, dedupeId } = startOf(key, runId);
  await dispatch.publish(message, { dedupeId }, signal);
}

/** Sees to it that the workers are offered a run that none of them has; once, however often it is said within a short time. */
async function offerTurn(
  { dispatch }: Pick<ThreadPorts, "dispatch">,
  key: ThreadKey,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const { message, dedupeId } = startOf(key, runId);
  await publishUntilHeld(dispatch, message, { dedupeId }, signal);
}

function startOf({ tenant }: ThreadKey, runId: string) {
  return { message: create(DispatchSchema, { tenant, runId }), dedupeId: `${runId}:start` };
}
