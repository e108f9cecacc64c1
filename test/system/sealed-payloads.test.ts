import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { openConnection } from "@reeve/client";
import { programFile } from "@reeve/platform/test/support/program-file";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Asked, Played } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { watchToEnd } from "./support/watching.ts";

/** In everything that a tenant stores. */
const canary = "canary-9f31-of-the-tenants";
const otherToken = "other-token-0123456789";
const deleted = { reason: ErrorReason.TENANT_KEY_DELETED, kind: "precondition" };

/** Writes a file, publishes it, asks for a to-do, and says the canary. */
function play({ messages }: Asked): Played {
  const results = messages.filter(({ role }) => role === "tool").length;
  const input = messages.findLast(({ role }) => role === "user")?.text ?? "";
  if (input.startsWith("talk")) return { text: `${canary} said` };
  const write = { name: "write_file", args: { path: "report.md", content: `${canary} file` } };
  if (results === 0) return { text: `${canary} first`, calls: [write] };
  if (results === 1) return { calls: [{ name: "publish_report", args: { path: "report.md" } }] };
  if (results === 2) return { calls: [{ name: "add_todo", args: { text: `${canary} to do` } }] };
  return { text: `${canary} last` };
}

const resources = new AsyncDisposableStack();
let deployment: Deployment;
let other: ReturnType<typeof openConnection>;
let keys: string;
/** A rotation of the key of globex, which works meanwhile. */
let rotation: Promise<string>;

/** Runs `reeve tenants` as the operator. Returns what it says. */
async function tenants(...args: readonly string[]): Promise<string> {
  const options = { env: deployment.operatorEnvironment };
  return (
    await promisify(execFile)(process.execPath, [programFile("reeve"), "tenants", ...args], options)
  ).stderr;
}

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "reeve-keys-"));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  keys = join(folder, "keys");
  await mkdir(keys, { mode: 0o700 });
  const models = resources.use(await startPlayingServer(play));
  deployment = resources.use(
    await Deployment.start({
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: models.url,
      REEVE_ENCRYPTION_KEYS: keys,
      REEVE_TOKENS: `test-token-0123456789=acme/tester,${otherToken}=globex/gus`,
    }),
  );
  other = openConnection({ address: deployment.url, token: otherToken, ca: undefined });
  resources.defer(() => other[Symbol.dispose]());
  await deployment.agent("writer", {
    model: "openai:any",
    instructions: `You know ${canary}.`,
    permissionClasses: ["execute"],
    hitlTools: ["add_todo"],
  });
  await other.agents.createAgent({ spec: { id: "talker", name: "talker", model: "openai:any" } });
  rotation = tenants("rotate-key", "globex");
}, 120_000);

afterAll(() => resources.disposeAsync());

/** Returns the approval for which a run waits. */
async function waiting(runId: string): Promise<Approval> {
  for await (const events of deployment.reeve.runs.watchRun({ runId })) {
    for (const { event } of events.events) {
      const approval = event.case === "approval" ? event.value.approval : undefined;
      if (approval?.state === ApprovalState.PENDING) return approval;
    }
  }
  throw new Error(`${runId} ended without an approval`);
}

function isDeletedFailure(value: unknown): boolean {
  return value instanceof Failure && value.reason === deleted.reason;
}

/** Returns the paths of the files that contain the canary. */
function filesWithCanary(): readonly string[] {
  const found = readdirSync(deployment.folder, { recursive: true, withFileTypes: true });
  return found
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => readFileSync(path).includes(canary));
}

async function talk(): Promise<RunStatus | undefined> {
  const { run } = await other.runs.startRun({ agentId: "talker", input: `talk ${canary}` });
  for await (const _ of other.runs.watchRun({ runId: run?.runId ?? "" }));
  return (await other.runs.getRun({ runId: run?.runId ?? "" })).run?.status;
}

