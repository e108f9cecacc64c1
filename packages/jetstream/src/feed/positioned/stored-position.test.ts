import { create } from "@bufbuild/protobuf";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { expect, test } from "vitest";
import { MemoryTable } from "../../table/memory.ts";
import { StoredPosition } from "./stored-position.ts";

const { signal } = new AbortController();
const position = {
  instance: "i",
  state: { sequence: 3, behind: new Map<string, number>(), aside: [] },
  received: undefined,
};

/** A table whose row cannot be read until it is deleted, and what was logged. */
class FailingTable extends MemoryTable<Projection> {
  failure: Error | undefined;
  readonly logged: string[] = [];
  readonly log = { error: () => void this.logged.push("error") };

  constructor(failure: Error) {
    super();
    this.failure = failure;
  }

  override async get(key: string, until: AbortSignal) {
    if (this.failure !== undefined) throw this.failure;
    return await super.get(key, until);
  }

  override async delete(key: string, until: AbortSignal) {
    await super.delete(key, until);
    this.failure = undefined;
  }
}

/** A table with a row that cannot be decoded, and a reader of its position. */
async function undecodable() {
  const table = new FailingTable(new Error("illegal tag: field no 0 wire type 7"));
  await table.put("inbox", create(ProjectionSchema, { name: "inbox" }), signal);
  return { table, stored: new StoredPosition(table, "inbox", table.log) };
}

test("a position that cannot be decoded is deleted and reported when it is read", async () => {
  const { table, stored } = await undecodable();
  expect(await stored.read(signal)).toBeUndefined();
  expect(await table.list("", signal)).toEqual([]);
  expect(table.logged).toHaveLength(1);
});

test("a position that cannot be decoded is replaced when the next one is stored", async () => {
  const { table, stored } = await undecodable();
  await stored.store(position, { replaces: false }, signal);
  expect(await stored.read(signal)).toEqual(position);
  expect(table.logged).toHaveLength(1);
});

test("a store that does not answer keeps the position", async () => {
  const table = new FailingTable(storeUnavailable());
  await table.put("inbox", create(ProjectionSchema, { name: "inbox" }), signal);
  const stored = new StoredPosition(table, "inbox", table.log);
  await expect(stored.read(signal)).rejects.toMatchObject({ kind: "unavailable" });
  table.failure = undefined;
  expect(await table.list("", signal)).toHaveLength(1);
});
