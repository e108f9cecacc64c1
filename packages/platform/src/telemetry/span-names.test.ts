import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { expect, test } from "vitest";
import { attributes, operations } from "./span-names.ts";

test("every name that is not ours stands in the conventions that are pinned", () => {
  const known = new Set<unknown>(Object.values(conventions));
  const foreign = Object.values(attributes).filter((name) => !name.startsWith("reeve."));
  expect(foreign.length).toBeGreaterThan(20);
  expect(foreign.filter((name) => !known.has(name))).toEqual([]);
  // `plan` is newer than the package.
  const { plan, ...older } = operations;
  expect(plan).toBe("plan");
  expect(Object.values(older).filter((name) => !known.has(name))).toEqual([]);
});
