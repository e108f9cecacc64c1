import { create } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated, RunEvent } from "@reeve/contracts/run";
import { RunCreatedSchema, RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunHead } from "../head/run-head.ts";
import { emptyHead, foldHead } from "../head/run-head.ts";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import type { ThreadPorts } from "./thread-ports.ts";
import type { Turn } from "./thread-state.ts";

/** The run of a turn. `other`: a different request with the same id was first, so the run does not belong to the turn. */
export type TurnRun =
  | { readonly kind: "own"; readonly head: RunHead; readonly events: readonly RunEvent[] }
  | { readonly kind: "other" };

/** Returns what the run of a turn is made from. Throws a Failure if the turn does not have it, which is a fault of its writer. */
export function runCreatedOf({ runId, queued }: Turn): RunCreated {
  const created = queued.runCreated && anyUnpack(queued.runCreated, RunCreatedSchema);
  if (created !== undefined) return created;
  const message = `the turn of run ${runId} does not contain its run_created`;
  throw new Failure("internal", ErrorReason.INTERNAL, message);
}

/** Returns the run of a turn. Writes the run first if it is missing; every writer writes the same event. */
export async function runOfTurn(
  { log }: Pick<ThreadPorts, "log">,
  { tenant }: ThreadKey,
  turn: Turn,
  signal: AbortSignal,
): Promise<TurnRun> {
  const key = { tenant, run: turn.runId };
  const { events } = await log.read(key, emptyTail, signal);
  if (events.length > 0) return turnRunOf(turn, events);
  return await writeRunOfTurn({ log }, { tenant }, turn, signal);
}

/** As `runOfTurn`, for a run that is probably missing: appends before it reads. */
export async function writeRunOfTurn(
  { log }: Pick<ThreadPorts, "log">,
  { tenant }: Pick<ThreadKey, "tenant">,
  turn: Turn,
  signal: AbortSignal,
): Promise<TurnRun> {
  const { runId, queuedAt } = turn;
  const key = { tenant, run: runId };
  const created = create(RunEventSchema, {
    runId,
    sequence: 1,
    ...(queuedAt && { time: queuedAt }),
    event: { case: "runCreated", value: runCreatedOf(turn) },
  });
  const outcome = await log.append(key, emptyTail, [created], signal);
  if (outcome.kind === "appended") return turnRunOf(turn, [created]);
  const { events } = await log.read(key, emptyTail, signal);
  return turnRunOf(turn, events);
}

function turnRunOf(turn: Turn, events: readonly RunEvent[]): TurnRun {
  const head = foldHead(emptyHead, events);
  const mine = runCreatedOf(turn);
  const isOwn =
    head.created?.threadId === mine.threadId &&
    Buffer.compare(head.created.requestHash, mine.requestHash) === 0;
  return isOwn ? { kind: "own", head, events } : { kind: "other" };
}
