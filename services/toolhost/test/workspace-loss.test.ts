import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { ToolResult, WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { openCallJournal } from "@reeve/jetstream/log/open";
import type { CallRequests } from "./support/call-requests.ts";
import { openCallRequests } from "./support/call-requests.ts";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Table } from "@reeve/jetstream/table/port";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolhostProcess } from "./support/toolhost-process.ts";
import type { RequestOptions } from "./support/toolhost.ts";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { factsUntilEnd, keyOf, requestOf, resultOf } from "./support/toolhost.ts";

const log = createLogger("test", "silent");
const signal = new AbortController().signal;
const resources = new AsyncDisposableStack();
let journal: CallJournal;
let requests: CallRequests;
let records: Table<WorkspaceRecord>;
let natsUrl: string;
let folder: string;

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  await chmod(folder, 0o711);
  const storeDir = join(folder, "nats");
  const server = resources.use(await startNatsServer({ storeDir, log }, signal));
  natsUrl = server.url;
  const nats = resources.use(await connectNats(natsUrl, { name: "test", log }, signal));
  journal = await openCallJournal(nats);
  requests = await openCallRequests(nats);
  records = await openTable(nats, WorkspaceRecordSchema);
});

afterAll(() => resources.disposeAsync());

let hosts = 0;

/** Starts a toolhost with a separate disk. It saves only when it ends, unless `saveMs` is given. */
async function host(saveAfterMs = 3_600_000) {
  const settings = { REEVE_WORKSPACE_SAVE_MS: String(saveAfterMs) };
  const disk = join(folder, `disk-${++hosts}`);
  const child = await startToolhostProcess({ natsUrl, folder: disk, settings }, resources);
  const ended = async (kind: "SIGKILL" | "SIGTERM") => {
    const exited = once(child, "exit");
    child.kill(kind);
    return await exited;
  };
  return { disk, ended };
}

let runs = 0;

/** Returns a new run, and functions that execute its calls. */
function run() {
  const runId = `run_${++runs}`;
  let calls = 0;
  const call = async (options: Omit<RequestOptions, "callId" | "runId">): Promise<ToolResult> => {
    const request = requestOf({ ...options, runId, callId: `${runId}-2-${calls++}` });
    await requests.publish(request, signal);
    return resultOf(await factsUntilEnd(journal, keyOf(request), signal));
  };
  return {
    runId,
    write: (path: string, content: string) => call({ name: "write_file", args: { path, content } }),
    read: (path: string) => call({ name: "read_file", args: { path } }),
  };
}

async function isSaved(runId: string): Promise<void> {
  for await (const change of records.watch("acme", signal)) {
    if (change.kind !== "written" || change.row.record.id !== runId) continue;
    const { revision, savedRevision } = change.row.record;
    if (savedRevision === revision) return;
  }
}

// Requirement: KIT-10
test("unsaved files of a killed toolhost are lost, and the loss is reported to the model once", async () => {
  const first = await host();
  const { runId, write, read } = run();
  expect(await write("a.txt", "one")).toMatchObject({
    isError: false,
    metadata: { workspaceRevision: 1, lostChanges: [] },
  });
  await first.ended("SIGKILL");
  const second = await host();
  const report = await read("a.txt");
  expect(report.content).toMatch(
    new RegExp(`^\\[the toolhost .* was lost: .*gone: ${runId}-2-0 \\(write_file\\)`),
  );
  expect(report.content).toContain("a.txt does not exist");
  expect(report.metadata?.lostChanges).toMatchObject([
    { callId: `${runId}-2-0`, tool: "write_file" },
  ]);
  const next = await write("a.txt", "two");
  expect(next.content).toBe("3 bytes written to a.txt");
  expect(next.metadata).toMatchObject({ workspaceRevision: 2, lostChanges: [] });
  expect(await read("a.txt")).toMatchObject({ content: "two" });
  await second.ended("SIGTERM");
});

// Requirement: KIT-10
test("saved files are available on another toolhost, whatever happened to the first", async () => {
  const first = await host(0);
  const { runId, write, read } = run();
  await write("deep/a.txt", "one");
  await isSaved(runId);
  await first.ended("SIGKILL");
  const second = await host();
  const there = await read("deep/a.txt");
  expect(there).toMatchObject({ content: "one", metadata: { lostChanges: [] } });
  await second.ended("SIGTERM");
});

test("a toolhost that ends gracefully saves its workspaces first", async () => {
  const first = await host();
  const { write, read } = run();
  await write("a.txt", "one");
  expect(await first.ended("SIGTERM")).toEqual([0, null]);
  const second = await host();
  expect(await read("a.txt")).toMatchObject({ content: "one", metadata: { lostChanges: [] } });
  await second.ended("SIGTERM");
});

test("a toolhost that restarts on its disk after it was killed continues with the files there", async () => {
  const first = await host();
  const { runId, write, read } = run();
  await write("a.txt", "one");
  await first.ended("SIGKILL");
  const child = await startToolhostProcess({ natsUrl, folder: first.disk }, resources);
  expect(await read("a.txt")).toMatchObject({ content: "one", metadata: { lostChanges: [] } });
  const row = await records.get(`acme.${runId}`, signal);
  expect(row?.record).toMatchObject({ folder: runId, revision: 1, snapshot: "" });
  child.kill("SIGTERM");
  await once(child, "exit");
});
