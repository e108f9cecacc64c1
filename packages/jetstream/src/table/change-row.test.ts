import { expect, test } from "vitest";
import { changeRow } from "./change-row.ts";
import { MemoryTable } from "./memory.ts";

const never = new AbortController().signal;
const row = { key: "acme.ann", name: "the counter of ann" };
const recordIn = async (table: MemoryTable<{ readonly count: number }>) =>
  (await table.get(row.key, never))?.record;

/** A write after that of another process. */
const isLate = () => Promise.resolve(undefined);

test("changes at the same time are all made, also the first ones", async () => {
  const table = new MemoryTable<{ readonly count: number }>();
  const increment = () => changeRow(table, row, (now) => ({ count: (now?.count ?? 0) + 1 }), never);
  await Promise.all(Array.from({ length: 5 }, increment));
  expect(await recordIn(table)).toEqual({ count: 5 });
});

test("a record stays if there is no other one", async () => {
  const table = new MemoryTable<{ readonly count: number }>();
  await changeRow(table, row, () => undefined, never);
  expect(await recordIn(table)).toBeUndefined();
});

test("a change is given up after ten others were first", async () => {
  const table = new MemoryTable<{ readonly count: number }>();
  let attempts = 0;
  const late = { get: table.get.bind(table), create: isLate, update: isLate };
  const change = changeRow(late, row, () => ({ count: ++attempts }), never);
  await expect(change).rejects.toMatchObject({
    kind: "unavailable",
    message: "the counter of ann changed 10 times meanwhile; try again",
  });
  expect(attempts).toBe(10);
});
