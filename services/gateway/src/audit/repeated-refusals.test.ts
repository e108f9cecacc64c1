import { create } from "@bufbuild/protobuf";
import { AuditEventSchema } from "@reeve/contracts/audit";
import type { AuditEvent } from "@reeve/contracts/audit";
import { expect, test } from "vitest";
import { RepeatedRefusals } from "./repeated-refusals.ts";

function bench(maxKinds = 10) {
  const passed: AuditEvent[] = [];
  const refusals = new RepeatedRefusals(maxKinds, (event) => void passed.push(event));
  const seen = () => passed.map(({ eventId, count }) => `${eventId} ${count}`);
  return { refusals, seen, passed };
}

const event = (eventId: string) =>
  create(AuditEventSchema, { eventId, count: 1, clientAddress: "192.0.2.1", subject: "ann" });

test("the first refusal of a kind is passed on at once, and those of the next minute as one event", () => {
  const { refusals, seen } = bench();
  for (let second = 0; second < 60; second++) {
    refusals.add("guess", event(`guess-${second}`), second * 1_000);
  }
  refusals.add("other", event("other"), 30_000);
  expect(seen()).toEqual(["guess-0 1", "other 1"]);
  refusals.flush(60_000);
  expect(seen()).toEqual(["guess-0 1", "other 1", "guess-59 59"]);
  refusals.add("guess", event("later"), 61_000);
  expect(seen().at(-1)).toBe("later 1");
});

test("a single refusal is passed on once", () => {
  const { refusals, seen } = bench();
  refusals.add("guess", event("only"), 0);
  refusals.flush(Infinity);
  expect(seen()).toEqual(["only 1"]);
});

test("beyond the number of kinds, each tenant keeps its own count", () => {
  const { refusals, passed } = bench(1);
  refusals.add("any", event("any"), 0);
  for (const tenant of ["acme", "globex", "globex", "acme", "globex"]) {
    refusals.add(`kind of ${tenant}`, { ...event("one"), tenant }, 0);
  }
  refusals.flush(Infinity);
  const counts = passed.slice(1).map(({ tenant, count }) => `${tenant} ${count}`);
  expect(counts).toEqual(["acme 1", "globex 1", "acme 1", "globex 2"]);
});

test("a clock that goes back does not hold back what was counted", () => {
  const { refusals, seen } = bench();
  refusals.add("guess", event("one"), 3_600_000);
  refusals.add("guess", event("two"), 3_600_000);
  refusals.flush(0);
  expect(seen()).toEqual(["one 1", "two 1"]);
});

test("from too many places, most refusals are only counted, without a caller", () => {
  const { refusals, passed } = bench(2);
  for (let place = 0; place < 100; place++) refusals.add(`place ${place}`, event("one"), place);
  expect(passed).toHaveLength(3);
  refusals.flush(Infinity);
  expect(passed).toHaveLength(4);
  expect(passed.at(-1)).toMatchObject({ count: 97, clientAddress: "", subject: "" });
});
