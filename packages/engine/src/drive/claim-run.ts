/**
 * How a worker becomes the owner of a run. Its invariants:
 *
 * C1. A claim is an append like any other: of two concurrent claims one is refused, and that worker reads and decides again.
 *     Test: drive-run.test.ts, "with the same message: the later claim wins, and the run ends once"
 * C2. A claim, the starting status, the preparation, and the first step are one batch.
 *     Test: claim-run.test.ts, "is one batch with the preparation and the first model call"
 * C3. A claim names its dispatch message and how often that message was delivered.
 *     Test: claim-run.test.ts, "names its delivery"
 * C4. An earlier delivery of the message of the last claim never claims: the worker that was slow has lost the run.
 *     Test: claim-run.test.ts, "is refused when the same message was delivered again since"
 * C5. Another message claims a run only if the message of its owner is no longer in the queue.
 *     Test: claim-run.test.ts, "is refused while another message has an owner"
 *     Test: claim-run.test.ts, "succeeds when the owner's message is gone from the queue"
 * C6. A parked run is claimed only if a fact came after the park or its time to wake has come, and never by the message that brought it to the park.
 *     Test: claim-run.test.ts, "is refused for a message that the run has spent"
 *     Test: claim-run.test.ts, "is refused for another message while nothing came after the park"
 * C7. The log counts claims without progress after a crash, including those of workers that die while they prepare the run.
 *     The run ends with `worker_lost` after ten in a row. An owner that stood still or handed the run over is no crash;
 *     the run ends after a hundred claims of any kind without progress.
 *     Test: claim-run.test.ts, "ends with an error after ten claims without progress"
 *     Test: claim-run.test.ts, "ends with an error also when each worker dies before it has prepared the run"
 *     Test: claim-run.test.ts, "does not end while its workers only stand still or hand it over"
 * C8. A log with an event of a newer version is left as it is, without a claim.
 *     Test: claim-run.test.ts, "a run with an event of a newer version is given back without a claim, each time for longer"
 * C9. A delivery decides nothing on a read that lacks the event that its dispatch names, unless the message was delivered more
 *     than ten times.
 *     Test: lagging-reads.test.ts, "when an approval was decided"
 *     Test: lagging-reads.test.ts, "but not for ever, because a store may have lost the event"
 */

import type { Span } from "@opentelemetry/api";
import type { RunClaimed } from "@reeve/contracts/run";
import { OwnerFate, RunStatus } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { listenTo } from "@reeve/jetstream/log/listen-to";
import { emptyTail } from "@reeve/jetstream/log/port";
import { foldInSlices } from "@reeve/platform/async/fold-in-slices";
import { readThrough } from "@reeve/jetstream/log/read-through";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { applyAll } from "../domain/state/apply.ts";
import type { Fact } from "../domain/state/fact.ts";
import { fact, rootScope } from "../domain/state/fact.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { hasEnded, initialState } from "../domain/state/run-state.ts";
import type { DispatchDelivery } from "../ports/ownership.ts";
import { awaitedSequence } from "../ports/ownership.ts";
import type { OwnerFate as Fate, RunPorts } from "../ports/run-ports.ts";
import { appendFacts, failOversized } from "./append-facts.ts";
import type { ClaimedRun } from "./owned-run.ts";
import { prepareRun } from "../perform/prepare-run.ts";
import { startClaimSpan } from "../tracing/claim-span.ts";
import { isParked, isWakeDue } from "@reeve/run/head/ownership";

type Refusal = "ended" | "absent" | "owned" | "spent" | "lost" | "no_room";

/**
 * The result of a claim. `ended`: the run has ended. `absent`: the run does not exist. `owned`: the run has a live owner,
 * which sees every fact. `spent`: the message has brought the run to its park, or came late. `lost`: a later delivery of
 * the message owns the run. `no_room`: the store is full.
 */
export type Claim =
  | { readonly kind: "claimed"; readonly claimed: ClaimedRun }
  | { readonly kind: Refusal; readonly state: RunState };

/** How many times a claim is attempted while other writers are first. */
const maxAttempts = 20;
/** After so many deliveries of its message, a run is claimed before it is prepared, so that the attempt is counted. */
const maxUncountedDeliveries = 5;

