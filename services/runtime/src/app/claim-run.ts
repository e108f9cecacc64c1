import { RunStatus } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/log/run-log";
import { emptyTail } from "@reeve/log/log";
import { applyAll } from "../domain/apply.ts";
import type { Fact } from "../domain/fact.ts";
import { fact, rootScope } from "../domain/fact.ts";
import type { RunState } from "../domain/run-state.ts";
import { initialState } from "../domain/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { appendFacts, endOversized } from "./append-facts.ts";
import type { Claimed } from "./owned-run.ts";
import { prepareRun } from "./prepare-run.ts";

/** The run is ours; or there is nothing to own: it has ended, or its owner lives and sees all facts by itself. */
export type Claim =
  | { readonly kind: "claimed"; readonly claimed: Claimed }
  | { readonly kind: "ended" | "owned"; readonly state: RunState };

/** How often a claim is tried again when others write at the same time. */
const mostAttempts = 20;

/**
 * Claims the run for the dispatch message `dispatchSequence`, with all that is known at once in the same batch: the
 * starting status, the preparation and the first step.
 */
export async function claimRun(
  key: RunKey,
  dispatchSequence: number,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Claim> {
  let state = initialState;
  let tail = emptyTail;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const missed = await ports.log.read(key, tail, signal);
    state = applyAll(state, missed.events);
    tail = missed.tail;
    if (state.created === undefined || state.end !== undefined) return { kind: "ended", state };
    if (isOwnedByAnother(state, dispatchSequence)) return { kind: "owned", state };
    const facts = await claimFacts(state, dispatchSequence, ports, signal);
    const before = { state, tail };
    let written = await appendFacts(key, before, facts, ports, signal);
    if (written.kind === "oversized") {
      written = await appendFacts(key, before, endOversized(state, facts), ports, signal);
    }
    if (written.kind !== "appended") continue;
    if (written.state.end !== undefined) return { kind: "ended", state: written.state };
    const epoch = written.state.claim?.epoch ?? 0;
    return { kind: "claimed", claimed: { ...written, key, epoch } };
  }
  throw new Error(`run ${key.run} could not be claimed: others wrote first ${mostAttempts} times`);
}

/** A delivery of another message means nothing to a claimed run: its owner sees every fact. */
function isOwnedByAnother({ claim, parked }: RunState, dispatchSequence: number): boolean {
  return claim !== undefined && !parked && claim.dispatchSequence !== BigInt(dispatchSequence);
}

async function claimFacts(
  state: RunState,
  dispatchSequence: number,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  const epoch = (state.claim?.epoch ?? 0) + 1;
  const claim = fact(rootScope, {
    case: "runClaimed",
    value: { worker: ports.worker, epoch, dispatchSequence: BigInt(dispatchSequence) },
  });
  if (state.prepared !== undefined || state.created === undefined) return [claim];
  const starting = fact(rootScope, { case: "status", value: { status: RunStatus.STARTING } });
  return [claim, starting, ...(await prepareRun(state, state.created, ports, signal))];
}
