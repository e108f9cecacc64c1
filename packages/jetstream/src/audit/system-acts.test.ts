import type { AuditEvent } from "@reeve/contracts/audit";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import type { SystemAct } from "./system-acts.ts";
import { recordActs, systemSubjects } from "./system-acts.ts";

const deletion: SystemAct = {
  tenant: "acme",
  subject: systemSubjects.retention,
  action: "run.delete",
  resources: [{ kind: "run", id: "run_1" }],
};

function bench(assertAvailable = () => undefined as void) {
  const events: AuditEvent[] = [];
  const recorder = {
    assertAvailable,
    record: (event: AuditEvent) => Promise.resolve(void events.push(event)),
  };
  return { events, record: recordActs(recorder, new ManualClock(0)) };
}

test("what Reeve does by itself is recorded with a subject that no caller has", async () => {
  const { events, record } = bench();
  expect(await record(deletion, () => Promise.resolve(true))).toBe(true);
  expect(events).toMatchObject([{ ...deletion, code: "OK", count: 1 }]);
});

test("what was not done is not recorded", async () => {
  const { events, record } = bench();
  expect(await record(deletion, () => Promise.resolve(false))).toBe(false);
  expect(events).toEqual([]);
});

test("nothing is done while a required trail cannot be written", async () => {
  const { record } = bench(() => {
    throw new Error("the trail cannot be written");
  });
  let isDone = false;
  const perform = () => Promise.resolve((isDone = true));
  await expect(record(deletion, perform)).rejects.toThrow("cannot be written");
  expect(isDone).toBe(false);
});
