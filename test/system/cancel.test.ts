import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { openCallJournal, openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endsRun, eventSelection } from "@reeve/gateway/app/event-selection";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import type { CancelPhase } from "./support/cancel-phases.ts";
import { cancelPhases, phaseAgents } from "./support/cancel-phases.ts";
import { Deployment } from "./support/deployment.ts";
import { ended, processTree } from "./support/process-tree.ts";
import { eventOf, expectGapless, firstCall, watchToEnd } from "./support/watching.ts";

const never = new AbortController().signal;
/** How long the processes of a run may outlive its cancellation. */
const maxOutlivedMs = 1_000;
const isVisible = eventSelection({ case: "detailed", value: true });

let models: PlayingServer;
let play: (asked: Asked) => Played;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer((asked) => play(asked));
  deployment = await Deployment.start({
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
    // The processes of a spare sandbox do not name the run that uses it.
    REEVE_SANDBOX_SPARE: "0",
  });
  await deployment.start("gateway-2");
  for (const [id, spec] of Object.entries(phaseAgents)) {
    await deployment.agent(id, { ...spec, model: "openai:played" });
  }
  const deepAgent = { allowedImports: fromJson(ListValueSchema, ["time"]) };
  await deployment.agent("sleep", { permissionClasses: ["execute"], deepAgent });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

async function startRun(agentId: string, input: string): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input });
  return run?.runId ?? "";
}

/** Resolves when a run reaches the phase. */
async function reached(runId: string, { isThere, times = 1 }: CancelPhase): Promise<void> {
  const log = await openRunLog(deployment.nats);
  let seen = 0;
  for await (const { events } of log.follow({ tenant: "acme", run: runId }, 0, never)) {
    seen += events.filter(isThere).length;
    if (seen >= times) return;
  }
}

/** Waits until each call's journal records the withdrawal, and checks the journal. */
async function withdrawn(runId: string, events: readonly RunEvent[]): Promise<void> {
  const journal = await openCallJournal(deployment.nats);
  for (const { event } of events) {
    if (event.case !== "toolCallStarted") continue;
    const key = { tenant: "acme", run: runId, call: event.value.callId };
    const facts: (string | undefined)[] = [];
    for await (const stretch of journal.follow(key, 0, never)) {
      facts.push(...stretch.events.map(({ fact }) => fact.case));
      if (facts.includes("cancelled")) break;
    }
    expect(facts.filter((fact) => fact !== "progress" && fact !== "started")).toEqual([
      "cancelled",
    ]);
  }
}

/** Checks the whole log, records after the end included: exactly one `cancelled`, and no visible event after it. */
async function expectNothingAfterEnd(runId: string): Promise<void> {
  const log = await openRunLog(deployment.nats);
  const { events } = await log.read({ tenant: "acme", run: runId }, emptyTail, never);
  const end = events.findIndex(endsRun);
  expect(events[end]?.event.value).toMatchObject({ status: RunStatus.CANCELLED });
  expect(events.slice(end + 1).filter((event) => isVisible(event) || endsRun(event))).toEqual([]);
  expect(events.filter(({ event }) => event.case === "cancelRequested")).toHaveLength(1);
}

async function expectCallsClosed(events: readonly RunEvent[]): Promise<void> {
  const { approvals } = deployment.reeve;
  for (const { event } of events) {
    const approvalId = event.case === "approval" ? event.value.approval?.approvalId : undefined;
    if (approvalId === undefined) continue;
    const refused = await approvals
      .decideApproval({ approvalId, approved: true })
      .catch(failureFrom);
    expect(refused).toMatchObject({ kind: "precondition" });
    await expect
      .poll(async () => (await approvals.getApproval({ approvalId })).approval?.state)
      .toBe(ApprovalState.WITHDRAWN);
  }
}

/** Cancels a run in its phase. Returns its id and how long its processes outlived the request. */
async function cancelIn(phase: CancelPhase): Promise<{ runId: string; outlivedMs: number }> {
  play = phase.play;
  await phase.setUp?.(deployment);
  const runId = await startRun(phase.agent, phase.name);
  await reached(runId, phase);
  const processes = processTree(runId);
  expect(processes.length).toBeGreaterThanOrEqual(phase.processes ?? 0);
  await phase.breakDown?.(deployment);
  // The cancellation ends the watch immediately: nothing in this run would end without it.
  const watched = watchToEnd(deployment, runId);
  const startedAt = performance.now();
  const cancelling = phase.cancel?.(deployment, runId);
  await (cancelling ?? deployment.reeve.runs.cancelRun({ runId, reason: "enough" }));
  await ended(processes);
  const outlivedMs = performance.now() - startedAt;
  const events = await watched;
  expectGapless(events);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.CANCELLED });
  await phase.mend?.(deployment);
  await withdrawn(runId, events);
  await expect.poll(() => models.speaking, { timeout: 10_000 }).toBe(0);
  await expectCallsClosed(events);
  const again = await deployment.reeve.runs.cancelRun({ runId });
  expect(again.run?.status).toBe(RunStatus.CANCELLED);
  expect(processTree(runId)).toEqual([]);
  return { runId, outlivedMs };
}

// Requirement: CAN-1, CAN-2, CAN-3
describe("a cancelled run ends together with everything that it started", () => {
  test.each(cancelPhases)("$name", async (phase) => {
    const tries = phase.processes === undefined ? 1 : 3;
    const outlived: number[] = [];
    // The guarantee holds on a machine with free capacity; a busy machine may exceed the limit once.
    while (outlived.length < tries && !outlived.some((ms) => ms <= maxOutlivedMs)) {
      const { runId, outlivedMs } = await cancelIn(phase);
      outlived.push(outlivedMs);
      await expectNothingAfterEnd(runId);
    }
    expect(Math.min(...outlived)).toBeLessThanOrEqual(
      phase.processes === undefined ? Infinity : maxOutlivedMs,
    );
  });
});

describe("cancelling a run", () => {
  // Requirement: CAN-4
  test("happens when the last watcher leaves, only if the run requested that", async () => {
    const { runs } = deployment.reeve;
    const watchedOnce = async (cancelOnDisconnect: boolean) => {
      const input = "20";
      const { run } = await runs.startRun({ agentId: "sleep", input, cancelOnDisconnect });
      const runId = run?.runId ?? "";
      const goingAway = new AbortController();
      const watched = runs.watchRun({ runId }, { signal: goingAway.signal });
      for await (const { events } of watched) {
        if (events.some(({ event }) => event.case === "toolCall")) break;
      }
      goingAway.abort();
      return runId;
    };
    const [kept, given] = await Promise.all([watchedOnce(false), watchedOnce(true)]);
    // Reads the log directly: another watcher would keep the run alive.
    await eventOf(deployment, given, "cancelRequested");
    expect((await runs.getRun({ runId: given })).run?.status).toBe(RunStatus.CANCELLED);
    expect((await runs.getRun({ runId: kept })).run?.status).toBe(RunStatus.RUNNING);
    await firstCall(deployment, kept);
    await runs.cancelRun({ runId: kept });
    for (const runId of [kept, given]) await expectNothingAfterEnd(runId);
  });

  test("is refused after the run's end and changes nothing", async () => {
    const runId = await startRun("sleep", "0");
    await watchToEnd(deployment, runId);
    const refused = await deployment.reeve.runs.cancelRun({ runId }).catch(failureFrom);
    expect(refused).toMatchObject({
      kind: "precondition",
      message: `run ${runId} has ended: completed`,
    });
  });
});
