import type { Span } from "@opentelemetry/api";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { emptyTail } from "@reeve/jetstream/log/port";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { applyAll } from "../domain/state/apply.ts";
import type { Fact } from "../domain/state/fact.ts";
import { fact, rootScope } from "../domain/state/fact.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { initialState } from "../domain/state/run-state.ts";
import type { DispatchDelivery } from "../ports/ownership.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { appendFacts, failOversized } from "./append-facts.ts";
import type { ClaimedRun } from "./owned-run.ts";
import { prepareRun } from "../perform/prepare-run.ts";
import { startClaimSpan } from "../tracing/claim-span.ts";

/**
 * The run is ours; or there is nothing to own. `ended`: it has ended. `absent`: there is no such run. `owned`: its owner lives and sees all facts by itself.
 * `spent`: the message brought the run to where it rests, and has no more to say. `lost`: the same message was delivered
 * again since, and whoever has that delivery owns the run.
 */
export type Claim =
  | { readonly kind: "claimed"; readonly claimed: ClaimedRun }
  | { readonly kind: "ended" | "absent" | "owned" | "spent" | "lost"; readonly state: RunState };

/** How often a claim is tried again when others write at the same time. */
const maxAttempts = 20;
/** How often a run may be delivered before it is claimed ahead of all that its preparation takes. */
const maxUncounted = 5;

/**
 * Claims the run for the delivery of a dispatch message, with all that is known at once in the same batch: the starting
 * status, the preparation and the first step.
 */
export async function claimRun(
  key: RunKey,
  ticket: DispatchDelivery,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Claim> {
  let state = initialState;
  let tail = emptyTail;
  let parkedAt = 0;
  let span: Span | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const missed = await ports.log.read(key, tail, signal);
    state = applyAll(state, missed.events);
    tail = missed.tail;
    if (state.end !== undefined) return { kind: "ended", state };
    if (state.created === undefined) return { kind: "absent", state };
    parkedAt = missed.events.findLast(isPark)?.sequence ?? parkedAt;
    // Nothing came since it was parked: a message that came late, or twice.
    if (state.parked && parkedAt === state.sequence) return { kind: "spent", state };
    const taken = await takenBy(state, ticket, ports, signal);
    if (taken !== undefined) return { kind: taken, state };
    // Those who had this delivery before died over it, or failed: a claim by itself counts them.
    const isAlone = state.prepared === undefined && ticket.attempt > maxUncounted;
    const isNew = !isOurs(state, ticket, ports);
    if (isNew) span ??= startClaimSpan(state, ticket, ports.worker);
    const claim = isNew ? [claimFact(state, ticket, ports, traceparentOf(span))] : [];
    const prepared = isAlone && claim.length > 0 ? [] : await preparation(state, ports, signal);
    const facts = [...claim, ...prepared];
    const before = { state, tail };
    let written = await appendFacts(key, before, facts, ports, signal);
    if (written.kind === "oversized") {
      written = await appendFacts(key, before, failOversized(state, facts), ports, signal);
    }
    if (written.kind !== "appended") continue;
    ({ state, tail } = written);
    span?.end();
    if (state.end !== undefined) return { kind: "ended", state };
    if (state.prepared === undefined) continue;
    return { kind: "claimed", claimed: { ...written, key, epoch: state.claim?.epoch ?? 0 } };
  }
  throw new Error(`run ${key.run} could not be claimed: others wrote first ${maxAttempts} times`);
}

function isPark({ event }: RunEvent): boolean {
  return event.case === "runParked";
}

/** Why a delivery is no ticket to the run; undefined: it is one. */
async function takenBy(
  { claim, parked }: RunState,
  { sequence, attempt }: DispatchDelivery,
  { dispatch }: RunPorts,
  signal: AbortSignal,
): Promise<"owned" | "spent" | "lost" | undefined> {
  if (claim === undefined) return undefined;
  if (claim.dispatchSequence === BigInt(sequence)) {
    if (parked) return "spent";
    return claim.attempt > attempt ? "lost" : undefined;
  }
  if (parked) return undefined;
  // Another message means nothing to an owner, who sees every fact. One whose message is gone is not missed when it dies.
  const isHeld = await dispatch.holds(Number(claim.dispatchSequence), signal);
  return isHeld ? "owned" : undefined;
}

function isOurs(
  { claim }: RunState,
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
  state: RunState,
  { sequence, attempt }: DispatchDelivery,
  { worker }: RunPorts,
  traceparent: string,
): Fact {
  const epoch = (state.claim?.epoch ?? 0) + 1;
  const value = { worker, epoch, dispatchSequence: BigInt(sequence), attempt, traceparent };
  return fact(rootScope, { case: "runClaimed", value });
}

async function preparation(
  state: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  if (state.prepared !== undefined || state.created === undefined) return [];
  const starting = fact(rootScope, { case: "status", value: { status: RunStatus.STARTING } });
  return [starting, ...(await prepareRun(state, state.created, ports, signal))];
}
