import { expect, test } from "vitest";
import { requestIds } from "./request-ids.ts";

test("a request that is repeated unchanged has the same id until it is answered", () => {
  const { idFor, answered } = requestIds();
  const first = idFor("writer", "Hello");
  expect(idFor("writer", "Hello")).toBe(first);
  answered();
  expect(idFor("writer", "Hello")).not.toBe(first);
});

test("a request that was changed has another id", () => {
  const { idFor } = requestIds();
  const ids = [idFor("a"), idFor("b"), idFor("a"), idFor("a", undefined), idFor()];
  expect(new Set(ids).size).toBe(5);
});