test("everything works with keys, and no file of NATS has what tenants stored", async () => {
  const { reeve } = deployment;
  const { run } = await reeve.runs.startRun({
    agentId: "writer",
    input: `${canary} asked`,
    threadId: "t1",
  });
  const runId = run?.runId ?? "";
  const { approvalId, callDigest } = await waiting(runId);
  await reeve.approvals.decideApproval({ approvalId, callDigest, approved: true });
  const events = await watchToEnd(deployment, runId);
  expect(
    JSON.stringify(events, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    ),
  ).toContain(`${canary} last`);
  const { messages } = await reeve.threads.listThreadMessages({ threadId: "t1" });
  expect(messages.map(({ text }) => text)).toContain(`${canary} asked`);
  const { artifacts } = await reeve.artifacts.listArtifacts({ runId });
  expect(artifacts).toMatchObject([{ sizeBytes: canary.length + 5 }]);
  expect(await talk()).toBe(RunStatus.COMPLETED);
  // The files of a workspace that is in use are files of the toolhost.
  expect(filesWithCanary().filter((path) => !path.includes("/workspaces/"))).toEqual([]);
  for (const tenant of ["acme", "globex"]) {
    expect((await stat(join(keys, `${tenant}.json`))).mode & 0o777).toBe(0o600);
  }
});

test("without the key of a tenant its data is unreadable, and others work on", async () => {
  const { reeve } = deployment;
  const { run } = await reeve.runs.startRun({ agentId: "writer", input: `${canary} asked` });
  const runId = run?.runId ?? "";
  await waiting(runId);
  const reads: readonly (() => Promise<unknown>)[] = [
    () => reeve.runs.getRun({ runId }),
    () => reeve.runs.listRuns({}),
    () => reeve.threads.listThreadMessages({ threadId: "t1" }),
    () => reeve.agents.listAgents({}),
    () => reeve.approvals.listApprovals({}),
    () => reeve.runs.startRun({ agentId: "writer", input: "again" }),
  ];
  const failures = () => Promise.all(reads.map((read) => read().catch(failureFrom)));

  // The services know the key for ten minutes. New processes do not.
  await rename(join(keys, "acme.json"), join(keys, "acme.away"));
  const services = ["gateway", "approvals"] as const;
  await Promise.all(services.map((name) => deployment.kill(name)));
  await Promise.all(services.map((name) => deployment.start(name)));
  for (const failure of await failures()) expect(failure).toMatchObject({ kind: "unavailable" });
  expect(await talk()).toBe(RunStatus.COMPLETED);
  const listed = async () => (await other.runs.listRuns({})).runs.length;
  await expect.poll(listed, { timeout: 30_000 }).toBe(2);
  expect((await other.approvals.listApprovals({})).approvals).toEqual([]);

  await rename(join(keys, "acme.away"), join(keys, "acme.json"));
  expect(await tenants("delete-key", "acme", "--yes")).toMatch(/^deleted the key of acme/);
  const isDeleted = async () => (await failures()).every((each) => isDeletedFailure(each));
  await expect.poll(isDeleted, { timeout: 30_000 }).toBe(true);
  deployment.logged.length = 0;
  for (const failure of await failures()) expect(failure).toMatchObject(deleted);
  expect(await talk()).toBe(RunStatus.COMPLETED);
  const problems = deployment.logged.filter((line) => /"level":(50|60)/.test(line));
  // A service may learn of the deletion some seconds after the gateway.
  expect(problems.filter((line) => !line.includes("keys of tenants are not available"))).toEqual(
    [],
  );
});

test("a key that was rotated meanwhile decrypts what was stored before, and has no earlier version", async () => {
  expect(await rotation).toMatch(/^rotated the key of globex; data keys: 1\n/);
  const file: unknown = JSON.parse(await readFile(join(keys, "globex.json"), "utf8"));
  expect(file).toMatchObject({ keys: [{ version: "2" }] });
  const { runs } = await other.runs.listRuns({});
  expect(runs.map(({ status }) => status)).toEqual(runs.map(() => RunStatus.COMPLETED));
  const [first] = runs.slice(-1);
  const events = await Array.fromAsync(other.runs.watchRun({ runId: first?.runId ?? "" }));
  expect(
    JSON.stringify(events, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    ),
  ).toContain(`${canary} said`);
  expect(await talk()).toBe(RunStatus.COMPLETED);
});
