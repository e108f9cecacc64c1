import { Role } from "@reeve/contracts/access/role";
import { RunStatus } from "@reeve/contracts/run";
import { FiringOutcome, OnOverlap, TriggerState } from "@reeve/contracts/trigger";
import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { ann, appendFacts } from "../../../../test/support/memory-ports.ts";
import type { MemoryTriggers } from "../../../../test/support/memory-triggers.ts";
import {
  firingsOf,
  hourMs,
  memoryTriggers,
  nightly,
  specOf,
  startMs,
  storeTrigger,
  without,
} from "../../../../test/support/memory-triggers.ts";
import { pauseTrigger, resumeTrigger, rotateSecret, updateTrigger } from "../manage-triggers.ts";
import { maxMissingMs } from "../stop-trigger.ts";
import type { Received } from "./receive-webhook.ts";
import { receiveWebhook } from "./receive-webhook.ts";

const never = new AbortController().signal;
const hook = {
  input: "Triage {{body.issue.title}}",
  onOverlap: OnOverlap.ALLOW,
  source: { case: "webhook", value: {} },
} as const;

async function withHook() {
  const ports = await memoryTriggers();
  const { webhookSecret } = await storeTrigger(ports, hook);
  return { ports, secret: webhookSecret };
}

/** Sends a webhook that is signed at the time of the ports. */
async function send(
  ports: MemoryTriggers,
  secret: string,
  { id = "msg_1", body = '{"issue":{"title":"Broken"}}', to = {} } = {},
) {
  const at = new Date(ports.nowMs);
  const signature = new Webhook(secret).sign(id, at, body);
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const request = { webhookId: id, timestamp, signature, body: Buffer.from(body) };
  return await receiveWebhook(ports, { ...nightly, ...to }, request, never);
}

/** Returns the first event of the run of a webhook. */
async function createdBy(ports: MemoryTriggers, received: Received) {
  const run = received.kind === "fired" ? received.firing.runId : "";
  const { events } = await ports.gateway.log.read({ tenant: "acme", run }, emptyTail, never);
  return events[0]?.event;
}

test("a signed webhook starts a run of the owner with values of its body", async () => {
  const { ports, secret } = await withHook();
  expect(await createdBy(ports, await send(ports, secret))).toMatchObject({
    case: "runCreated",
    value: { input: "Triage Broken", startedBy: "ann" },
  });
});

// Requirement: TRIG-3
test("who gets a new secret becomes the owner, and so starts no runs of another person", async () => {
  const { ports } = await withHook();
  const runner = new Set([Role.RUNNER]);
  ports.subjects.set("bob", runner);
  const bob = { ...ann, subject: "bob", roles: runner };
  const secret = await rotateSecret(ports, bob, nightly.trigger, never);
  expect(await createdBy(ports, await send(ports, secret))).toMatchObject({
    value: { startedBy: "bob", startedByRoles: [Role.RUNNER] },
  });
});

// Requirement: TRIG-4
test("the same id means the same run, also concurrently, later, and with another body", async () => {
  const { ports, secret } = await withHook();
  const sent = await Promise.all([send(ports, secret), send(ports, secret), send(ports, secret)]);
  ports.nowMs += 200_000;
  const all = [...sent, await send(ports, secret), await send(ports, secret, { body: "{}" })];
  const runs = all.map((received) => received.kind === "fired" && received.firing.runId);
  expect(new Set(runs).size).toBe(1);
  expect(ports.gateway.dispatch.length).toBe(1);
  expect(await firingsOf(ports)).toHaveLength(1);
  await send(ports, secret, { id: "msg_2" });
  expect(ports.gateway.dispatch.length).toBe(2);
});

// Requirement: TRIG-4
test("an id whose firing the history has lost still means its run, while another run is open", async () => {
  const ports = await memoryTriggers();
  const { webhookSecret } = await storeTrigger(ports, { ...hook, onOverlap: OnOverlap.SKIP });
  const sent = async (id: string) => {
    const received = await send(ports, webhookSecret, { id });
    return received.kind === "fired" ? received.firing : undefined;
  };
  const first = await sent("msg_1");
  const completed = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
  await appendFacts(ports.gateway.log, first?.runId ?? "", completed);
  await sent("msg_2");
  const row = await ports.firings.get("acme.nightly", never);
  const [, ...firings] = row?.record.firings ?? [];
  if (row) await ports.firings.put("acme.nightly", { ...row.record, firings }, never);
  expect(await sent("msg_1")).toMatchObject({
    outcome: FiringOutcome.STARTED,
    runId: first?.runId,
  });
  // The run of the second one has not ended.
  expect((await sent("msg_3"))?.outcome).toBe(FiringOutcome.SKIPPED);
});

