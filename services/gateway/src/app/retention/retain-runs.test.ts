import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Projection } from "@reeve/contracts/projection";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import { unrecorded } from "@reeve/jetstream/audit/system-acts";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { expect, test } from "vitest";
import { appendFacts, kindsOf, memoryPorts } from "../../../test/support/memory-ports.ts";
import { retainRuns } from "./retain-runs.ts";

const dayMs = 86_400_000;
const now = Date.parse("2026-06-01T12:00:00Z");
const never = new AbortController().signal;
const log = createLogger("test", "silent");

test("of two gateways, one deletes the expired runs, each as a whole, and continues as runs expire", async () => {
  const ports = memoryPorts();
  const ages = { run_expired1: 3, run_expires1: 1.5, run_waiting1: null };
  for (const [run, days] of Object.entries(ages)) {
    const status = days === null ? RunStatus.WAITING : RunStatus.COMPLETED;
    await appendFacts(
      ports.log,
      run,
      { case: "runCreated", value: { tenant: "acme" } },
      { case: "status", value: { status } },
    );
    const ended = days === null ? {} : { endedAt: timestampFromMs(now - days * dayMs) };
    await ports.runs.put(`acme.${run}`, create(RunSchema, { runId: run, status, ...ended }), never);
  }
  const clock = new ManualClock(now);
  const states = new MemoryTable<Projection>();
  const end = new AbortController();
  const policy = { maxAgeMs: 2 * dayMs, maxRuns: undefined };
  const recorded: string[] = [];
  const recordAct: RecordAct = async ({ tenant, subject, action, resources }, perform) => {
    const isDone = await perform();
    if (isDone) recorded.push(`${tenant} ${subject} ${action} ${resources[0]?.id}`);
    return isDone;
  };
  const gateways = ["one", "two"].map((process) =>
    retainRuns({ ...ports, states, recordAct }, policy, { process, clock, log }, end.signal).catch(
      () => undefined,
    ),
  );
  const rows = async () => (await ports.runs.list("", never)).map(({ key }) => key);
  const until = async (left: readonly string[]) => {
    for (;;) {
      if (JSON.stringify(await rows()) === JSON.stringify(left)) return;
      await clock.advance(1_000);
    }
  };
  await until(["acme.run_expires1", "acme.run_waiting1"]);
  expect(await kindsOf(ports.log, "run_expired1")).toEqual([]);
  await clock.advance(dayMs);
  await until(["acme.run_waiting1"]);
  expect(await kindsOf(ports.log, "run_waiting1")).toEqual(["runCreated", "status"]);
  end.abort();
  await Promise.all(gateways);
  expect(recorded).toEqual([
    "acme reeve/retention run.delete run_expired1",
    "acme reeve/retention run.delete run_expires1",
  ]);
  const deletions = await states.get("retention", never);
  expect(deletions?.record.rebuild).toMatchObject({ failed: 0n });
});

test("an expired run is kept without an error until the run that continues it has expired", async () => {
  const ports = memoryPorts();
  const retry = retryIdOf("acme", "run_failed001");
  for (const [run, days] of [["run_failed001", 3] as const, [retry, 1] as const]) {
    const created = { case: "runCreated", value: { tenant: "acme" } } as const;
    const status = RunStatus.ERROR;
    await appendFacts(ports.log, run, created, { case: "status", value: { status } });
    const row = { runId: run, status, endedAt: timestampFromMs(now - days * dayMs) };
    await ports.runs.put(`acme.${run}`, create(RunSchema, row), never);
  }
  const clock = new ManualClock(now);
  const states = new MemoryTable<Projection>();
  const end = new AbortController();
  const policy = { maxAgeMs: 2 * dayMs, maxRuns: undefined };
  const deleting = retainRuns(
    { ...ports, states, recordAct: unrecorded },
    policy,
    { process: "one", clock, log },
    end.signal,
  ).catch(() => undefined);
  while ((await ports.runs.list("", never)).length > 0) await clock.advance(60_000);
  expect(clock.now()).toBeGreaterThan(now + dayMs);
  end.abort();
  await deleting;
  expect((await states.get("retention", never))?.record.rebuild).toMatchObject({ failed: 0n });
});
