import { expect, test } from "vitest";
import { ChangeOrder, changedQuery } from "./change-order.ts";
import { IndexDatabase } from "./index-database.ts";
import { largestQuery, Tallies } from "./tallies.ts";

const position = { instance: "i", revision: 1 };
const acme = { tenant: "acme", name: "tool" };
const tally = (...values: readonly string[]) => values.map((value) => ({ name: "tool", value }));

test("numbers follow each change of a record, and end with its last record", async () => {
  const place = { folder: undefined, name: "tallies" };
  using database = await IndexDatabase.open(place, Tallies.layout());
  const tallies = new Tallies(database);
  const change = (apply: () => void) => database.write(position, apply);
  change(() => {
    tallies.note("acme.1", tally("pay"));
    tallies.note("acme.2", tally("pay", "mail"));
    tallies.note("globex.1", tally("pay"));
    // A batch that is applied again counts nothing twice.
    tallies.note("acme.2", tally("pay", "mail"));
  });
  expect(tallies.largest(acme, 9)).toEqual([
    { value: "pay", count: 2 },
    { value: "mail", count: 1 },
  ]);
  expect(tallies.largest(acme, 1)).toEqual([{ value: "pay", count: 2 }]);
  change(() => {
    tallies.note("acme.1", tally("mail"));
    tallies.remove("acme.2");
    tallies.remove("acme.9");
  });
  expect(tallies.largest(acme, 9)).toEqual([{ value: "mail", count: 1 }]);
  expect(tallies.count(acme, "pay")).toBe(0);
  expect(tallies.count({ ...acme, tenant: "globex" }, "pay")).toBe(1);
});

test("numbers and changes are read from an index in their order, and nothing else", async () => {
  const place = { folder: undefined, name: "tallies" };
  const records = "CREATE TABLE records (id INTEGER PRIMARY KEY, key TEXT UNIQUE, bytes BLOB);";
  const layout = Tallies.layout() + ChangeOrder.layout() + records;
  using database = await IndexDatabase.open(place, layout);
  const planOf = (query: string, values: Readonly<Record<string, string | number>>) =>
    database.sql
      .prepare(`EXPLAIN QUERY PLAN ${query}`)
      .all(values)
      .map(({ detail }) => String(detail));
  expect(planOf(largestQuery, { ...acme, limit: 1 })).toEqual([
    "SEARCH tallies USING COVERING INDEX by_count (tenant=? AND name=?)",
  ]);
  expect(planOf(changedQuery, { tenant: "acme", revision: 1 })).toEqual([
    "SEARCH changes USING COVERING INDEX by_revision (tenant=? AND revision>?)",
    expect.stringMatching(/^SEARCH records USING INDEX \w+ \(key=\?\)$/),
  ]);
});
