import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { describe, expect, test } from "vitest";
import type { ChangedRow } from "../../src/local-index/change-order.ts";
import type { IndexDefinition, Selection } from "../../src/local-index/indexed-rows.ts";
import { TableIndex } from "../../src/local-index/table-index.ts";
import type { Table } from "../../src/table/port.ts";

const never = new AbortController().signal;
const everything = { pageSize: 1_000, pageToken: "" };
let tenants = 0;
const freshTenant = (): string => `listed-${++tenants}`;

/** An agent whose model and revision are what lists of the tests are filtered by. */
export const agent = (name: string, revision = 1, model = "m"): Agent =>
  create(AgentSchema, { revision, spec: { name, model } });

export const agentIndex: IndexDefinition<Agent, "model"> = {
  name: "agents",
  version: 1,
  orderOf: ({ spec }) => spec?.name ?? "",
  direction: "ascending",
  kindOf: ({ revision }) => revision,
  kinds: [1, 2],
  fields: { model: ({ spec }) => spec?.model ?? "" },
};

/** Opens an index in a temporary file, or in a folder. */
export function openAgentIndex(
  table: Pick<Table<Agent>, "position" | "changesAfter">,
  {
    folder,
    definition = agentIndex,
    ...limits
  }: {
    folder?: string;
    definition?: typeof agentIndex;
    maxLagMs?: number;
    isFollowed?: boolean;
  } = {},
) {
  const log = createLogger("test", "silent");
  const options = { schema: AgentSchema, definition, folder, log, ...limits };
  const index = new TableIndex(table, options, never);
  return {
    index,
    async names(tenant: string, selection: Omit<Selection<"model">, "tenant"> = {}) {
      const { items } = await index.page({ tenant, ...selection }, everything, never);
      return items.map(definition.orderOf).join(" ");
    },
  };
}

