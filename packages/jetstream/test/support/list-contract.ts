import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { describe, expect, test } from "vitest";
import type { ListOptions } from "../../src/table/list-view.ts";
import { ListView } from "../../src/table/list-view.ts";
import type { Table } from "../../src/table/port.ts";

const never = new AbortController().signal;
const everything = { pageSize: 1_000, pageToken: "" };
let tenants = 0;
const freshTenant = (): string => `listed-${++tenants}`;

const agent = (name: string, revision = 1): Agent =>
  create(AgentSchema, { revision, spec: { name, model: "m" } });
const nameOf = ({ spec }: Agent): string => spec?.name ?? "";

const facetOf = ({ revision }: Agent): number => revision;

function viewOf(table: Table<Agent>, options: Partial<ListOptions<Agent, number>> = {}) {
  const defaults = { facetOf, orderOf: nameOf, direction: "ascending", idleMs: 60_000 } as const;
  const view = new ListView(table, AgentSchema, { ...defaults, ...options }, never);
  return {
    view,
    async names(tenant: string, filter: (revision: number) => boolean = () => true) {
      const { items } = await view.page(tenant, everything, filter, never);
      return items.map(nameOf).join(" ");
    },
  };
}

/** The contract of lists over any table. */
export function listContract(name: string, open: () => Table<Agent>): void {
  describe(`${name}: a list`, () => {
    test("has everything that was written before its request, in order", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const { names } = viewOf(table);
      expect(await names(tenant)).toBe("");
      for (const letter of ["b", "c", "a"]) {
        await table.put(`${tenant}.${letter}`, agent(letter), never);
        expect(await names(tenant)).toContain(letter);
      }
      await table.put(`${tenant}x.d`, agent("d"), never);
      expect(await names(tenant)).toBe("a b c");
      await table.put(`${tenant}.b`, agent("b", 2), never);
      expect(await names(tenant, (revision) => revision === 2)).toBe("b");
      await table.delete(`${tenant}.a`, never);
      expect(await names(tenant)).toBe("b c");
      expect(await viewOf(table, { direction: "descending" }).names(tenant)).toBe("c b");
    });

    test("continues after the last record of the previous page", async () => {
      const [table, tenant] = [open(), freshTenant()];
      for (const letter of "abcde") await table.put(`${tenant}.${letter}`, agent(letter), never);
      const { view } = viewOf(table);
      const pages: string[] = [];
      let pageToken = "";
      do {
        const page = await view.page(tenant, { pageSize: 2, pageToken }, () => true, never);
        pages.push(page.items.map(nameOf).join(""));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(pages).toEqual(["ab", "cd", "e"]);
    });

    test("that exceeds the limits of a view is read from the store", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const { names } = viewOf(table, { maxRows: 2 });
      for (const letter of "cab") await table.put(`${tenant}.${letter}`, agent(letter), never);
      expect(await names(tenant)).toBe("a b c");
      await table.put(`${tenant}.d`, agent("d"), never);
      expect(await names(tenant)).toBe("a b c d");
    });

    test("is dropped when it is not used, and opened again", async () => {
      const [table, tenant] = [open(), freshTenant()];
      await table.put(`${tenant}.a`, agent("a"), never);
      const { view, names } = viewOf(table, { idleMs: 1 });
      expect(await names(tenant)).toBe("a");
      while (view.views > 0) await new Promise(setImmediate);
      expect(await names(tenant)).toBe("a");
    });

    test("whose caller aborts ends with the reason", async () => {
      const [table, tenant] = [open(), freshTenant()];
      await table.put(`${tenant}.a`, agent("a"), never);
      const gone = AbortSignal.abort(new Error("gone"));
      const { view } = viewOf(table);
      await expect(view.page(tenant, everything, () => true, gone)).rejects.toThrow("gone");
    });
  });
}
