import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { Code, ConnectError } from "@connectrpc/connect";
import { FileKind, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { RunStatus } from "@reeve/contracts/run";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Table } from "@reeve/jetstream/table/port";
import { programFile } from "@reeve/platform/test/support/program-file";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { watchToEnd } from "./support/watching.ts";

const run = promisify(execFile);
const signal = new AbortController().signal;

const asked: Asked[] = [];

/** Writes or reads a file as instructed, and answers with the result. */
function play(request: Asked): Played {
  asked.push(request);
  const { messages } = request;
  const last = messages.at(-1);
  const [verb, path = "", content = ""] = last?.text.split(" ") ?? [];
  if (last?.role !== "user" || verb === "hello") return { text: last?.text ?? "" };
  const args = verb === "write" ? { path, content } : { path };
  return { text: "", calls: [{ name: `${verb}_file`, args }] };
}

let models: PlayingServer;
let deployment: Deployment;
let records: Table<WorkspaceRecord>;

beforeAll(async () => {
  models = await startPlayingServer(play);
  deployment = await Deployment.start({
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
    REEVE_WORKSPACE_SAVE_MS: "0",
  });
  const model = "openai:played";
  await deployment.agent("clerk", { model });
  await deployment.agent("brief", { model, maxRounds: 1 });
  await deployment.agent("sharer", { model, deepAgent: { workspaceScope: "thread" } });
  records = await openTable(deployment.nats, WorkspaceRecordSchema);
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

/** Gives an agent an instruction. Returns the run and its final output. */
async function says(input: string, agentId = "clerk", threadId = "") {
  const request = { agentId, input, ...(threadId !== "" && { threadId }) };
  const started = await deployment.reeve.runs.startRun(request);
  const runId = started.run?.runId ?? "";
  await watchToEnd(deployment, runId);
  const { run: ended } = await deployment.reeve.runs.getRun({ runId });
  return { runId, output: ended?.output };
}

/** Resolves when the workspace has left its host, which happens only after it is saved. */
async function isAway(id: string): Promise<void> {
  for await (const change of records.watch("acme", signal)) {
    if (change.kind === "written" && change.row.record.id === id) {
      if (change.row.record.place === "") return;
    }
  }
}

async function read(runId: string, path: string, part: object = {}) {
  const { files } = deployment.reeve;
  const chunks: Uint8Array[] = [];
  for await (const { part: given } of files.readFile({ runId, path, ...part }, { signal })) {
    if (given.case === "chunk") chunks.push(given.value);
  }
  return Buffer.concat(chunks).toString();
}

test("files of an ended run leave the host and can still be read, listed, and written", async () => {
  const { runId } = await says("write notes/a.txt hello");
  await isAway(runId);
  const { files } = deployment.reeve;
  const listed = await files.listFiles({ runId, recursive: true });
  expect(listed.entries.map(({ path, kind }) => [path, kind])).toEqual([
    ["notes", FileKind.FOLDER],
    ["notes/a.txt", FileKind.FILE],
  ]);
  expect(await read(runId, "notes/a.txt")).toBe("hello");
  expect(await read(runId, "notes/a.txt", { offset: 1n, length: 3n })).toBe("ell");
  const content = new Uint8Array(300_000).fill(120);
  await files.writeFile({ runId, path: "large", source: { case: "content", value: content } });
  expect(await read(runId, "large")).toBe("x".repeat(300_000));
  const first = await files.listFiles({ runId, pageSize: 1 });
  expect(first.entries.map(({ path }) => path)).toEqual(["large"]);
  const rest = await files.listFiles({ runId, pageToken: first.nextPageToken });
  expect(rest).toMatchObject({ entries: [{ path: "notes" }], nextPageToken: "" });
});

test("a run that failed continues in another one, with its files and without repeating a call", async () => {
  const { runs } = deployment.reeve;
  const failed = await says("write a.txt hello", "brief", "retried");
  const { run } = await runs.retryRun({ runId: failed.runId });
  const runId = run?.runId ?? "";
  expect((await runs.retryRun({ runId: failed.runId })).run?.runId).toBe(runId);
  const events = await watchToEnd(deployment, runId);
  expect(events.filter(({ event }) => event.case === "toolCall")).toEqual([]);
  expect((await runs.getRun({ runId })).run).toMatchObject({
    status: RunStatus.COMPLETED,
    output: expect.stringContaining("a.txt") as string,
    origin: { runId: failed.runId },
  });
  expect(await read(runId, "a.txt")).toBe("hello");
  // Its thread has the input twice, and its model read it once.
  expect(asked.at(-1)?.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  await expect(runs.retryRun({ runId })).rejects.toThrow(/has not failed: completed/);
});

async function codeOf(asked: Promise<unknown>): Promise<Code | undefined> {
  return await asked.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );
}

test("file errors are reported by kind", async () => {
  const { runId } = await says("write a.txt hello");
  expect(await codeOf(read(runId, "nothing"))).toBe(Code.NotFound);
  expect(await codeOf(read(runId, "../../etc/passwd"))).toBe(Code.InvalidArgument);
  expect(await codeOf(read(runId, "a.txt", { offset: 2n ** 63n }))).toBe(Code.InvalidArgument);
  const idle = await says("hello");
  expect(await codeOf(read(idle.runId, "a.txt"))).toBe(Code.NotFound);
  expect(await codeOf(read("run_00000000000000000000000000", "a.txt"))).toBe(Code.NotFound);
});

// Requirement: KIT-10
test("runs of a thread share their files if the agent is configured so, until the thread is deleted", async () => {
  await says("write a.txt shared", "sharer", "desk");
  expect((await says("read a.txt", "sharer", "desk")).output).toBe("shared");
  expect((await says("read a.txt", "clerk", "desk")).output).toContain("does not exist");
  expect((await says("read a.txt", "sharer", "other")).output).toContain("does not exist");
  expect(await records.get("acme.thread-desk", signal)).toBeDefined();
  await deployment.reeve.threads.deleteThread({ threadId: "desk" });
  expect(await records.get("acme.thread-desk", signal)).toBeUndefined();
});

/** Returns the output of `reeve files`. */
async function reeve(...args: readonly string[]): Promise<string> {
  const where = ["--url", deployment.url, "--token", deployment.token];
  const { stdout } = await run(process.execPath, [
    programFile("reeve"),
    ...where,
    "files",
    ...args,
  ]);
  return stdout;
}

test("the command line lists, reads, and writes files of any size", async () => {
  const { runId } = await says("write a.txt hello");
  const folder = await mkdtemp(join(tmpdir(), "reeve-files-"));
  expect(await reeve("list", runId)).toMatch(/SIZE +PATH\n5 B +a\.txt\n/);
  expect(JSON.parse(await reeve("list", runId, "--json"))).toMatchObject({ path: "a.txt" });
  expect(await reeve("read", runId, "a.txt")).toBe("hello");
  expect(JSON.parse(await reeve("read", runId, "a.txt", "--json"))).toMatchObject({
    path: "a.txt",
  });
  const large = join(folder, "large");
  await writeFile(large, "y".repeat(700_000));
  await reeve("write", runId, "in/large", large);
  expect(await read(runId, "in/large")).toHaveLength(700_000);
  await rm(folder, { recursive: true });
});

test("without a toolhost, the error says that none answers", async () => {
  const { runId } = await says("write a.txt hello");
  await deployment.end("toolhost");
  const asked = deployment.reeve.files.listFiles({ runId });
  await expect(asked).rejects.toMatchObject({ code: Code.Unavailable });
  await expect(asked).rejects.toThrow("no toolhost with a sandbox answers");
});
