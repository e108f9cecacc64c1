import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { DispatchSchema, RunStatus } from "@reeve/contracts/run";
import { openDispatchQueue } from "@reeve/jetstream/queue/dispatch";
import { failActivity } from "@reeve/runtime/fail-activity";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestTemporal, temporalPrograms } from "../support/temporal.ts";
import { Deployment } from "./support/deployment.ts";
import { TemporalOperator } from "./support/temporal-client.ts";
import { canonicalFamilies, canonicalTrace, traceOf } from "./support/traces.ts";
import {
  approve,
  eventOf,
  eventWith,
  expectCompleted,
  expectGapless,
  firstCall,
  started,
  watchToEnd,
} from "./support/watching.ts";

/** Of workflows that earlier versions executed. Only added to. */
const histories = join(import.meta.dirname, "support/temporal-histories");
const programs = await temporalPrograms();
const skipped = programs.kind === "missing" ? ` (skipped: ${programs.reason})` : "";
/** Short, so that the run of a killed worker goes to another one soon. */
const settings = { REEVE_ACK_WAIT_MS: "2000" };

describe.skipIf(skipped !== "")(`on Temporal, a run${skipped}`, () => {
  let temporal: TestTemporal;
  let deployment: Deployment;
  let operator: TemporalOperator;

  beforeAll(async () => {
    // A few owners fill a history.
    temporal = await TestTemporal.start(programs, { historyEvents: 20 });
    deployment = await Deployment.start({ ...settings, ...defined(temporal.settings) });
    operator = await TemporalOperator.connect(temporal.settings);
    await deployment.agent("search", { mcpServers: ["srv"] });
    await deployment.agent("publish", {
      permissionClasses: ["execute"],
      hitlTools: ["publish_report"],
      deepAgent: { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) },
    });
  });

  afterAll(async () => {
    await operator[Symbol.asyncDispose]();
    await deployment[Symbol.asyncDispose]();
    await temporal[Symbol.asyncDispose]();
  });

  async function startRun(agentId: string): Promise<string> {
    const request = { agentId, input: "go", executor: "temporal" };
    const { run } = await deployment.reeve.runs.startRun(request);
    return run?.runId ?? "";
  }

  /** Checks that the code of a run of `publish` ran once, and returns its events. */
  async function expectPublished(runId: string): Promise<readonly RunEvent[]> {
    const events = await watchToEnd(deployment, runId);
    expectCompleted(events);
    const calls = events.filter(({ event }) => event.case === "toolResult");
    expect(calls).toHaveLength(2);
    const { artifacts } = await deployment.reeve.artifacts.listArtifacts({ runId });
    expect(artifacts.map(({ sizeBytes }) => sizeBytes)).toEqual(["ran\n".length]);
    return events;
  }

  // Requirement: EVT-2, EVT-3, DUR-7
  test("produces the canonical trace", async () => {
    const runId = await startRun("search");
    const events: RunEvent[] = [];
    const selection = {
      case: "families" as const,
      value: { families: [...canonicalFamilies] },
    };
    for await (const { events: more } of deployment.reeve.runs.watchRun({ runId, selection })) {
      events.push(...more);
    }
    expect(traceOf(events)).toEqual(canonicalTrace);
    await expect
      .poll(async () => (await operator.executions(runId)).map(({ status }) => status))
      .toEqual(["COMPLETED"]);
  });

  test("that names another executor is refused", async () => {
    const request = { agentId: "search", input: "go", executor: "nats" };
    await expect(deployment.reeve.runs.startRun(request)).rejects.toThrow(
      'executor "nats" is not available here',
    );
  });

  // Requirement: DUR-3
  test("whose worker is killed during a call in the sandbox continues with that call", async () => {
    const runId = await startRun("publish");
    await started(deployment, runId, await firstCall(deployment, runId));
    await deployment.kill("runtime");
    await deployment.start("runtime");
    await approve(deployment, runId);
    await expectPublished(runId);
  });

  // Requirement: DUR-3
  test("whose worker is known to be dead is given out again at once, and so is no run of another worker", async () => {
    const runId = await startRun("publish");
    await started(deployment, runId, await firstCall(deployment, runId));
    const worker = await operator.workerOf(runId);
    // That worker lives, so it gets the run itself, as another one would.
    for (const dead of ["runtime-other", worker, "runtime-other"]) {
      await failActivity(operator.service, "default", { worker: dead, run: runId });
    }
    await approve(deployment, runId);
    await expectPublished(runId);
    expect(await operator.failures(runId)).toEqual([`the worker ${worker} is dead`]);
  });

  // Requirement: DUR-3
  test("continues when Temporal and its worker are killed while it waits for a person", async () => {
    const runId = await startRun("publish");
    await eventOf(deployment, runId, "runParked");
    await deployment.kill("runtime");
    await temporal.kill();
    await approve(deployment, runId);
    await deployment.start("runtime");
    await temporal.restart();
    await expectPublished(runId);
  });

  // Requirement: DUR-3
  test("continues while Temporal is away, and its worker keeps it", async () => {
    const runId = await startRun("publish");
    await started(deployment, runId, await firstCall(deployment, runId));
    await temporal.kill();
    await eventOf(deployment, runId, "runParked");
    await approve(deployment, runId);
    await temporal.restart();
    const events = await expectPublished(runId);
    expect(events.filter(({ event }) => event.case === "textVoided")).toEqual([]);
  });

  test("that starts while Temporal is away is queued, and completes when it is back", async () => {
    await temporal.kill();
    const runId = await startRun("search");
    expect((await deployment.reeve.runs.getRun({ runId })).run?.status).toBe(RunStatus.QUEUED);
    await temporal.restart();
    expectCompleted(await watchToEnd(deployment, runId));
  });

  // Requirement: CAN-3
  test("is cancelled with its workflow, and its workflow ends with it", async () => {
    const runId = await startRun("publish");
    await started(deployment, runId, await firstCall(deployment, runId));
    await operator.workflow(runId).cancel();
    const events = await watchToEnd(deployment, runId);
    expectGapless(events);
    expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.CANCELLED });
    const cancelled = await startRun("publish");
    await eventOf(deployment, cancelled, "runParked");
    await deployment.reeve.runs.cancelRun({ runId: cancelled });
    await expect
      .poll(async () => {
        const shown = await Promise.all([runId, cancelled].map((id) => operator.executions(id)));
        return shown.map((executions) => executions.at(-1)?.status);
      })
      .toEqual(["COMPLETED", "COMPLETED"]);
  });

  test("whose workflow is terminated gets a new one, which continues it", async () => {
    const runId = await startRun("publish");
    await eventOf(deployment, runId, "runParked");
    await operator.workflow(runId).terminate();
    await approve(deployment, runId);
    await expectPublished(runId);
  });

  test("that has ended is not changed by a dispatch that comes late", async () => {
    const runId = await startRun("search");
    const events = await watchToEnd(deployment, runId);
    await expect
      .poll(async () => (await operator.executions(runId)).map(({ status }) => status))
      .toEqual(["COMPLETED"]);
    const late = { sequence: 1, afterSequence: 0, traceparent: "" };
    await expect(operator.workflow(runId).signal("dispatched", late)).rejects.toThrow("completed");
    const queue = await openDispatchQueue(deployment.nats, { ackWaitMs: 2_000 });
    const dispatch = create(DispatchSchema, { tenant: "acme", runId });
    await queue.publish(dispatch, { dedupeId: `${runId}:late` }, new AbortController().signal);
    await expect
      .poll(async () => (await operator.executions(runId)).map(({ status }) => status))
      .toEqual(["COMPLETED", "COMPLETED"]);
    expect(await watchToEnd(deployment, runId)).toEqual(events);
  });

  test("that waits often continues in new workflows, whose histories stay short", async () => {
    const runId = await startRun("publish");
    for (let round = 1; round <= 4; round++) {
      await parked(runId, round);
      await deployment.reeve.runs.sendMessage({ runId, text: `note ${round}` });
    }
    await parked(runId, 5);
    await approve(deployment, runId);
    await expectPublished(runId);
    await expect
      .poll(async () => (await operator.executions(runId)).map(({ status }) => status))
      .toEqual(["CONTINUED_AS_NEW", "CONTINUED_AS_NEW", "COMPLETED"]);
    for (const { history } of await operator.executions(runId)) {
      expect(history.length).toBeLessThan(40);
    }
  });

  // Requirement: DUR-7
  test.each(readdirSync(histories))(
    "replays the history %s, which another version of its workflow may have recorded",
    async (file) => {
      const replaying = operator.replay(readFileSync(join(histories, file)));
      await expect(replaying).resolves.toBeUndefined();
    },
  );

  test("whose history says something else is found by the replay", async () => {
    const [file = ""] = readdirSync(histories);
    const recorded = readFileSync(join(histories, file));
    const renamed = operator.replay(recorded, (events) => {
      for (const { activityTaskScheduledEventAttributes: scheduled } of events) {
        if (scheduled?.activityType.name === "ownRun") scheduled.activityType.name = "other";
      }
    });
    await expect(renamed).rejects.toThrow("Nondeterminism");
  });

  /** Resolves when a run was parked for the `count`th time. */
  async function parked(runId: string, count: number): Promise<void> {
    let seen = 0;
    await eventWith(deployment, runId, ({ event }) => {
      if (event.case === "runParked") seen++;
      return seen === count;
    });
  }
});

function defined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
