import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { logLiveness } from "@reeve/run/liveness/liveness";
import { beforeEach, expect, test } from "vitest";
import { hasOpenRun } from "./open-runs.ts";
import { never } from "../../test/support/memory-workspaces.ts";
import type { RunLiveness } from "./workspace-ports.ts";

type RunFact = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;
type ThreadFact = NonNullable<MessageInitShape<typeof ThreadEventSchema>["event"]>;

let runs = memoryRunLog();
let threads = memoryThreadLog();
let listed: RunLiveness = "unknown";

beforeEach(() => {
  runs = memoryRunLog();
  threads = memoryThreadLog();
  listed = "unknown";
});

async function writeRun(...facts: readonly RunFact[]) {
  await write("run_1", ...facts);
}

async function write(run: string, ...facts: readonly RunFact[]) {
  const events = facts.map((event, at) =>
    create(RunEventSchema, { runId: run, sequence: at + 1, event }),
  );
  await runs.append({ tenant: "acme", run }, emptyTail, events, never);
}

async function writeThread(...facts: readonly ThreadFact[]) {
  const events = facts.map((event, at) =>
    create(ThreadEventSchema, { threadId: "t", sequence: at + 1, event }),
  );
  await threads.append({ tenant: "acme", thread: "t" }, emptyTail, events, never);
}

const stateOfRun = (_: string, run: string) =>
  Promise.resolve(run === "run_1" ? listed : "unknown");

function isOpen(id: string) {
  const liveness = logLiveness({ runs, threads });
  return hasOpenRun({ tenant: "acme", id }, { liveness, stateOfRun }, never);
}

const created = { case: "runCreated", value: {} } as const;
const parked = { case: "runParked", value: {} } as const;
const completed = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
const turn = [
  { case: "turnQueued", value: { runId: "run_1" } },
  { case: "turnStarted", value: { runId: "run_1" } },
] as const;

test("a run that the index does not know is open until its log says otherwise", async () => {
  expect(await isOpen("run_1")).toBe(false);
  await writeRun(created, parked);
  expect(await isOpen("run_1")).toBe(true);
});

test("a run whose log has its end is not open", async () => {
  await writeRun(created, completed);
  expect(await isOpen("run_1")).toBe(false);
});

test("a run that has ended is open while a run that continues it is", async () => {
  listed = "ended";
  const retry = retryIdOf("acme", "run_1");
  await write(retry, created, completed);
  expect(await isOpen("run_1")).toBe(false);
  await write(retryIdOf("acme", retry), created, parked);
  expect(await isOpen("run_1")).toBe(true);
});

test("a run that is gone is open while a run that continued it meanwhile is", async () => {
  await write(retryIdOf("acme", "run_1"), created, parked);
  expect(await isOpen("run_1")).toBe(true);
});

test("a thread is open while one of its runs waits for a person", async () => {
  expect(await isOpen("thread-t")).toBe(false);
  await writeThread(...turn);
  await writeRun(created, parked);
  expect(await isOpen("thread-t")).toBe(true);
});

test("a thread is not open when its turns have ended, or their runs have", async () => {
  await writeThread(...turn, { case: "turnEnded", value: { runId: "run_1" } });
  expect(await isOpen("thread-t")).toBe(false);
  threads = memoryThreadLog();
  await writeThread(...turn);
  listed = "ended";
  expect(await isOpen("thread-t")).toBe(false);
});