/** The contract of lists over any table. */
export function listContract(name: string, open: () => Table<Agent>): void {
  describe(`${name}: a list`, () => {
    test("is continued by the changes after its position, without those of other tenants", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const { index, names } = openAgentIndex(table, { isFollowed: true });
      await table.put(`${tenant}.a`, agent("a"), never);
      expect(await names(tenant)).toBe("a");
      const after = index.changesAfter(tenant, await index.position(never), never);
      const changes = after[Symbol.asyncIterator]();
      await table.put(`${tenant}x.b`, agent("b"), never);
      const row = await table.put(`${tenant}.a`, agent("a", 2), never);
      const { value } = await changes.next();
      expect(value?.rows.map(({ revision }: ChangedRow) => revision)).toEqual([row.revision]);
      await changes.return?.();
    });

    test("has everything that was written before its request, in order", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const { names } = openAgentIndex(table);
      expect(await names(tenant)).toBe("");
      for (const letter of ["b", "c", "a"]) {
        await table.put(`${tenant}.${letter}`, agent(letter), never);
        expect(await names(tenant)).toContain(letter);
      }
      await table.put(`${tenant}x.d`, agent("d"), never);
      expect(await names(tenant)).toBe("a b c");
      await table.put(`${tenant}.b`, agent("b", 2), never);
      expect(await names(tenant, { kinds: [2] })).toBe("b");
      await table.delete(`${tenant}.a`, never);
      expect(await names(tenant)).toBe("b c");
      const { index } = openAgentIndex(table);
      const backward = await index.read(
        tenant,
        (rows) =>
          [...rows.select({ tenant }, undefined, "descending")].map(({ order }) => order).join(" "),
        never,
      );
      expect(backward).toBe("c b");
      const descending = { ...agentIndex, direction: "descending" } as const;
      const other = openAgentIndex(table, { definition: descending });
      expect(await other.names(tenant)).toBe("c b");
    });

    test("sums the measure of a tenant's records, from a point on and of one field", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const measure = {
        at: ({ revision }: Agent) => revision,
        amount: ({ spec }: Agent) => Number(spec?.name),
      };
      const { index } = openAgentIndex(table, { definition: { ...agentIndex, measure } });
      const sum = (from: number, fields = {}) =>
        index.read(tenant, (rows) => rows.sum({ tenant, fields }, from), never);
      expect(await sum(0)).toBe(0);
      await table.put(`${tenant}.a`, agent("1.5", 1, "one"), never);
      await table.put(`${tenant}.b`, agent("20", 2, "two"), never);
      await table.put(`${tenant}.c`, agent("300", 3, "one"), never);
      await table.put(`${tenant}x.d`, agent("4000", 3, "one"), never);
      expect([await sum(0), await sum(2), await sum(4)]).toEqual([321.5, 320, 0]);
      expect(await sum(0, { model: "one" })).toBe(301.5);
      await table.put(`${tenant}.c`, agent("500", 1, "two"), never);
      expect([await sum(2), await sum(0, { model: "two" })]).toEqual([20, 520]);
      await table.delete(`${tenant}.b`, never);
      expect(await sum(0)).toBe(501.5);
    });

    test("counts the records of a kind by a field, the most first, up to limits", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const counted: typeof agentIndex = { ...agentIndex, countedFields: ["model"] };
      const { index, names } = openAgentIndex(table, { definition: counted });
      for (const [at, model] of ["low", "high", "high", "other"].entries()) {
        await table.put(`${tenant}.${at}`, agent(`${at}`, model === "other" ? 2 : 1, model), never);
      }
      await table.put(`${tenant}x.4`, agent("4", 1, "low"), never);
      const count = (records: number, values: number) =>
        index.read(
          tenant,
          (rows) => rows.countBy({ tenant, kind: 1, field: "model" }, { records, values }),
          never,
        );
      const [high, low] = [
        { value: "high", count: 2 },
        { value: "low", count: 1 },
      ];
      expect(await count(10, 10)).toEqual([high, low]);
      expect(await count(10, 1)).toEqual([high]);
      expect(await count(1, 10)).toEqual([{ value: "high", count: 1 }]);
      expect(await names(tenant, { kinds: [1], fields: { model: "high" } })).toBe("1 2");
    });

    test("has the records that match all filters", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const { names } = openAgentIndex(table);
      for (const [at, letter] of Array.from("abcdef").entries()) {
        const model = at < 3 ? "low" : "high";
        await table.put(`${tenant}.${letter}`, agent(letter, at % 3, model), never);
      }
      expect(await names(tenant)).toBe("a b c d e f");
      expect(await names(tenant, { fields: { model: "low" } })).toBe("a b c");
      expect(await names(tenant, { kinds: [2, 1] })).toBe("b c e f");
      expect(await names(tenant, { kinds: [2], fields: { model: "high" } })).toBe("f");
      expect(await names(tenant, { kinds: [] })).toBe("");
    });

    test("continues after the last record of the previous page", async () => {
      const [table, tenant] = [open(), freshTenant()];
      for (const [at, letter] of Array.from("abcde").entries()) {
        await table.put(`${tenant}.${letter}`, agent(letter, at % 3), never);
      }
      const { index } = openAgentIndex(table);
      const pages: string[] = [];
      let pageToken = "";
      do {
        const page = await index.page({ tenant }, { pageSize: 2, pageToken }, never);
        pages.push(page.items.map(agentIndex.orderOf).join(""));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(pages).toEqual(["ab", "cd", "e"]);
    });

    test("moves a record whose order changes", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const { names } = openAgentIndex(table);
      for (const letter of "ab") await table.put(`${tenant}.${letter}`, agent(letter), never);
      expect(await names(tenant)).toBe("a b");
      await table.put(`${tenant}.a`, agent("c"), never);
      expect(await names(tenant)).toBe("b c");
    });

    test("whose caller aborts ends with the reason", async () => {
      const [table, tenant] = [open(), freshTenant()];
      await table.put(`${tenant}.a`, agent("a"), never);
      const gone = AbortSignal.abort(new Error("gone"));
      const { index } = openAgentIndex(table);
      await expect(index.page({ tenant }, everything, gone)).rejects.toThrow("gone");
    });
  });
}