/** Claims the run for a delivery of a dispatch message, together with everything that follows from the claim at once. */
export async function claimRun(
  key: RunKey,
  delivery: DispatchDelivery,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Claim> {
  using claiming = new DisposableStack();
  // Since before the claim, so that the owner misses nothing that comes after it.
  const listener = claiming.use(listenTo(ports.log, key));
  const claim = await claimListened(key, { delivery, listener }, ports, signal);
  if (claim.kind === "claimed") claiming.move();
  return claim;
}

async function claimListened(
  key: RunKey,
  { delivery, listener }: { readonly delivery: DispatchDelivery } & Pick<ClaimedRun, "listener">,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Claim> {
  let state = initialState;
  let tail = emptyTail;
  let span: Span | undefined;
  let recordedMs: number | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const missed =
      attempt === 0
        ? await readThrough(ports.log, key, awaitedSequence(delivery), signal)
        : await ports.log.read(key, tail, signal);
    state = await foldInSlices(state, missed.events, applyAll, signal);
    tail = missed.tail;
    if (hasEnded(state)) return { kind: "ended", state };
    if (state.head.created === undefined) return { kind: "absent", state };
    // No fact came after the park, and it is not over: the message came late, or twice.
    if (isParked(state.head) && !isWakeDue(state.head, ports.clock.now())) {
      return { kind: "spent", state };
    }
    const refusal = await refusalOf(state, delivery, ports, signal);
    if (refusal !== undefined) return { kind: refusal, state };
    const isNew = !isOwnClaim(state, delivery, ports);
    if (isNew) span ??= startClaimSpan(state, delivery, ports.worker);
    const claim: Fact[] = [];
    if (isNew) {
      const previousOwner = await previousOwnerOf(state, ports, signal);
      const traceparent = traceparentOf(span);
      claim.push(claimFact(state, delivery, ports, { previousOwner, traceparent }));
    }
    // The holders of earlier deliveries may have died during the preparation, without a claim that counts them.
    const isClaimOnly =
      isNew && state.head.prepared === undefined && delivery.attempt > maxUncountedDeliveries;
    const facts = [...claim, ...(isClaimOnly ? [] : await preparation(state, ports, signal))];
    // The time between a claim and what follows counts as work, so that the claim's append may not hide a standstill.
    const stoodStillMs = ports.standstillMs();
    const standstillMs = recordedMs === undefined ? 0 : stoodStillMs - recordedMs;
    const before = { state, tail, limits: { standstillMs } };
    let outcome = await appendFacts(key, before, facts, ports, signal);
    if (outcome.kind === "oversized") {
      outcome = await appendFacts(key, before, failOversized(state, facts), ports, signal);
    }
    // Without room for the claim there is none for the work. A run that is cancelled meanwhile ends without a worker.
    if (outcome.kind === "full") return { kind: "no_room", state };
    if (outcome.kind !== "appended") continue;
    ({ state, tail } = outcome);
    recordedMs = stoodStillMs;
    span?.end();
    if (hasEnded(state)) return { kind: "ended", state };
    if (state.head.prepared === undefined) continue;
    const epoch = state.head.claim?.epoch ?? 0;
    return { kind: "claimed", claimed: { ...outcome, key, epoch, stoodStillMs, listener } };
  }
  throw new Error(
    `run ${key.run} was not claimed: other writers were first in all ${maxAttempts} attempts`,
  );
}

/** Returns why a delivery may not claim the run; undefined if it may. */
async function refusalOf(
  { head: { claim, parkedAt } }: RunState,
  { sequence, attempt }: DispatchDelivery,
  { dispatch }: RunPorts,
  signal: AbortSignal,
): Promise<"owned" | "spent" | "lost" | undefined> {
  if (claim === undefined) return undefined;
  if (claim.dispatchSequence === BigInt(sequence)) {
    if (parkedAt !== undefined) return "spent";
    return claim.attempt > attempt ? "lost" : undefined;
  }
  if (parkedAt !== undefined) return undefined;
  // An owner sees every fact without this message. If its own message is gone, nothing replaces it when it dies.
  const hasOwner = await dispatch.holds(Number(claim.dispatchSequence), signal);
  return hasOwner ? "owned" : undefined;
}

function isOwnClaim(
  { head: { claim } }: RunState,
  { sequence, attempt }: DispatchDelivery,
  { worker }: RunPorts,
): boolean {
  return (
    claim?.worker === worker &&
    claim.dispatchSequence === BigInt(sequence) &&
    claim.attempt === attempt
  );
}

function claimFact(
  { head: { claim } }: RunState,
  { sequence, attempt }: DispatchDelivery,
  { worker }: RunPorts,
  more: Pick<RunClaimed, "previousOwner" | "traceparent">,
): Fact {
  const epoch = (claim?.epoch ?? 0) + 1;
  const value = { worker, epoch, dispatchSequence: BigInt(sequence), attempt, ...more };
  return fact(rootScope, { case: "runClaimed", value });
}

/** Returns what became of the worker that owned the run until now. */
async function previousOwnerOf(
  { head: { claim, parkedAt } }: RunState,
  { ownerFate }: RunPorts,
  signal: AbortSignal,
): Promise<OwnerFate> {
  if (claim === undefined || parkedAt !== undefined) return OwnerFate.UNSPECIFIED;
  return fates[await ownerFate(claim.worker, signal)];
}

const fates = {
  alive: OwnerFate.ALIVE,
  ended: OwnerFate.ENDED,
  crashed: OwnerFate.CRASHED,
} as const satisfies Record<Fate, OwnerFate>;

async function preparation(
  state: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  if (state.head.prepared !== undefined || state.head.created === undefined) return [];
  const starting = fact(rootScope, { case: "status", value: { status: RunStatus.STARTING } });
  return [starting, ...(await prepareRun(state, state.head.created, ports, signal))];
}
