import { expect, test } from "vitest";
import { RecentRows } from "./recent-rows.ts";

const row = (key: string, revision = 1) => ({ key, revision, record: key });

test("the rows that were written last are held, up to the limit", () => {
  const rows = new RecentRows<string>(2);
  for (const key of ["a", "b"]) rows.keep(row(key));
  rows.keep(row("a", 2));
  rows.keep(row("c"));
  expect(rows.size).toBe(2);
  expect(rows.get("b")).toBeUndefined();
  expect(rows.get("a")).toEqual(row("a", 2));
  rows.forget("a");
  expect(rows.get("a")).toBeUndefined();
});
