import { expect, test } from "vitest";
import { Agenda, dueQuery, shardCount } from "./agenda.ts";
import { IndexDatabase } from "./index-database.ts";

const all = Array.from({ length: shardCount }, (_, shard) => shard);

async function openAgenda() {
  let nowMs = 0;
  const definition = { closedKinds: [9], graceMs: 10, now: () => nowMs };
  const place = { folder: undefined, name: "agenda" };
  const database = await IndexDatabase.open(place, Agenda.layout(definition));
  const agenda = new Agenda(definition, database);
  return {
    database,
    agenda,
    at(time: number) {
      nowMs = time;
    },
    keys: (order: "first" | "last" = "first", limit = 100) =>
      agenda.due(all, order, limit).map(({ key }) => key),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

test("a changed record is due after the grace time, in the order of the changes", async () => {
  using known = await openAgenda();
  for (const [time, key] of Array.from("abc").entries()) {
    known.at(time);
    known.agenda.note(key, 1, time + 1);
  }
  known.at(11);
  expect(known.keys()).toEqual(["a", "b"]);
  known.at(12);
  expect(known.keys("first")).toEqual(["a", "b", "c"]);
  expect(known.keys("last")).toEqual(["c", "b", "a"]);
  expect(known.keys("last", 1)).toEqual(["c"]);
  expect(known.agenda.due([], "first", 9)).toEqual([]);
});

test("a postponed record is due later, and at once when it changes meanwhile", async () => {
  using known = await openAgenda();
  known.agenda.note("a", 1, 1);
  known.at(10);
  const [entry] = known.agenda.due(all, "first", 1);
  if (entry === undefined) throw new Error("nothing is due");
  known.agenda.postpone(entry, 100, "seen");
  expect(known.keys()).toEqual([]);
  known.agenda.note("a", 2, 2);
  known.agenda.postpone(entry, 1_000, "old");
  known.at(20);
  expect(known.agenda.due(all, "first", 1)).toEqual([
    { key: "a", kind: 2, revision: 2, delayMs: 10, memo: "seen" },
  ]);
});

test("a record of a closed kind has no entry", async () => {
  using known = await openAgenda();
  known.agenda.note("a", 1, 1);
  known.agenda.note("a", 9, 2);
  known.at(10);
  expect(known.keys()).toEqual([]);
});

test("what is due is read from an index, and nothing else", async () => {
  using known = await openAgenda();
  for (const order of ["first", "last"] as const) {
    const plan = known.database.sql.prepare(`EXPLAIN QUERY PLAN ${dueQuery(order)}`).all(1, 1);
    expect(plan.map(({ detail }) => String(detail))).toEqual([
      "SEARCH agenda USING INDEX by_due (shard=? AND due<?)",
    ]);
  }
});
