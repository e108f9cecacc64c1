import { create } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated, RunEvent } from "@reeve/contracts/run";
import { RunCreatedSchema, RunEventSchema } from "@reeve/contracts/run";
import type { OpenTurn } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { foldRun } from "../commands/fold-run.ts";
import type { RunHead } from "../head/run-head.ts";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import { partsOf, readThread } from "./read-thread.ts";
import { openTurn } from "./thread-head.ts";
import type { ThreadPorts } from "./thread-ports.ts";

/**
 * The run of a turn. `other`: a different request with the same id was first, so the run does not belong to the turn.
 * `deleted`: its turn has ended, and then its log was deleted.
 */
export type TurnRun =
  | { readonly kind: "own"; readonly head: RunHead; readonly events: readonly RunEvent[] }
  | { readonly kind: "other" }
  | { readonly kind: "deleted" };

/** Returns what the run of a turn is made from. Throws a Failure if the turn does not have it, which is a fault of its writer. */
export async function runCreatedOf(
  threads: ThreadLog,
  key: ThreadKey,
  { runId, before }: OpenTurn,
  signal: AbortSignal,
): Promise<RunCreated> {
  const { sequence = 0, revision = 0n } = before ?? {};
  const after = { ...emptyTail, sequence, revision: Number(revision) };
  // The turn is in the first batch.
  for await (const { events } of partsOf(threads, key, { after, maxBytes: 1 }, signal)) {
    for (const { event } of events) {
      if (event.case !== "turnQueued" || event.value.runId !== runId) continue;
      const created = event.value.runCreated && anyUnpack(event.value.runCreated, RunCreatedSchema);
      if (created !== undefined) return created;
    }
  }
  const message = `the turn of run ${runId} in thread ${key.thread} does not contain its run_created`;
  throw new Failure("internal", ErrorReason.INTERNAL, message);
}

/**
 * Returns the run of a turn. Writes the run first if it is missing; every writer writes the same event. A run whose turn has
 * ended is never written again.
 */
export async function runOfTurn(
  { log, threads }: Pick<ThreadPorts, "log" | "threads">,
  key: ThreadKey,
  turn: OpenTurn,
  signal: AbortSignal,
): Promise<TurnRun> {
  const existing = await existingRun(log, key, turn, signal);
  if (existing !== undefined) return existing;
  const head = await readThread(threads, key, signal);
  // The turn was queued after this position, so a thread that ends before it is an older state, and says nothing of the turn.
  if (head.sequence <= (turn.before?.sequence ?? 0)) throw contradicted(key, turn);
  if (openTurn(head, turn.runId) === undefined) {
    // Since the first read of its log, the run was written and has ended. A deletion ends the turn before it removes the log.
    return (await existingRun(log, key, turn, signal)) ?? { kind: "deleted" };
  }
  const created = await runCreatedOf(threads, key, turn, signal);
  return await writeRunOfTurn({ log }, key, { turn, created }, signal);
}

/**
 * As `runOfTurn`, for a run that is probably missing, and is made from `created`: appends before it reads. Throws a Failure of
 * kind `unavailable` when the log has a run that cannot be read yet: only what was read may decide that the turn lost its run.
 */
export async function writeRunOfTurn(
  { log }: Pick<ThreadPorts, "log">,
  key: ThreadKey,
  { turn, created: value }: { readonly turn: OpenTurn; readonly created: RunCreated },
  signal: AbortSignal,
): Promise<TurnRun> {
  const { runId, queuedAt } = turn;
  const created = create(RunEventSchema, {
    runId,
    sequence: 1,
    ...(queuedAt && { time: queuedAt }),
    event: { case: "runCreated", value },
  });
  const outcome = await log.append(
    { tenant: key.tenant, run: runId },
    emptyTail,
    [created],
    signal,
  );
  if (outcome.kind === "appended") return await turnRunOf(key, turn, [created], signal);
  const existing = await existingRun(log, key, turn, signal);
  if (existing === undefined) throw contradicted(key, turn);
  return existing;
}

/** Two answers of the store contradict each other: one of the servers that gave them was cut off from the others. */
function contradicted({ thread }: ThreadKey, { runId }: OpenTurn): Failure {
  const message = `the store does not show the run ${runId} of thread ${thread} yet; try again in a few seconds`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

/** Returns the run with the id of a turn, or undefined if there is none. */
export async function existingRun(
  log: Pick<RunLog, "read">,
  key: ThreadKey,
  turn: RequestedRun,
  signal: AbortSignal,
): Promise<TurnRun | undefined> {
  const { events } = await log.read({ tenant: key.tenant, run: turn.runId }, emptyTail, signal);
  return events.length === 0 ? undefined : await turnRunOf(key, turn, events, signal);
}

/** Identifies the request that a run was made from. */
type RequestedRun = Pick<OpenTurn, "runId" | "requestHash">;

async function turnRunOf(
  { thread }: ThreadKey,
  { requestHash }: RequestedRun,
  events: readonly RunEvent[],
  signal: AbortSignal,
): Promise<TurnRun> {
  const head = await foldRun(events, signal);
  const isOwn =
    head.created?.threadId === thread &&
    Buffer.compare(head.created.requestHash, requestHash) === 0;
  return isOwn ? { kind: "own", head, events } : { kind: "other" };
}
