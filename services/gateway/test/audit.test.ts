import { toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AuditEvent } from "@reeve/contracts/audit";
import {
  AuditCredential_Kind,
  AuditEventSchema,
  AuditOutcome,
  AuditPhase,
} from "@reeve/contracts/audit";
import { Role } from "@reeve/contracts/access/role";
import { QueueKind } from "@reeve/contracts/operations";
import { openAuditTrail } from "@reeve/jetstream/audit/nats";
import { noTenant } from "@reeve/jetstream/audit/port";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent, specOf, unknownRun } from "./support/bench-with-agent.ts";
import { clientsOf, protocols, refusalOf } from "./support/clients.ts";
import { tokens, tokenWithRole } from "./support/gateway-bench.ts";

let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent({ REEVE_AUDIT_TENANT: "acme" });
});

afterAll(() => bench[Symbol.asyncDispose]());

type Filter = Parameters<typeof bench.acme.audit.listAuditEvents>[0];

async function eventsOf(filter: Filter): Promise<readonly AuditEvent[]> {
  return (await bench.acme.audit.listAuditEvents(filter)).events;
}

/** Returns the ends of calls that failed, newest first. */
async function failure(filter: Filter): Promise<readonly (string | undefined)[]> {
  const [event] = await eventsOf({ outcome: AuditOutcome.FAILED, ...filter });
  return [event?.subject, event?.code, event?.reason];
}

/** Returns the actions on a resource, oldest first. */
async function actionsOn(resourceId: string): Promise<readonly string[]> {
  return (await eventsOf({ resourceId })).map(({ action }) => action).toReversed();
}

async function watchesOf(resourceId: string): Promise<readonly (readonly [AuditPhase, string])[]> {
  const events = await eventsOf({ action: "run.watch", resourceId });
  return events.map(({ phase, code }) => [phase, code]);
}

async function failedSignIns(): Promise<readonly AuditEvent[]> {
  return await eventsOf({ withoutTenant: true, outcome: AuditOutcome.FAILED });
}

/** Everything that the trail stores of two tenants and of strangers, as text. */
async function storedText(): Promise<string> {
  const trail = await openAuditTrail(bench.nats);
  const signal = new AbortController().signal;
  const parts = await Promise.all(
    ["acme", "globex", noTenant].map((tenant) => trail.read(tenant, {}, signal)),
  );
  const events = parts.flatMap((part) => part.events.map(({ event }) => event));
  return events.map((event) => JSON.stringify(toJson(AuditEventSchema, event))).join("\n");
}

const attempt = (credential: string | undefined) =>
  refusalOf(clientsOf(bench.url, credential, "gRPC").runs.listRuns({}));

const asRole = (role: string) => clientsOf(bench.url, `Bearer ${tokenWithRole(role)}`, "gRPC");

