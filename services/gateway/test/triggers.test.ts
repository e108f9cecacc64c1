import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { AgentService } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { RunService } from "@reeve/contracts/run";
import type { ScheduleSchema } from "@reeve/contracts/trigger";
import {
  FiringOutcome,
  TriggerRecordSchema,
  TriggerService,
  TriggerSpecSchema,
} from "@reeve/contracts/trigger";
import { openTable } from "@reeve/jetstream/table/nats";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { authorized, protocols, refusalOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

const never = new AbortController().signal;
const hourly = { case: "schedule", value: { cron: "0 * * * *" } } as const;
const spec = { triggerId: "nightly", agentId: "writer", input: "report of {{time}}" };

let bench: GatewayBench;
let clients: ReturnType<typeof clientsOf>;

beforeAll(async () => {
  bench = await openGatewayBench({ REEVE_MAX_TRIGGERS: "4" });
  clients = clientsOf(tokens.acme);
  const agent = { id: "writer", name: "writer", model: "known" };
  await clients.agents.createAgent({ spec: agent });
});
afterAll(() => bench[Symbol.asyncDispose]());

function clientsOf(token: string) {
  const transport = authorized(protocols.gRPC(bench.url), `Bearer ${token}`);
  return {
    agents: createClient(AgentService, transport),
    runs: createClient(RunService, transport),
    triggers: createClient(TriggerService, transport),
  };
}

/** Waits until the trigger has fired, and returns its firings. */
async function firingsOf(triggerId: string) {
  return await vi.waitFor(
    async () => {
      const { firings } = await clients.triggers.listFirings({ triggerId });
      expect(firings[0]?.outcome).toBe(FiringOutcome.STARTED);
      return firings;
    },
    { timeout: 20_000, interval: 50 },
  );
}

// Requirement: TRIG-1
test("two gateways, one of them new, start one run for a time that has come", async () => {
  await bench.startAnother();
  const { trigger } = await clients.triggers.createTrigger({ spec: { ...spec, source: hourly } });
  expect(trigger).toMatchObject({ revision: 1, owner: { subject: "ann" }, hookPath: "" });
  const records = await openTable(bench.nats, TriggerRecordSchema);
  const key = bucketOf(TriggerRecordSchema).key({ tenant: "acme", trigger: "nightly" });
  const row = await records.get(key, never);
  if (row?.record.trigger === undefined) throw new Error("the trigger is not stored");
  // As if the hour had come 20 seconds ago.
  const nextFiringAt = timestampFromMs(Date.now() - 20_000);
  const due = { ...row.record, trigger: { ...row.record.trigger, nextFiringAt } };
  await records.put(key, due, never);
  const firings = await firingsOf("nightly");
  expect(firings).toHaveLength(1);
  const listed = async () =>
    (await clients.runs.listRuns({ filter: { labels: { trigger: "nightly" } } })).runs;
  await expect.poll(listed).not.toEqual([]);
  const runs = await listed();
  expect(runs.map(({ runId }) => runId)).toEqual([firings[0]?.runId]);
  expect((await clients.triggers.getTrigger({ triggerId: "nightly" })).trigger).toMatchObject({
    lastFiring: { runId: firings[0]?.runId },
  });
});

// Requirement: TRIG-4
test("a webhook starts one run for its id over HTTP, and a forged one is refused without details", async () => {
  const source = { case: "webhook", value: {} } as const;
  const input = "triage {{body.title}}";
  const { trigger, webhookSecret } = await clients.triggers.createTrigger({
    spec: { ...spec, triggerId: "hook", input, source },
  });
  const post = async (path: string, secret: string, body: string) => {
    const now = new Date();
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign("msg_1", now, body),
    };
    const response = await fetch(`${bench.url}${path}`, { method: "POST", headers, body });
    return { status: response.status, answer: (await response.json()) as Record<string, string> };
  };
  const path = trigger?.hookPath ?? "";
  const first = await post(path, webhookSecret, '{"title":"Broken"}');
  expect(first).toMatchObject({ status: 200, answer: { outcome: "FIRING_OUTCOME_STARTED" } });
  const again = await post(path, webhookSecret, '{"title":"Broken"}');
  expect(again.answer["runId"]).toBe(first.answer["runId"]);
  const { run } = await clients.runs.getRun({ runId: first.answer["runId"] ?? "" });
  expect(run).toMatchObject({ inputPreview: "triage Broken", labels: { trigger: "hook" } });

  const forged = `whsec_${Buffer.alloc(32).toString("base64")}`;
  const refusals = [
    await post(path, forged, "{}"),
    await post("/v1/hooks/acme/gone", webhookSecret, "{}"),
    await post("/v1/hooks/gone/hook", webhookSecret, "{}"),
    await post("/v1/hooks/UPPER/..", webhookSecret, "{}"),
  ];
  const refused = { status: 401, answer: { error: "the signature of the webhook is not valid" } };
  expect(refusals).toEqual([refused, refused, refused, refused]);
  expect(await post(path, webhookSecret, "x".repeat(262_145))).toMatchObject({ status: 413 });
  expect((await fetch(`${bench.url}${path}`)).status).toBe(405);
  // The secret is nowhere in what a caller reads.
  const listed = await clients.triggers.listTriggers({});
  expect(
    JSON.stringify(listed, (_, value: unknown) => (typeof value === "bigint" ? 0 : value)),
  ).not.toContain(webhookSecret.slice(6, 20));
});

