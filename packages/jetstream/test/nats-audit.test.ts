import { create } from "@bufbuild/protobuf";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AuditTrail } from "../src/audit/port.ts";
import { openAuditTrail } from "../src/audit/nats.ts";
import { openJetStreamManager } from "../src/streams/ensure-stream.ts";
import type { NatsUnderTest } from "./nats-under-test.ts";
import { startNatsUnderTest } from "./nats-under-test.ts";
import { auditContract } from "./support/audit-contract.ts";

async function server(): Promise<NatsUnderTest> {
  const started = await startNatsUnderTest();
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

async function open(): Promise<AuditTrail> {
  return await openAuditTrail((await server()).nats);
}

describe("the audit trail in JetStream", () => {
  auditContract(open);
});

const event = (eventId: string) => create(AuditEventSchema, { eventId, tenant: "acme" });
const options = { usesReserve: false };

test("nobody can remove an event, not even with all permissions", async () => {
  const { nats } = await server();
  const trail = await openAuditTrail(nats);
  await trail.append(event("one"), options);
  const { streams } = await openJetStreamManager(nats.connection);
  await expect(streams.deleteMessage("AUDIT", 1)).rejects.toThrow(/delete not permitted/);
  await expect(streams.purge("AUDIT")).rejects.toThrow(/purge not permitted/);
  const undo = streams.update("AUDIT", { deny_delete: false, deny_purge: false });
  await expect(undo).rejects.toThrow(/can not (cancel|unset)|can not be/i);
  expect((await streams.info("AUDIT")).state.messages).toBe(1);
});

test("limits that the operator has changed stay, and the oldest events of the tenant go first", async () => {
  const { nats } = await server();
  await openAuditTrail(nats);
  const { streams } = await openJetStreamManager(nats.connection);
  await streams.update("AUDIT", { max_age: 3_600e9, max_msgs_per_subject: 2 });
  const trail = await openAuditTrail(nats);
  const other = create(AuditEventSchema, { eventId: "other", tenant: "globex" });
  await trail.append(other, options);
  for (const id of ["one", "two", "three"]) await trail.append(event(id), options);
  const { config } = await streams.info("AUDIT");
  expect(config).toMatchObject({ max_age: 3_600e9, max_msgs_per_subject: 2 });
  const signal = new AbortController().signal;
  const ids = async (tenant: string) =>
    (await trail.read(tenant, {}, signal)).events.map((each) => each.event.eventId);
  expect(await ids("acme")).toEqual(["three", "two"]);
  expect(await ids("globex")).toEqual(["other"]);
});

test("while the store does not answer, an append fails as unavailable", async () => {
  const started = await server();
  const trail = await openAuditTrail(started.nats);
  await started.restart(async () => {
    await expect(trail.append(event("one"), options)).rejects.toMatchObject({
      kind: "unavailable",
    });
  });
});