describe("a change", () => {
  test("is in the trail before its answer, with who made it and what it changed", async () => {
    const text = "a prompt that nobody may find in the trail";
    const { run } = await bench.acme.runs.startRun({
      agentId: "known",
      input: text,
      threadId: "talk",
      labels: { secret: text },
    });
    const [event, ...more] = await eventsOf({ resourceId: run?.runId ?? "", action: "run.start" });
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      tenant: "acme",
      subject: "ann",
      credential: { kind: AuditCredential_Kind.TOKEN, id: "" },
      clientAddress: "127.0.0.1",
      method: "reeve.run.v1.RunService/StartRun",
      action: "run.start",
      resources: [
        { kind: "agent", id: "known" },
        { kind: "thread", id: "talk" },
        { kind: "run", id: run?.runId },
      ],
      code: "OK",
      reason: "",
      phase: AuditPhase.UNSPECIFIED,
      count: 1,
    });
    expect(event?.roles).toContain(Role.RUNNER);
    expect(event?.userAgent).toContain("connect-es");
    expect(event?.eventId).not.toBe("");
    const stored = await storedText();
    expect(stored).toContain("run.start");
    for (const secret of [text, tokens.acme]) expect(stored).not.toContain(secret);
  });

  test("is in the trail for every method that changes something", async () => {
    const { acme } = bench;
    await acme.agents.createAgent({ spec: specOf("changing") });
    await acme.agents.updateAgent({ spec: specOf("changing") });
    await acme.agents.deleteAgent({ agentId: "changing" });
    const content = new Uint8Array([1]);
    const { artifact } = await acme.artifacts.createArtifact({ header: { name: "a" }, content });
    const { artifactId = "" } = artifact ?? {};
    await acme.artifacts.deleteArtifact({ artifactId });
    const { memory } = await acme.memories.createMemory({ text: "likes tea" });
    const { memoryId = "" } = memory ?? {};
    await acme.memories.deleteMemory({ memoryId });
    const runId = await bench.queued();
    await acme.runs.sendMessage({ runId, text: "hello" });
    await acme.runs.cancelRun({ runId });
    await acme.runs.deleteRun({ runId });
    expect(await actionsOn("changing")).toEqual(["agent.create", "agent.update", "agent.delete"]);
    expect(await actionsOn(artifactId)).toEqual(["artifact.create", "artifact.delete"]);
    expect(await actionsOn(memoryId)).toEqual(["memory.create", "memory.delete"]);
    expect(await actionsOn(runId)).toEqual([
      "run.start",
      "run.message",
      "run.cancel",
      "run.delete",
    ]);
  });

  test("that fails is in the trail with its status, also when it is invalid or not permitted", async () => {
    await refusalOf(bench.acme.runs.cancelRun({ runId: unknownRun }));
    await refusalOf(bench.acme.agents.deleteAgent({ agentId: "Not an id" }));
    await refusalOf(asRole("viewer").runs.startRun({ agentId: "known", input: "hello" }));
    await refusalOf(bench.acme.approvals.decideApproval({ approvalId: "ap_1", approved: true }));
    expect(await failure({ resourceId: unknownRun })).toEqual([
      "ann",
      "NOT_FOUND",
      "RUN_NOT_FOUND",
    ]);
    expect(await failure({ resourceId: "Not an id" })).toEqual([
      "ann",
      "INVALID_ARGUMENT",
      "INVALID_REQUEST",
    ]);
    await expect
      .poll(() => failure({ subject: "viewer" }))
      .toEqual(["viewer", "PERMISSION_DENIED", "PERMISSION_DENIED"]);
    const [decision] = await eventsOf({ action: "approval.decide" });
    expect(decision).toMatchObject({
      resources: [{ kind: "approval", id: "ap_1" }],
      choices: { approved: true, break_glass: false },
      code: "UNAVAILABLE",
    });
  });
});

test("a stream is in the trail when it begins and when it ends, and one that fails at once only once", async () => {
  const runId = await bench.queued();
  const leave = new AbortController();
  const watch = bench.acme.runs.watchRun({ runId }, { signal: leave.signal });
  await refusalOf(
    (async function* () {
      for await (const message of watch) {
        leave.abort();
        yield message;
      }
    })(),
  );
  await refusalOf(bench.acme.runs.watchRun({ runId: unknownRun }));
  await expect
    .poll(() => watchesOf(runId))
    .toEqual([
      [AuditPhase.END, "CANCELLED"],
      [AuditPhase.BEGIN, "OK"],
    ]);
  await expect.poll(() => watchesOf(unknownRun)).toEqual([[AuditPhase.END, "NOT_FOUND"]]);
});

test("reads of lists are not in the trail", async () => {
  await asRole("approver").runs.listRuns({});
  // Only the first use of the credential.
  await expect
    .poll(() => eventsOf({ subject: "approver" }))
    .toMatchObject([{ action: "sign_in", code: "OK" }]);
});

