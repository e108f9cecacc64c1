import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { OnBusy, RunCreated } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { foldRun } from "@reeve/run/commands/fold-run";
import type { RunHead } from "@reeve/run/head/run-head";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { reusedRequestId } from "@reeve/run/thread/refusals";
import { settleThread } from "@reeve/run/thread/settle-thread";
import type { GatewayPorts } from "../gateway-ports.ts";
import { AppendWatch } from "../parts/watch-appends.ts";
import type { PartsToStore } from "../parts/store-parts.ts";
import type { Commit } from "../parts/with-stored-parts.ts";
import { withStoredParts } from "../parts/with-stored-parts.ts";
import { runNotFound } from "../read-run.ts";
import { startTurn } from "../start-turn.ts";

/** A run that is to be created, with the files that came with its request. */
interface RunToCreate extends Pick<PartsToStore, "key" | "contents"> {
  readonly created: RunCreated;
  readonly onBusy: OnBusy;
}

/** How long the room of a refused run may take to be given back, whether or not its client is still there. */
const withdrawMs = 10_000;

/**
 * Stores and dispatches a run, in its thread if it has one. Returns the run if a concurrent request created it first. Throws a
 * Failure with reason QUOTA_EXCEEDED if a quota of the principal has no room for it, or for its files, which are stored after it was admitted.
 */
export async function createRun(
  ports: GatewayPorts,
  { created, onBusy, key, contents }: RunToCreate,
  signal: AbortSignal,
): Promise<RunHead> {
  const principal = { tenant: key.tenant, subject: created.startedBy };
  const admission = await ports.runQuotas.admit(principal, key.run, signal);
  let hasBegun = false;
  const appends = new AppendWatch();
  const watched = {
    ...ports,
    log: appends.log(ports.log),
    threads: appends.threads(ports.threads),
  };
  const hasNone = (error: unknown) => hasNoRun(error) || appends.isRefused(error);
  const commit: Commit<RunHead> = {
    append: async () => {
      hasBegun = true;
      return created.threadId === ""
        ? await append(watched, key, created, signal)
        : await startTurn(watched, key, created, onBusy, signal);
    },
    partsOf: (run) => run.created && partsOfRun(run.created),
    isRefused: (error) => hasNone(error) || isReused(error),
  };
  try {
    return await withStoredParts(ports, { principal, key, contents }, commit, signal);
  } catch (error) {
    if (!hasBegun || hasNone(error)) {
      await admission.withdraw(AbortSignal.timeout(withdrawMs)).catch(() => undefined);
    }
    throw error;
  }
}

function partsOfRun({ parts, messages }: RunCreated) {
  return [...parts, ...messages.flatMap((message) => message.parts)];
}

/** Whether the run of this id is that of another request. */
function isReused(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.REQUEST_ID_REUSED;
}

/** Whether an error shows that no run was stored. After any other, the run may exist, or belong to another request. */
function hasNoRun(error: unknown): boolean {
  return error instanceof Failure && refusals.has(error.reason);
}

const refusals: ReadonlySet<ErrorReason> = new Set([
  ErrorReason.THREAD_BUSY,
  ErrorReason.THREAD_NOT_FOUND,
  ErrorReason.THREAD_QUEUE_FULL,
  ErrorReason.QUOTA_EXCEEDED,
]);

async function append(
  ports: GatewayPorts,
  key: RunKey,
  value: RunCreated,
  signal: AbortSignal,
): Promise<RunHead> {
  const created = create(RunEventSchema, {
    runId: key.run,
    sequence: 1,
    time: timestampNow(),
    event: { case: "runCreated", value },
  });
  const outcome = await ports.log.append(key, emptyTail, [created], signal);
  if (outcome.kind === "conflict") {
    // A request with the same id created the run first, perhaps so recently that the first read lacked it.
    await ports.unconfirmedLog.settle(signal);
    const known = await knownRun(ports, key, value.requestHash, signal);
    if (known === undefined) throw runNotFound(key.run);
    return known;
  }
  await dispatch(ports, key, signal);
  return foldHead(emptyHead, [created]);
}

/**
 * Returns the run that an earlier request with this id started. Dispatches it again, in case the earlier gateway died before
 * it did. Returns undefined if there is none, or if it was not found: then it must be appended, which a run that exists refuses.
 */
export async function knownRun(
  ports: GatewayPorts,
  key: RunKey,
  requestHash: Uint8Array,
  signal: AbortSignal,
): Promise<RunHead | undefined> {
  const { events } = await ports.unconfirmedLog.read(key, emptyTail, signal);
  if (events.length === 0) return undefined;
  const head = await foldRun(events, signal);
  assertSame(head, requestHash);
  const threadId = head.created?.threadId ?? "";
  if (threadId !== "") await settleThread(ports, { tenant: key.tenant, thread: threadId }, signal);
  else if (head.claim === undefined) await dispatch(ports, key, signal);
  return head;
}

/** Throws a Failure if the run was started by a different request with the same id. */
function assertSame({ created, runId }: RunHead, requestHash: Uint8Array): void {
  if (Buffer.compare(created?.requestHash ?? new Uint8Array(), requestHash) === 0) return;
  throw reusedRequestId(created?.requestId ?? "", runId);
}

function dispatch({ dispatch: queue }: GatewayPorts, { tenant, run }: RunKey, signal: AbortSignal) {
  const message = create(DispatchSchema, { tenant, runId: run, afterSequence: 1 });
  return queue.publish(message, { dedupeId: `${run}:start` }, signal);
}
