import { Role } from "@reeve/contracts/access/role";
import { FiringOutcome, TriggerState } from "@reeve/contracts/trigger";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { ann } from "../../../test/support/memory-ports.ts";
import type { MemoryTriggers } from "../../../test/support/memory-triggers.ts";
import {
  firingsOf,
  hourMs,
  memoryTriggers,
  nightly,
  startMs,
  storeTrigger,
  without,
} from "../../../test/support/memory-triggers.ts";
import { resumeTrigger } from "./manage-triggers.ts";
import { fireDue } from "./schedule/fire-due.ts";
import { maxMissingMs } from "./stop-trigger.ts";

const never = new AbortController().signal;

async function createdBy(ports: MemoryTriggers, run: string) {
  const { events } = await ports.gateway.log.read({ tenant: "acme", run }, emptyTail, never);
  return events[0]?.event.case === "runCreated" ? events[0].event.value : undefined;
}

async function stateOf(ports: MemoryTriggers) {
  return (await ports.records.get("acme.nightly", never))?.record;
}

// Requirement: TRIG-3
test("a trigger of a removed owner stops with the reason, until somebody else resumes it", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.subjects.delete("ann");
  ports.nowMs = startMs + hourMs;
  await expect(fireDue(ports, nightly, never)).rejects.toMatchObject({ kind: "unavailable" });
  ports.nowMs += maxMissingMs;
  await fireDue(ports, nightly, never);
  const stopReason = "the owner ann does not exist anymore";
  const stopped = (await stateOf(ports))?.trigger;
  expect(stopped).toMatchObject({ state: TriggerState.STOPPED, stopReason });
  expect(stopped?.nextFiringAt).toBeUndefined();
  expect(await firingsOf(ports)).toMatchObject([
    { outcome: FiringOutcome.FAILED, problem: stopReason },
  ]);
  ports.subjects.set("bob", new Set([Role.RUNNER]));
  const bob = { tenant: "acme", subject: "bob", roles: new Set([Role.RUNNER]) };
  await resumeTrigger(ports, bob, "nightly", never);
  ports.nowMs = startMs + 2 * hourMs;
  await fireDue(ports, nightly, never);
  const firing = (await firingsOf(ports)).at(-1);
  expect((await createdBy(ports, firing?.runId ?? ""))?.startedBy).toBe("bob");
});

// Requirement: TRIG-3
test("a gateway whose settings lack the owner leaves the firing to one whose settings have it", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  for (const hour of [1, 2]) {
    ports.nowMs = startMs + hour * hourMs;
    await fireDue(without(ports, "ann"), nightly, never).catch(() => undefined);
    expect((await stateOf(ports))?.ownerMissingSince).toBeDefined();
    ports.nowMs += 15_000;
    await fireDue(ports, nightly, never);
    expect((await firingsOf(ports)).at(-1)?.outcome).not.toBe(FiringOutcome.FAILED);
    expect(await stateOf(ports)).toMatchObject({ trigger: { state: TriggerState.ACTIVE } });
    expect((await stateOf(ports))?.ownerMissingSince).toBeUndefined();
  }
});

// Requirement: TRIG-3
test("a trigger that another person takes over while its owner is checked does not stop", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  const bob = { ...ann, subject: "bob" };
  ports.subjects.set("bob", ann.roles);
  ports.nowMs = startMs + hourMs;
  await fireDue(without(ports, "ann"), nightly, never).catch(() => undefined);
  ports.nowMs += maxMissingMs;
  const { check } = without(ports, "ann").owners;
  let taken: Promise<unknown> = Promise.resolve();
  const owners: MemoryTriggers["owners"] = {
    check: (tenant, owner) => {
      if (owner?.subject === "ann") taken = resumeTrigger(ports, bob, "nightly", never);
      return check(tenant, owner);
    },
  };
  await fireDue({ ...ports, owners }, nightly, never);
  await taken;
  const record = await stateOf(ports);
  expect(record?.trigger).toMatchObject({ state: TriggerState.ACTIVE, owner: { subject: "bob" } });
});

test("an owner that lost the role runner starts nothing", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.subjects.set("ann", new Set([Role.AUTHOR]));
  ports.nowMs = startMs + hourMs;
  await expect(fireDue(ports, nightly, never)).rejects.toMatchObject({ kind: "unavailable" });
  ports.nowMs += maxMissingMs;
  await fireDue(ports, nightly, never);
  expect((await stateOf(ports))?.trigger?.stopReason).toContain("role runner");
  expect(ports.gateway.dispatch.length).toBe(0);
});

test("an owner who signed in is trusted for 90 days", async () => {
  const ports = await memoryTriggers();
  const signedIn = { ...ann, kind: "oidc" } as const;
  await storeTrigger(ports);
  await resumeTrigger(ports, signedIn, "nightly", never);
  ports.subjects.delete("ann");
  ports.nowMs = startMs + hourMs;
  await fireDue(ports, nightly, never);
  expect(await firingsOf(ports)).toMatchObject([{ outcome: FiringOutcome.STARTED }]);
  ports.nowMs = startMs + 90 * 24 * hourMs;
  await fireDue(ports, nightly, never);
  expect((await stateOf(ports))?.trigger?.stopReason).toContain("90 days");
});
