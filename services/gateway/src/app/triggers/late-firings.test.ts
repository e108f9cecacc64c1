import { Role } from "@reeve/contracts/access/role";
import { ErrorReason } from "@reeve/contracts/error";
import { FiringOutcome, OnOverlap } from "@reeve/contracts/trigger";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { ann } from "../../../test/support/memory-ports.ts";
import type { MemoryTriggers } from "../../../test/support/memory-triggers.ts";
import {
  firingsOf,
  hourMs,
  memoryTriggers,
  nightly,
  specOf,
  startMs,
  storeTrigger,
} from "../../../test/support/memory-triggers.ts";
import { createTrigger, deleteTrigger, updateTrigger } from "./manage-triggers.ts";
import { fireDue } from "./schedule/fire-due.ts";
import { receiveWebhook } from "./webhook/receive-webhook.ts";

const never = new AbortController().signal;
const fail = () =>
  Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store is gone"));
const hook = {
  input: "T {{body.a}}",
  onOverlap: OnOverlap.SKIP,
  source: { case: "webhook", value: {} },
} as const;

async function send(ports: MemoryTriggers, secret: string, id: string, body = '{"a":"b"}') {
  const at = new Date(ports.nowMs);
  const signature = new Webhook(secret).sign(id, at, body);
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const request = { webhookId: id, timestamp, signature, body: Buffer.from(body) };
  return await receiveWebhook(ports, nightly, request, never);
}

async function outcomesOf(ports: MemoryTriggers) {
  return (await firingsOf(ports)).map(({ outcome }) => outcome);
}

// Requirement: TRIG-5
test("a webhook whose gateway died before its run is skipped if a later one has an open run", async () => {
  const ports = await memoryTriggers();
  const { webhookSecret } = await storeTrigger(ports, hook);
  const { log } = ports.gateway;
  const gone = Object.assign(Object.create(log) as typeof log, { read: fail, append: fail });
  const dying = { ...ports, gateway: { ...ports.gateway, log: gone } };
  await expect(send(dying, webhookSecret, "m1")).rejects.toMatchObject({ kind: "unavailable" });
  expect(await outcomesOf(ports)).toEqual([FiringOutcome.STARTING]);
  ports.nowMs += 61_000;
  await send(ports, webhookSecret, "m2");
  ports.nowMs += 60_000;
  expect(await send(ports, webhookSecret, "m1")).toMatchObject({
    firing: { outcome: FiringOutcome.SKIPPED },
  });
  expect(await outcomesOf(ports)).toEqual([FiringOutcome.SKIPPED, FiringOutcome.STARTED]);
  expect(ports.gateway.dispatch).toHaveLength(1);
});

// Requirement: TRIG-3
test("a firing that was decided for an owner starts no run of the next one", async () => {
  const ports = await memoryTriggers();
  const bob = { ...ann, subject: "bob", roles: new Set([Role.RUNNER]) };
  ports.subjects.set("bob", bob.roles);
  await createTrigger(ports, bob, specOf({ input: "instructions of bob" }), never);
  ports.nowMs = startMs + hourMs;
  const { firings } = ports;
  const gone = Object.assign(Object.create(firings) as typeof firings, { get: fail });
  await expect(fireDue({ ...ports, firings: gone }, nightly, never)).rejects.toThrow("gone");
  await updateTrigger(ports, ann, { spec: specOf({ input: "of ann" }), revision: 0 }, never);
  ports.nowMs += 15_000;
  await fireDue(ports, nightly, never);
  const [firing] = await firingsOf(ports);
  expect(firing?.outcome).toBe(FiringOutcome.FAILED);
  expect(firing?.problem).toContain("another owner");
  expect(ports.gateway.dispatch).toHaveLength(0);
});

// Requirement: TRIG-4
test("a gateway that has not seen a deletion fires nothing, and keeps the history of the next trigger", async () => {
  const ports = await memoryTriggers();
  const first = await storeTrigger(ports, hook);
  const old = await ports.records.get("acme.nightly", never);
  const late = { ...ports, known: Object.assign(() => [], { get: () => old?.record }) };
  await deleteTrigger(ports, nightly, never);
  expect(await send(late, first.webhookSecret, "o1")).toEqual({ kind: "refused" });
  const second = await storeTrigger(ports, hook);
  expect(await send(late, first.webhookSecret, "o2")).toEqual({ kind: "refused" });
  await send(ports, second.webhookSecret, "n1");
  expect(await send(late, first.webhookSecret, "o3")).toEqual({ kind: "refused" });
  await send(ports, second.webhookSecret, "n2");
  expect(await outcomesOf(ports)).toEqual([FiringOutcome.STARTED, FiringOutcome.SKIPPED]);
  expect(ports.gateway.dispatch).toHaveLength(1);
});

test("a body may begin with a byte order mark", async () => {
  const ports = await memoryTriggers();
  const { webhookSecret } = await storeTrigger(ports, hook);
  const received = await send(ports, webhookSecret, "m1", '\uFEFF{"a":"b"}');
  const run = received.kind === "fired" ? received.firing.runId : "";
  const { events } = await ports.gateway.log.read({ tenant: "acme", run }, emptyTail, never);
  expect(events[0]?.event).toMatchObject({ case: "runCreated", value: { input: "T b" } });
});