type SpecInit = MessageInitShape<typeof TriggerSpecSchema>;
const schedule = (value: MessageInitShape<typeof ScheduleSchema>): SpecInit => ({
  source: { case: "schedule", value },
});

test.each<readonly [string, SpecInit, string]>([
  ["a second field", schedule({ cron: "* * * * * *" }), "spec.schedule.cron MALFORMED"],
  [
    "an unknown zone",
    schedule({ cron: "0 * * * *", timeZone: "Mars" }),
    "spec.schedule.time_zone UNKNOWN_TIME_ZONE",
  ],
  ["a day that never comes", schedule({ cron: "0 0 30 2 *" }), "spec.schedule.cron NEVER"],
  [
    "more jitter than time",
    schedule({ cron: "* * * * *", jitter: { seconds: 61n } }),
    "spec.schedule.jitter TOO_LARGE",
  ],
  ["no source", {}, "spec.source REQUIRED"],
  [
    "an unknown placeholder",
    { source: hourly, input: "{{secret}}" },
    "spec.input UNKNOWN_PLACEHOLDER",
  ],
  [
    "a reserved label",
    { source: hourly, labels: { trigger: "x" } },
    'spec.labels["trigger"] RESERVED',
  ],
])("a trigger with %s is refused, and says which field is wrong", async (_, changes, field) => {
  const refused = { ...create(TriggerSpecSchema, { ...spec, ...changes }), triggerId: "bad" };
  const { kind, fields } = await refusalOf(clients.triggers.createTrigger({ spec: refused }));
  expect([kind, fields]).toEqual(["invalid", [field]]);
});

test("a tenant has no more triggers than it may have", async () => {
  const given = { ...spec, source: hourly };
  await clients.triggers.createTrigger({ spec: { ...given, triggerId: "third" } });
  await clients.triggers.createTrigger({ spec: { ...given, triggerId: "fourth" } });
  const fifth = clients.triggers.createTrigger({ spec: { ...given, triggerId: "fifth" } });
  expect(await refusalOf(fifth)).toMatchObject({ kind: "exhausted", reason: "QUOTA_EXCEEDED" });
  const again = clients.triggers.createTrigger({ spec: { ...given, triggerId: "third" } });
  expect(await refusalOf(again)).toMatchObject({ kind: "exhausted" });
  await clients.triggers.deleteTrigger({ triggerId: "fourth" });
  const taken = clients.triggers.createTrigger({ spec: { ...given, triggerId: "third" } });
  expect(await refusalOf(taken)).toMatchObject({ kind: "exists", reason: "TRIGGER_EXISTS" });
});

test("an update needs the revision that its caller has seen, and keeps the kind of source", async () => {
  const given = { ...spec, triggerId: "third", source: hourly, input: "changed" };
  const { trigger } = await clients.triggers.updateTrigger({ spec: given, revision: 1 });
  expect(trigger).toMatchObject({ revision: 2, spec: { input: "changed" } });
  const outdated = clients.triggers.updateTrigger({ spec: given, revision: 1 });
  expect(await refusalOf(outdated)).toMatchObject({ reason: "REVISION_CONFLICT" });
  const source = { case: "webhook", value: {} } as const;
  const other = clients.triggers.updateTrigger({ spec: { ...given, source } });
  expect((await refusalOf(other)).fields).toEqual(["spec.source IMMUTABLE"]);
  const rotated = clients.triggers.rotateTriggerSecret({ triggerId: "third" });
  expect(await refusalOf(rotated)).toMatchObject({ reason: "TRIGGER_WITHOUT_WEBHOOK" });
});

test("a trigger that is fired now starts a run of the caller, once for each request", async () => {
  const bob = clientsOf(tokens.acmeToo);
  const request = { triggerId: "third", requestId: "r" };
  const { firing } = await bob.triggers.fireTrigger(request);
  const { run } = await clients.runs.getRun({ runId: firing?.runId ?? "" });
  expect(run).toMatchObject({ startedBy: "bob", inputPreview: "changed" });
  expect((await bob.triggers.fireTrigger(request)).firing?.runId).toBe(firing?.runId);
});
