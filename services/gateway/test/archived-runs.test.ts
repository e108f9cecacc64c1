import { RunStatus } from "@reeve/contracts/run";
import type { LogArchiver } from "@reeve/jetstream/log/archive-port";
import { openArchiver } from "@reeve/jetstream/log/archiver";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
import { refusalOf } from "./support/clients.ts";

const never = new AbortController().signal;
let bench: BenchWithAgent;
let archiver: LogArchiver<RunKey>;

beforeAll(async () => {
  bench = await openBenchWithAgent();
  archiver = await openArchiver(bench.nats);
});

afterAll(() => bench[Symbol.asyncDispose]());

async function ended(requestId: string): Promise<string> {
  const { run } = await bench.acme.runs.startRun({ agentId: "known", input: "hello", requestId });
  const { runId = "" } = run ?? {};
  await bench.acme.runs.cancelRun({ runId });
  return runId;
}

/** Resolves when the row of a run says that it has ended: an export begins with the row, which follows the log. */
async function untilShown(runId: string): Promise<void> {
  const filter = { statuses: [RunStatus.CANCELLED] };
  const listed = async () => (await bench.acme.runs.listRuns({ filter })).runs;
  await expect.poll(listed).toContainEqual(expect.objectContaining({ runId }));
}

async function watched(runId: string): Promise<readonly unknown[]> {
  const events: unknown[] = [];
  for await (const batch of bench.acme.runs.watchRun({ runId })) events.push(...batch.events);
  return events;
}

async function exported(runId: string): Promise<readonly unknown[]> {
  return await Array.fromAsync(bench.acme.runs.exportRunLog({ runId }));
}

test("a client notices nothing of the archive: it reads, watches, exports, and starts again as before", async () => {
  const runId = await ended("again-1");
  await untilShown(runId);
  const before = { watched: await watched(runId), exported: await exported(runId) };
  expect(await archiver.archive({ tenant: "acme", run: runId }, never)).toBe("closed");
  expect({ watched: await watched(runId), exported: await exported(runId) }).toEqual(before);
  const { run } = await bench.acme.runs.getRun({ runId });
  expect(run?.status).toBe(RunStatus.CANCELLED);
  expect(await ended("again-1").catch(() => runId)).toBe(runId);
});

test("an archived run is deleted with its archive, and can be started again then", async () => {
  const runId = await ended("deleted-1");
  await archiver.archive({ tenant: "acme", run: runId }, never);
  expect(await bench.acme.runs.deleteRun({ runId })).toMatchObject({ existed: true });
  expect(await refusalOf(bench.acme.runs.getRun({ runId }))).toMatchObject({
    reason: "RUN_NOT_FOUND",
  });
  expect(await archiver.archive({ tenant: "acme", run: runId }, never)).toBe("nothing");
  expect(await ended("deleted-1")).toBe(runId);
  expect(await watched(runId)).not.toEqual([]);
});
