import { Code, ConnectError } from "@connectrpc/connect";
import type { RunEvent, RunEventKind } from "@reeve/contracts/run";
import { EventFamily, RunStatus } from "@reeve/contracts/run";
import { openCallJournal, openRunLog } from "@reeve/jetstream/log/open";
import { expect } from "vitest";
import type { Deployment } from "./deployment.ts";

const never = new AbortController().signal;
/** The tenant of the deployment's token. */
const tenant = "acme";

/** Returns the next event of a kind in a run's log, from any writer. */
export async function eventOf(
  deployment: Deployment,
  runId: string,
  kind: RunEventKind,
): Promise<RunEvent> {
  return await eventWith(deployment, runId, ({ event }) => event.case === kind);
}

/** Returns the next event in a run's log that fulfills a condition, from any writer. */
export async function eventWith(
  { nats }: Deployment,
  runId: string,
  isWanted: (event: RunEvent) => boolean,
): Promise<RunEvent> {
  const log = await openRunLog(nats);
  for await (const { events } of log.follow({ tenant, run: runId }, 0, never)) {
    const found = events.find(isWanted);
    if (found !== undefined) return found;
  }
  throw new Error(`the log of ${runId} ended`);
}

/** Resolves when a toolhost has started to execute the call. */
export async function started({ nats }: Deployment, runId: string, callId: string): Promise<void> {
  const journal = await openCallJournal(nats);
  for await (const { events } of journal.follow({ tenant, run: runId, call: callId }, 0, never)) {
    if (events.some(({ fact }) => fact.case === "started")) return;
  }
}

/** Returns the id of a run's first call, once its model has requested it. */
export async function firstCall(deployment: Deployment, runId: string): Promise<string> {
  const { event } = await eventOf(deployment, runId, "toolCall");
  return event.case === "toolCall" ? event.value.callId : "";
}

/** Approves the run's pending approval. */
export async function approve(deployment: Deployment, runId: string): Promise<void> {
  const { event } = await eventOf(deployment, runId, "approval");
  const approvalId = event.case === "approval" ? (event.value.approval?.approvalId ?? "") : "";
  await deployment.reeve.approvals.decideApproval({ approvalId, approved: true });
}

/** Returns all events of a run to its end. Resumes after interruptions. */
export async function watchToEnd(
  { reeve }: Pick<Deployment, "reeve">,
  runId: string,
): Promise<readonly RunEvent[]> {
  const families = Object.values(EventFamily).filter(
    (family) => family !== EventFamily.UNSPECIFIED,
  );
  const seen: RunEvent[] = [];
  for (let interruptions = 0; interruptions < 200; interruptions++) {
    try {
      for await (const { events } of reeve.runs.watchRun({
        runId,
        afterSequence: seen.at(-1)?.sequence ?? 0,
        selection: { case: "families", value: { families } },
      })) {
        seen.push(...events);
      }
      return seen;
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unavailable) throw error;
    }
  }
  throw new Error(`run ${runId} did not end`);
}

/** Checks that the run completed, and that no event is missing or repeated. */
export function expectCompleted(events: readonly RunEvent[]): void {
  expectGapless(events);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
}

/**
 * Checks that no event is missing or repeated, and that exactly one terminal status comes last, whichever it is. Use
 * `expectCompleted` for a run that has to succeed.
 */
export function expectGapless(events: readonly RunEvent[]): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const ends = events.filter(({ event }) => event.case === "status" && event.value.status >= 5);
  expect(ends).toEqual([events.at(-1)]);
}