test("a body whose values make no input is refused, and leaves no firing", async () => {
  const ports = await memoryTriggers();
  const { webhookSecret } = await storeTrigger(ports, { ...hook, input: "{{body.a}}" });
  const received = await send(ports, webhookSecret);
  expect(received).toEqual({ kind: "malformed", problem: expect.stringContaining("is empty") });
  expect(await firingsOf(ports)).toEqual([]);
});

// Requirement: TRIG-4
test("a webhook for which a quota has no room starts its run when it is sent again", async () => {
  const ports = await memoryTriggers();
  const { webhookSecret } = await storeTrigger(ports, { ...hook, onOverlap: OnOverlap.SKIP });
  const message = "10 runs are open";
  const admit = () => Promise.reject(new Failure("exhausted", ErrorReason.QUOTA_EXCEEDED, message));
  const gateway = { ...ports.gateway, runQuotas: { ...ports.gateway.runQuotas, admit } };
  const full = await send({ ...ports, gateway }, webhookSecret);
  expect(full).toEqual({ kind: "full", problem: message, retryAfterMs: 60_000 });
  expect(await firingsOf(ports)).toEqual([]);
  const again = await send(ports, webhookSecret);
  expect(again).toMatchObject({ kind: "fired", firing: { outcome: FiringOutcome.STARTED } });
});

// Requirement: TRIG-4
test.each(["before it looks for the run", "after it has found no run"])(
  "a webhook without room in a quota leaves the run that another gateway starts %s",
  async (moment) => {
    const ports = await memoryTriggers();
    const { webhookSecret } = await storeTrigger(ports, { ...hook, onOverlap: OnOverlap.SKIP });
    const isBefore = moment.startsWith("before");
    const isStarted = Promise.withResolvers<void>();
    const isAnswered = Promise.withResolvers<void>();
    let other: Promise<Received> | undefined;
    const startElsewhere = async () => {
      const settle = async () => {
        isStarted.resolve();
        await isAnswered.promise;
      };
      other ??= send({ ...ports, firings: beforeUpdates(ports.firings, settle) }, webhookSecret);
      await isStarted.promise;
    };
    const admit = async () => {
      if (isBefore) await startElsewhere();
      throw new Failure("exhausted", ErrorReason.QUOTA_EXCEEDED, "10 runs are open");
    };
    const gateway = { ...ports.gateway, runQuotas: { ...ports.gateway.runQuotas, admit } };
    const full = { ...ports, gateway, firings: beforeUpdates(ports.firings, startElsewhere) };
    expect((await send(full, webhookSecret)).kind).toBe(isBefore ? "fired" : "full");
    isAnswered.resolve();
    expect(await other).toMatchObject({ firing: { outcome: FiringOutcome.STARTED } });
    expect(await firingsOf(ports)).toMatchObject([{ outcome: FiringOutcome.STARTED }]);
    const next = await send(ports, webhookSecret, { id: "msg_2" });
    expect(next).toMatchObject({ firing: { outcome: FiringOutcome.SKIPPED } });
    expect(ports.gateway.dispatch.length).toBe(1);
  },
);

/** Returns a table that waits for `wait` before each update. */
function beforeUpdates<Table extends object>(table: Table, wait: () => Promise<void>): Table {
  return new Proxy(table, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...given: readonly unknown[]) => {
        if (name === "update") await wait();
        return (await Reflect.apply(member, target, given)) as unknown;
      };
    },
  });
}

// Requirement: TRIG-4
test("nothing tells a wrong signature from a trigger, or a tenant, that does not exist", async () => {
  const { ports, secret } = await withHook();
  const wrong = `whsec_${Buffer.alloc(32).toString("base64")}`;
  const refused = { kind: "refused" };
  expect(await send(ports, wrong)).toEqual(refused);
  expect(await send(ports, secret, { to: { trigger: "other" } })).toEqual(refused);
  expect(await send(ports, secret, { to: { tenant: "globex" } })).toEqual(refused);
  expect(ports.gateway.dispatch.length).toBe(0);
});

