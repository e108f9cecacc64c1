import { create } from "@bufbuild/protobuf";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { expect, test } from "vitest";
import { RepeatedChanges } from "./repeated-changes.ts";

function bench() {
  const recorded: AuditEvent[] = [];
  const now = { ms: 0, isReserveUsed: true };
  const record = (event: AuditEvent) => void recorded.push(event);
  const changes = new RepeatedChanges({
    recorder: { record: (event) => Promise.resolve(record(event)), noteChange: record },
    isReserveUsed: () => now.isReserveUsed,
    clock: { now: () => now.ms },
  });
  const seen = () =>
    recorded.map(({ tenant, subject, resources, count }) =>
      [tenant, subject, resources[0]?.id, count].filter((part) => part !== undefined).join(" "),
    );
  const change = async (id: string, { tenant = "acme", code = "OK", isEffective = false } = {}) => {
    const resources = [{ kind: "run", id }];
    const fields = { tenant, subject: "ann", method: "CancelRun", code, count: 1, resources };
    await changes.record(create(AuditEventSchema, fields), { isEffective });
  };
  return { now, changes, change, seen };
}

test("while the store has room, each change is recorded", async () => {
  const { now, change, seen } = bench();
  now.isReserveUsed = false;
  for (let time = 0; time < 3; time++) await change("a");
  expect(seen()).toEqual(["acme ann a 1", "acme ann a 1", "acme ann a 1"]);
});

test("while the reserve is in use, a repeated change is recorded once, and then its number after a minute", async () => {
  const { now, changes, change, seen } = bench();
  for (; now.ms < 60_000; now.ms += 1_000) await change("a");
  await change("b");
  expect(seen()).toEqual(["acme ann a 1", "acme ann a 59", "acme ann b 1"]);
  await change("a");
  now.isReserveUsed = false;
  changes.flush(Infinity);
  expect(seen().slice(3)).toEqual(["acme ann a 1"]);
});

test("a tenant has a bound of its own, and beyond it only the number of its changes", async () => {
  const { now, changes, change, seen } = bench();
  for (let run = 0; run < 1_000; run++) await change(`run-${run}`);
  expect(seen()).toHaveLength(101);
  await change("a", { tenant: "globex" });
  expect(seen().at(-1)).toBe("globex ann a 1");
  now.ms = 60_000;
  changes.flush(now.ms);
  expect(seen().slice(102)).toEqual(["acme  899"]);
});

test("a change with an effect is recorded with its subject and resources, whatever was counted before", async () => {
  const { change, seen } = bench();
  for (let run = 0; run < 1_000; run++) await change(`run-${run}`);
  for (let run = 0; run < 200; run++) await change(`real-${run}`, { isEffective: true });
  expect(seen().slice(101)).toEqual(
    Array.from({ length: 200 }, (_, run) => `acme ann real-${run} 1`),
  );
});

test("what has an effect is recorded each time, and calls that fail do not use the reserve", async () => {
  const { change, seen } = bench();
  for (const id of ["a", "a"]) await change(id, { isEffective: true });
  for (const id of ["a", "a"]) await change(id, { code: "NOT_FOUND" });
  expect(seen()).toHaveLength(4);
});
