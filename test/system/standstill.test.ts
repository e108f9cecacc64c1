import { setTimeout } from "node:timers/promises";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { OwnerFate, RunStatus } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import type { Instance } from "./support/deployment.ts";
import { eventOf, expectGapless, firstCall, started, watchToEnd } from "./support/watching.ts";

const never = new AbortController().signal;
/** How long a process stands still, and then works: a third of the ack wait. */
const pauseMs = 3_000;
const settings = { REEVE_ACK_WAIT_MS: "9000" };

/** Stops a process for half of the time, until `signal` aborts. */
async function standStill(
  deployment: Deployment,
  instance: Instance,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    deployment.signal(instance, "SIGSTOP");
    await setTimeout(pauseMs);
    deployment.signal(instance, "SIGCONT");
    await setTimeout(pauseMs);
  }
}

async function startRun(deployment: Deployment, agentId: string, input = "go"): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input });
  return run?.runId ?? "";
}

function claimsOf(events: readonly RunEvent[]) {
  return events.flatMap(({ event }) => (event.case === "runClaimed" ? [event.value] : []));
}

/** Resolves when a run has been claimed `epoch` times. */
async function claimed(deployment: Deployment, runId: string, epoch: number): Promise<void> {
  const log = await openRunLog(deployment.nats);
  for await (const { events } of log.follow({ tenant: "acme", run: runId }, 0, never)) {
    if (claimsOf(events).some((claim) => claim.epoch >= epoch)) return;
  }
}

/**
 * The deployments of all tests. The first process that stands still does so when all of them have started, so that nothing but
 * the pause delays it.
 */
const resources = new AsyncDisposableStack();
const deployments: Deployment[] = [];
const hasEnded = Promise.withResolvers<void>();
const isAsked = Promise.withResolvers<void>();
let halting: Deployment;
let replaced: Deployment;
let calling: Deployment;

beforeAll(async () => {
  const model = resources.use(
    await startPlayingServer(async () => {
      isAsked.resolve();
      if (model.asked.length === 1) return { hangs: true };
      await hasEnded.promise;
      return { text: "done" };
    }),
  );
  const environment = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.url };
  const starting = [settings, { ...settings, ...environment }, {}].map(async (each) => {
    const deployment = await Deployment.start(each);
    deployments.push(deployment);
    return deployment;
  });
  const [first, second, third] = await Promise.all(starting);
  if (first === undefined || second === undefined || third === undefined) {
    throw new Error("three deployments were started");
  }
  [halting, replaced, calling] = [first, second, third];
  await Promise.all([halting.start("runtime-2"), calling.start("toolhost-2")]);
});

afterAll(async () => {
  await Promise.all(deployments.map((each) => each[Symbol.asyncDispose]()));
  await resources.disposeAsync();
});

// Requirement: DUR-3
describe.concurrent("a process that stands still", { timeout: 300_000 }, () => {
  test("for half of the time keeps its runs, and finishes them", async () => {
    const deployment = halting;
    await deployment.agent("linger");
    const end = new AbortController();
    const runs = await Promise.all(Array.from({ length: 4 }, () => startRun(deployment, "linger")));
    for (const runId of runs) await eventOf(deployment, runId, "text");
    const still = [standStill(deployment, "runtime", end.signal)];
    await setTimeout(pauseMs);
    still.push(standStill(deployment, "runtime-2", end.signal));
    const logs = await Promise.all(runs.map((runId) => watchToEnd(deployment, runId)));
    end.abort();
    await Promise.all(still);
    for (const events of logs) {
      expectGapless(events);
      expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
      expect(claimsOf(events)).toHaveLength(1);
      expect(events.map(({ event }) => event.case)).not.toContain("textVoided");
    }
  });

  test("and ends in order after another took its run leaves the run with that one", async () => {
    const deployment = replaced;
    await deployment.agent("answer", { model: "openai:any" });
    const runId = await startRun(deployment, "answer");
    await isAsked.promise;
    await deployment.start("runtime-2");
    deployment.signal("runtime", "SIGSTOP");
    await claimed(deployment, runId, 2);
    const ending = deployment.end("runtime");
    deployment.signal("runtime", "SIGCONT");
    await ending;
    hasEnded.resolve();
    const events = await watchToEnd(deployment, runId);
    expectGapless(events);
    expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
    expect(claimsOf(events)).toMatchObject([{ attempt: 1 }, { previousOwner: OwnerFate.ALIVE }]);
  });

  test("for 2.5 seconds keeps its call, although the call is not idempotent", async () => {
    const deployment = calling;
    await deployment.agent("sleep", {
      permissionClasses: ["execute"],
      deepAgent: { allowedImports: fromJson(ListValueSchema, ["time"]) },
    });
    const runId = await startRun(deployment, "sleep", "6");
    await started(deployment, runId, await firstCall(deployment, runId));
    // One of them has the call.
    for (const host of ["toolhost", "toolhost-2"] as const) {
      deployment.signal(host, "SIGSTOP");
      await setTimeout(2_500);
      deployment.signal(host, "SIGCONT");
    }
    const events = await watchToEnd(deployment, runId);
    const results = events.flatMap(({ event }) => (event.case === "toolResult" ? event.value : []));
    expect(results).toMatchObject([{ success: true }]);
  });
});
