import { create } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { DispatchSchema, RunCreatedSchema, RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/log/log";
import type { RunHead } from "@reeve/log/run-head";
import { emptyHead, foldHead, isTerminal } from "@reeve/log/run-head";
import type { RunKey } from "@reeve/log/run-log";
import type { ThreadKey } from "@reeve/log/thread-log";
import type { ThreadFact } from "./commit-thread.ts";
import { commitThread } from "./commit-thread.ts";
import { recordThread } from "./thread-index.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadState, Turn } from "./thread-state.ts";
import { activeTurn, turnOf, waitingTurns } from "./thread-state.ts";
import { turnEnded } from "./turn-ended.ts";

/**
 * Does everything that a thread is owed, whoever began it and died: a turn whose run has ended is ended, the next one
 * begins, a run that was accepted and never written is written, one whose turn it is and that nobody has taken is
 * dispatched. May be called at any time by anybody, any number of times at once. Returns the state that then stands.
 */
export async function settleThread(
  ports: ThreadPorts,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadState> {
  for (;;) {
    const state = await commitThread(ports.threads, key, () => [], signal);
    const open = state.turns.filter(({ ended }) => ended === undefined);
    const heads = new Map<string, RunHead>();
    for (const turn of open) heads.set(turn.runId, await createdRun(ports, key, turn, signal));
    const ended = open.filter(({ runId }) => isTerminal((heads.get(runId) ?? emptyHead).status));
    const endings = await Promise.all(
      ended.map(({ runId }) => endingOf(ports, { tenant: key.tenant, run: runId }, signal)),
    );
    const settled = await commitThread(
      ports.threads,
      key,
      (now) => owedFacts(now, endings),
      signal,
    );
    const active = activeTurn(settled);
    if (active !== undefined) {
      const head = heads.get(active.runId) ?? (await createdRun(ports, key, active, signal));
      // It has ended while this went on: the next one is owed its turn.
      if (isTerminal(head.status) && turnOf(state, active.runId)?.ended === undefined) continue;
      if (head.claim === undefined) await dispatch(ports, key.tenant, active.runId, signal);
    }
    await recordThread(ports.threadIndex, key, settled, signal);
    return settled;
  }
}

/** The ends that the log does not have, and the beginning of the next turn when none is under way then. */
function owedFacts(state: ThreadState, endings: readonly ThreadFact[]): readonly ThreadFact[] {
  const facts = endings.filter(
    (fact) =>
      fact.case === "turnEnded" && turnOf(state, fact.value.runId ?? "")?.ended === undefined,
  );
  const isOver = (runId: string) =>
    facts.some((fact) => fact.case === "turnEnded" && fact.value.runId === runId);
  const active = activeTurn(state);
  if (active !== undefined && !isOver(active.runId)) return facts;
  const next = waitingTurns(state).find(({ runId }) => !isOver(runId));
  return next === undefined
    ? facts
    : [...facts, { case: "turnStarted", value: { runId: next.runId } }];
}

/** The run of a turn as it stands; written first if nobody has. */
async function createdRun(
  { log }: ThreadPorts,
  { tenant }: ThreadKey,
  { runId, queued, queuedAt }: Turn,
  signal: AbortSignal,
): Promise<RunHead> {
  const run: RunKey = { tenant, run: runId };
  const { events } = await log.read(run, emptyTail, signal);
  if (events.length > 0) return foldHead(emptyHead, events);
  const value = queued.runCreated && anyUnpack(queued.runCreated, RunCreatedSchema);
  if (value === undefined) throw new Error(`turn ${runId} does not say what its run is`);
  const created = create(RunEventSchema, {
    runId,
    sequence: 1,
    ...(queuedAt && { time: queuedAt }),
    event: { case: "runCreated", value },
  });
  const outcome = await log.append(run, emptyTail, [created], signal);
  if (outcome.kind === "appended") return foldHead(emptyHead, [created]);
  // Somebody else has written the very same.
  const { events: theirs } = await log.read(run, emptyTail, signal);
  return foldHead(emptyHead, theirs);
}

async function endingOf(
  { log }: ThreadPorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<ThreadFact> {
  const { events } = await log.read(key, emptyTail, signal);
  return { case: "turnEnded", value: turnEnded(key.run, events) };
}

async function dispatch(
  { dispatch: queue }: ThreadPorts,
  tenant: string,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const message = create(DispatchSchema, { tenant, runId });
  await queue.publish(message, { dedupeId: `${runId}:start` }, signal);
}
