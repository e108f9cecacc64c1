import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { DispatchSchema } from "@reeve/contracts/run";
import type { OpenTurn, ThreadHead } from "@reeve/contracts/thread";
import { cancelRun } from "../commands/cancel-run.ts";
import { publishUntilHeld } from "@reeve/jetstream/queue/publish-until-held";
import { isTerminal } from "../head/run-status.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import { appendThread } from "./append-thread.ts";
import { endingOf } from "./ending-of.ts";
import { refreshThread } from "./read-thread.ts";
import type { ThreadView } from "./thread-head.ts";
import { activeTurn, interruptingTurn, waitingTurns } from "./thread-head.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import { runCreatedOf, runOfTurn } from "./turn-run.ts";

/** Each turn takes a few rounds: cancel, end, start the next. */
const maxRounds = 2_000;

/**
 * Completes every change of a thread that another process began and did not finish: ends the turn of a run that has ended,
 * starts the next turn, writes its run if it is missing, dispatches the run if no worker has it, and cancels the runs that
 * an interrupting turn replaces. Any process may call this at any time and concurrently. Returns the resulting state.
 */
export async function settleThread(
  ports: ThreadPorts,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadHead> {
  return await settleFrom(
    ports,
    key,
    await refreshThread(ports.threads, key, undefined, signal),
    signal,
  );
}

/** Settles a thread from a view of it. */
export async function settleFrom(
  ports: ThreadPorts,
  key: ThreadKey,
  from: ThreadView,
  signal: AbortSignal,
): Promise<ThreadHead> {
  let seen = from;
  for (let round = 0; round < maxRounds; round++) {
    const { head } = seen;
    // Turns start in order, so only the first open one can be incomplete.
    const turn = activeTurn(head) ?? waitingTurns(head)[0];
    if (turn === undefined) return head;
    const next = await move(ports, key, seen, turn, signal);
    if (next === "settled") return head;
    seen = next;
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `thread ${key.thread} was not settled within ${maxRounds} rounds; try again`,
  );
}

/** Takes the first open turn one step further. `settled`: the next step is up to a worker. */
async function move(
  ports: ThreadPorts,
  key: ThreadKey,
  seen: ThreadView,
  turn: OpenTurn,
  signal: AbortSignal,
): Promise<ThreadView | "settled"> {
  const run = await runOfTurn(ports, key, turn, signal);
  if (run.kind !== "own" || isTerminal(run.head.status)) {
    const ending = endingOf(turn, run);
    return await appendThread(ports.threads, key, seen, ending, signal);
  }
  const interrupting = interruptingTurn(seen.head);
  if (interrupting !== undefined && isBefore(seen.head, turn, interrupting)) {
    const { startedBy: requestedBy } = await runCreatedOf(ports.threads, key, interrupting, signal);
    const reason = `interrupted by run ${interrupting.runId}`;
    const runKey = { tenant: key.tenant, run: turn.runId };
    await cancelRun(ports, runKey, { requestedBy, reason }, signal);
    return await refreshThread(ports.threads, key, seen, signal);
  }
  if (!turn.started) {
    const beginning = (head: ThreadHead) =>
      activeTurn(head) === undefined && waitingTurns(head)[0]?.runId === turn.runId
        ? [{ case: "turnStarted", value: { runId: turn.runId } } as const]
        : [];
    return await appendThread(ports.threads, key, seen, beginning, signal);
  }
  if (run.head.claim === undefined) await offerTurn(ports, key, turn.runId, signal);
  return "settled";
}

function isBefore({ openTurns }: ThreadHead, one: OpenTurn, other: OpenTurn): boolean {
  return openTurns.indexOf(one) < openTurns.indexOf(other);
}

/** Dispatches the run of a turn that starts. */
export async function dispatchTurn(
  { dispatch }: Pick<ThreadPorts, "dispatch">,
  key: ThreadKey,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const { message, dedupeId } = startOf(key, runId);
  await dispatch.publish(message, { dedupeId }, signal);
}

/** Ensures that the dispatch of a run without an owner is in the queue; once, however often this is repeated at short intervals. */
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
  return {
    message: create(DispatchSchema, { tenant, runId, afterSequence: 1 }),
    dedupeId: `${runId}:start`,
  };
}
