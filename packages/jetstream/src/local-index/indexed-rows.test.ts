import { expect, test } from "vitest";
import { agent, agentIndex } from "../../test/support/list-contract.ts";
import { IndexDatabase } from "./index-database.ts";
import { countedQuery, IndexedRows } from "./indexed-rows.ts";

test("every list is read from an index in its order, and nothing else", async () => {
  using database = await IndexDatabase.open(
    { folder: undefined, name: "agents" },
    IndexedRows.layout(agentIndex),
  );
  const rows = new IndexedRows(agentIndex, database);
  for (const fields of [{}, { model: "m" }]) {
    for (const after of [undefined, "a"]) {
      const { sql, values } = rows.query({ tenant: "acme", fields }, after);
      const plan = database.sql.prepare(`EXPLAIN QUERY PLAN ${sql}`).all({ kind: 1, ...values });
      const [step, ...more] = plan.map(({ detail }) => String(detail));
      const columns = ["tenant=?", ...Object.keys(fields).map((field) => `${field}=?`), "kind=?"];
      expect(step).toContain(`SEARCH records USING INDEX`);
      expect(step).toContain([...columns, ...(after ? ["position>?"] : [])].join(" AND "));
      expect(more).toEqual([]);
    }
  }
});

test("records are counted from an index in its order, and nothing else", async () => {
  const counted: typeof agentIndex = { ...agentIndex, countedFields: ["model"] };
  using database = await IndexDatabase.open(
    { folder: undefined, name: "agents" },
    IndexedRows.layout(counted),
  );
  const explained = database.sql.prepare(`EXPLAIN QUERY PLAN ${countedQuery("model")}`);
  const plan = explained.all({ tenant: "acme", kind: 1, records: 1 });
  expect(plan.map(({ detail }) => String(detail))).toEqual([
    "SEARCH records USING COVERING INDEX by_model (tenant=? AND kind=?)",
  ]);
});

test("outlines are read in the order of their index, up to a limit, also of records that another field excludes", async () => {
  const measured = {
    ...agentIndex,
    fields: { model: agentIndex.fields.model, name: agentIndex.fields.model },
    measure: { at: () => 0, amount: () => 1 },
  };
  using database = await IndexDatabase.open(
    { folder: undefined, name: "agents" },
    IndexedRows.layout(measured),
  );
  const rows = new IndexedRows(measured, database);
  const planOf = (fields: { readonly model?: string; readonly name?: string }) => {
    const { sql, values } = rows.outlineQuery({ tenant: "acme", kinds: [1], fields }, {});
    return database.sql
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all({ ...values, limit: 1 })
      .map(({ detail }) => String(detail));
  };
  expect(planOf({ model: "m" })).toEqual([
    "SEARCH records USING COVERING INDEX by_model (tenant=? AND model=? AND kind=?)",
  ]);
  expect(planOf({ model: "m", name: "n" })).toEqual([
    "SEARCH records USING INDEX by_model (tenant=? AND model=? AND kind=?)",
  ]);
  database.write({ instance: "i", revision: 1 }, () => {
    for (let at = 0; at < 5; at++) {
      rows.put(`acme.${at}`, agent(`agent-${at}`, 1), new Uint8Array(1));
    }
  });
  const model = measured.fields.model(agent("agent-0", 1));
  const selection = { tenant: "acme", fields: { model, name: "other" } };
  expect(rows.outline(selection, {}, 3).map(({ isSelected }) => isSelected)).toEqual([
    false,
    false,
    false,
  ]);
});

test("a page of 20,000 records reads no more than it shows", async () => {
  const definition = { ...agentIndex, direction: "descending" } as const;
  using database = await IndexDatabase.open(
    { folder: undefined, name: "agents" },
    IndexedRows.layout(definition),
  );
  const rows = new IndexedRows(definition, database);
  const bytes = new Uint8Array(1);
  database.write({ instance: "i", revision: 1 }, () => {
    for (let at = 0; at < 20_000; at++) {
      const name = String(at).padStart(5, "0");
      rows.put(`acme.${name}`, agent(name, at % 3), bytes);
    }
  });
  const read: string[] = [];
  for (const { order } of rows.select({ tenant: "acme" }, "10000")) {
    if (read.push(order) === 100) break;
  }
  expect(read).toEqual(Array.from({ length: 100 }, (_, at) => `0${9_999 - at}`));
});
