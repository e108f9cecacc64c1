import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { expect, test } from "vitest";
import { attributes, operations } from "./span-names.ts";

test("every standard name is in the pinned semantic conventions", () => {
  const known = new Set<unknown>(Object.values(conventions));
  const standard = Object.values(attributes).filter((name) => !name.startsWith("reeve."));
  expect(standard.length).toBeGreaterThan(20);
  expect(standard.filter((name) => !known.has(name))).toEqual([]);
  // The package does not have `plan` yet.
  const { plan, ...older } = operations;
  expect(plan).toBe("plan");
  expect(Object.values(older).filter((name) => !known.has(name))).toEqual([]);
});