describe("a sign-in that fails", () => {
  const token = "rv_token_with_more_than_32_characters";

  test("is in the trail of the deployment with its reason, and repetitions are counted", async () => {
    for (let count = 0; count < 5; count++) await attempt(`Bearer ${token}`);
    await attempt(undefined);
    await attempt("Basic dXNlcjpwYXNz");
    await expect.poll(failedSignIns).toHaveLength(3);
    const events = await failedSignIns();
    expect(events.map(({ reason }) => reason).toSorted()).toEqual([
      "MALFORMED",
      "MISSING",
      "UNKNOWN",
    ]);
    const unknown = events.find(({ reason }) => reason === "UNKNOWN");
    expect(unknown).toMatchObject({
      tenant: "",
      subject: "",
      action: "sign_in",
      code: "UNAUTHENTICATED",
      clientAddress: "127.0.0.1",
      credential: { id: expect.stringMatching(/^[0-9a-f]{12}$/) as string },
    });
    expect(await storedText()).not.toContain("rv_");
  });
});

describe("the list", () => {
  test("has pages, newest first, in a range of time", async () => {
    const since = Date.now();
    for (let index = 0; index < 7; index++) {
      await bench.acme.memories.createMemory({ text: `memory ${index}` });
    }
    const until = Date.now() + 1;
    const range = { startTime: timestampFromMs(since), endTime: timestampFromMs(until) };
    const times: bigint[] = [];
    let pageToken = "";
    do {
      const page = await bench.acme.audit.listAuditEvents({
        ...range,
        action: "memory",
        pageSize: 3,
        pageToken,
      });
      expect(page.events.length).toBeLessThanOrEqual(3);
      times.push(...page.events.map(({ time }) => (time?.seconds ?? 0n) * 1_000_000_000n));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(times).toHaveLength(7);
    expect(times).toEqual(times.toSorted((a, b) => Number(b - a)));
    const none = { endTime: timestampFromMs(since - 3_600_000) };
    expect(await eventsOf(none)).toEqual([]);
  });

  test("refuses a page token that it has not issued", async () => {
    const refusal = refusalOf(bench.acme.audit.listAuditEvents({ pageToken: "guess" }));
    expect(await refusal).toMatchObject({ kind: "invalid", reason: "INVALID_REQUEST" });
  });

  test("is in the trail itself", async () => {
    await asRole("operator").audit.listAuditEvents({});
    const [event] = await eventsOf({ subject: "operator", action: "audit.list" });
    expect(event).toMatchObject({ code: "OK" });
  });
});

test("every protocol is recorded the same way", async () => {
  for (const protocol of Object.keys(protocols) as (keyof typeof protocols)[]) {
    const { memories } = bench.as(protocol, `Bearer ${tokens.acmeToo}`);
    await memories.createMemory({ text: protocol });
  }
  const events = await eventsOf({ subject: "bob", action: "memory.create" });
  expect(events.map(({ code }) => code)).toEqual(Object.keys(protocols).map(() => "OK"));
});

test("operators of the operating tenant see the deployment, and nobody else does", async () => {
  const { queues, feeds, store, problems } = await bench.acme.operations.getDeployment({});
  expect(problems).toEqual([]);
  expect(queues.map(({ kind }) => kind)).toContain(QueueKind.RUNS);
  expect(feeds.map(({ name }) => name)).toEqual(["run-index", "thread-index"]);
  expect(store?.bytes).toBeGreaterThan(0n);
  const refused = { kind: "denied", reason: "PERMISSION_DENIED" };
  const { operations } = bench.globex;
  expect(await refusalOf(operations.getDeployment({}))).toMatchObject(refused);
  const all = { allTenants: true };
  expect(await refusalOf(operations.listModelActivity(all))).toMatchObject(refused);
  expect((await operations.listModelActivity({})).models).toEqual([]);
  const { credentials } = await operations.listCredentials({});
  expect(credentials.map(({ subject }) => subject)).toEqual(["ann"]);
});