test("a trigger with a schedule accepts no webhook", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  const anybody = `whsec_${Buffer.alloc(32).toString("base64")}`;
  expect(await send(ports, anybody)).toEqual({ kind: "refused" });
});

test("a flood of forged webhooks does not reach the store", async () => {
  const { ports } = await withHook();
  let reads = 0;
  const { get } = ports.records;
  ports.records.get = async (...given) => {
    reads += 1;
    return await get.apply(ports.records, given);
  };
  const wrong = `whsec_${Buffer.alloc(32).toString("base64")}`;
  for (let count = 0; count < 500; count++) {
    await send(ports, wrong, { to: { trigger: `t${count}` } });
  }
  expect(reads).toBeLessThanOrEqual(100);
});

test("more webhooks than a trigger may have in a second are refused", async () => {
  const { ports, secret } = await withHook();
  const kinds = [];
  for (let count = 0; count < 41; count++) {
    kinds.push((await send(ports, secret, { id: `msg_${count}` })).kind);
  }
  expect(kinds.indexOf("limited")).toBe(40);
});

test("a paused trigger starts nothing", async () => {
  const { ports, secret } = await withHook();
  await pauseTrigger(ports, nightly, never);
  expect(await send(ports, secret)).toMatchObject({ kind: "inactive" });
  expect(ports.gateway.dispatch.length).toBe(0);
});

// Requirement: TRIG-3
test("a webhook of a removed owner stops the trigger once no gateway has known the owner for minutes", async () => {
  const { ports, secret } = await withHook();
  ports.subjects.delete("ann");
  await expect(send(ports, secret)).rejects.toMatchObject({ kind: "unavailable" });
  ports.nowMs += maxMissingMs;
  expect(await send(ports, secret)).toMatchObject({ kind: "inactive" });
  const row = await ports.records.get("acme.nightly", never);
  expect(row?.record.trigger?.state).toBe(TriggerState.STOPPED);
});

test("a webhook that sees an earlier owner does not stop the trigger of the next one", async () => {
  const { ports, secret } = await withHook();
  ports.view = (await ports.records.list("acme", never)).map(({ record }) => record);
  ports.subjects.set("bob", ann.roles);
  await expect(send(without(ports, "ann"), secret)).rejects.toMatchObject({ kind: "unavailable" });
  await resumeTrigger(ports, { ...ann, subject: "bob" }, nightly.trigger, never);
  ports.nowMs += maxMissingMs;
  await expect(send(without(ports, "ann"), secret)).rejects.toMatchObject({ kind: "unavailable" });
  const row = await ports.records.get("acme.nightly", never);
  expect(row?.record.trigger?.state).toBe(TriggerState.ACTIVE);
});

// Requirement: TRIG-3
test.each(["rotates the secret", "updates the trigger", "resumes the trigger"])(
  "a secret of the owner before starts no runs of a person who %s",
  async (way) => {
    const { ports, secret } = await withHook();
    const second = await rotateSecret(ports, ann, nightly.trigger, never);
    ports.subjects.set("bob", ann.roles);
    const bob = { ...ann, subject: "bob" };
    if (way.startsWith("updates")) {
      await updateTrigger(ports, bob, { spec: specOf(hook), revision: 0 }, never);
    } else if (way.startsWith("resumes")) {
      await resumeTrigger(ports, bob, nightly.trigger, never);
    }
    const next = await rotateSecret(ports, bob, nightly.trigger, never);
    expect(await send(ports, secret)).toEqual({ kind: "refused" });
    expect(await send(ports, second)).toEqual({ kind: "refused" });
    expect(await createdBy(ports, await send(ports, next))).toMatchObject({
      value: { startedBy: "bob" },
    });
  },
);

test("a new secret is valid at once, and the one before for a day", async () => {
  const { ports, secret } = await withHook();
  const next = await rotateSecret(ports, ann, nightly.trigger, never);
  expect((await send(ports, next)).kind).toBe("fired");
  expect((await send(ports, secret, { id: "msg_2" })).kind).toBe("fired");
  ports.nowMs = startMs + 24 * hourMs;
  expect((await send(ports, secret, { id: "msg_3" })).kind).toBe("refused");
  expect((await send(ports, next, { id: "msg_4" })).kind).toBe("fired");
});
