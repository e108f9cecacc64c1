import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { describe, expect, test } from "vitest";
import type { Row, Table, TableHistory } from "../../../src/table/port.ts";

const never = new AbortController().signal;
const agent = (name: string): Agent => create(AgentSchema, { spec: { name } });
let tenants = 0;

const freshKey = (): string => `history-${++tenants}.a`;

async function rowsOf(table: TableHistory<Agent>, key: string, signal = never, before?: number) {
  const rows: Row<Agent>[] = [];
  for await (const version of table.versions(key, { before }, signal)) {
    if (version.kind === "unreadable") throw version.error;
    rows.push(version.row);
  }
  return rows;
}

/** The contract of the history of every table whose message declares one. */
export function historyContract(
  name: string,
  open: () => Table<Agent> & TableHistory<Agent>,
): void {
  describe(`${name}: the history of a table`, () => {
    test("has the versions of a key, newest first, and those of no other key", async () => {
      const [table, key] = [open(), freshKey()];
      const written = [];
      for (const text of ["one", "two", "three"]) {
        written.push(await table.put(key, agent(text), never));
        await table.put(`${key}b`, agent("other"), never);
      }
      expect(await rowsOf(table, key)).toEqual(written.toReversed());
      expect(await rowsOf(table, key, never, written[1]?.revision)).toEqual([written[0]]);
    });

    test("begins with the last creation of a key, and is empty for one that is not there", async () => {
      const [table, key] = [open(), freshKey()];
      expect(await rowsOf(table, key)).toEqual([]);
      await table.put(key, agent("before"), never);
      await table.delete(key, never);
      expect(await rowsOf(table, key)).toEqual([]);
      const again = await table.create(key, agent("again"), never);
      expect(await rowsOf(table, key)).toEqual([again]);
    });

    test("has the last 64 versions", async () => {
      const [table, key] = [open(), freshKey()];
      for (let version = 1; version <= 66; version++) {
        await table.put(key, agent(String(version)), never);
      }
      const versions = await rowsOf(table, key);
      expect(versions.map(({ record }) => record.spec?.name)).toEqual(
        Array.from({ length: 64 }, (_, index) => String(66 - index)),
      );
    });

    test("rejects with the reason of its signal", async () => {
      const reason = new Error("left");
      await expect(rowsOf(open(), freshKey(), AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}
