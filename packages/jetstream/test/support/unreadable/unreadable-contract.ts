import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import type { RetryDelays } from "../../../src/table/unreadable-rows.ts";
import type { Change, Table, UnreadableRow } from "../../../src/table/port.ts";
import { openAgentIndex } from "../list-contract.ts";
import { describeChange, iteratorOf } from "../table-contract.ts";

/** So that tests do not wait for long. */
export const shortDelays: RetryDelays = { firstDelayMs: 10, maxDelayMs: 50 };

/** A table with keys of tenants that come and go. */
export interface KeyedTable {
  readonly table: Table<Agent>;
  /** Makes the key of a tenant unavailable. */
  lock(tenant: string): void;
  unlock(tenant: string): void;
  /** Damages the stored row of a key. */
  alter(key: string): Promise<void>;
}

const never = new AbortController().signal;
const agent = (name: string): Agent => create(AgentSchema, { spec: { name, model: "m" } });
const unavailable = { kind: "unavailable", message: /are not available/ };
const altered = { kind: "data_loss", message: /was altered/ };
let count = 0;
const freshTenants = (): readonly [string, string] => [`locked-${++count}`, `open-${count}`];

/** Stores a row of each of two tenants, one of which will be locked. */
async function withTwoTenants({ table, ...keys }: KeyedTable) {
  const [locked, other] = freshTenants();
  await table.put(`${locked}.a`, agent("1"), never);
  await table.put(`${other}.b`, agent("2"), never);
  const start = await table.position(never);
  /** Yields the changes of the two tenants. */
  const own = async function* (changes: AsyncIterable<Change<Agent>>) {
    for await (const change of changes) {
      const key = change.kind === "written" ? change.row.key : "key" in change && change.key;
      const isOwn = key === false || [locked, other].includes(key.split(".")[0] ?? "");
      if (isOwn) yield describeChange(change);
    }
  };
  const watch = () => iteratorOf(own(table.watch("", never)));
  const later = async function* (unreadable?: readonly UnreadableRow[]) {
    const position = unreadable
      ? { ...start, unreadable }
      : { ...start, revision: start.revision - 2 };
    for await (const { changes } of table.changesAfter(position, never)) yield* changes;
  };
  /** Follows from the start, or from where everything but these rows is known. */
  const follow = (unreadable?: readonly UnreadableRow[]) => iteratorOf(own(later(unreadable)));
  return { table, locked, other, watch, follow, start, ...keys };
}

async function next(changes: AsyncIterator<string>, many = 1): Promise<readonly string[]> {
  const received: string[] = [];
  while (received.length < many) received.push(String((await changes.next()).value));
  return received;
}

/** The contract of tables of which some rows cannot be read. */
export function unreadableContract(name: string, open: () => KeyedTable): void {
  describe(`${name}: a table of which one tenant's rows cannot be read`, () => {
    test("fails to read them, and leaves them out of the list of all tenants", async () => {
      const { table, locked, other, lock, unlock } = await withTwoTenants(open());
      lock(locked);
      await expect(table.get(`${locked}.a`, never)).rejects.toMatchObject(unavailable);
      await expect(table.list(locked, never)).rejects.toMatchObject(unavailable);
      await using changes = iteratorOf(table.watch(locked, never));
      await expect(changes.next()).rejects.toMatchObject(unavailable);
      const all = (await table.list("", never)).map(({ key }) => key);
      expect(all).toContain(`${other}.b`);
      expect(all).not.toContain(`${locked}.a`);
      unlock(locked);
      expect(await table.list(locked, never)).toHaveLength(1);
    });

    test("sends a watcher of all tenants the other rows, and these when they can be read", async () => {
      const { table, locked, other, lock, unlock, watch } = await withTwoTenants(open());
      lock(locked);
      await using changes = watch();
      expect(await next(changes, 3)).toEqual(["a is unreadable", "b = 2", "current"]);
      await table.put(`${other}.b`, agent("3"), never);
      expect(await next(changes)).toEqual(["b = 3"]);
      unlock(locked);
      expect(await next(changes)).toEqual(["a = 1"]);
      await table.put(`${locked}.a`, agent("4"), never);
      expect(await next(changes)).toEqual(["a = 4"]);
    });

    test("sends a reader of changes the others, and these when they can be read", async () => {
      const { table, locked, other, lock, unlock, follow } = await withTwoTenants(open());
      lock(locked);
      await using changes = follow();
      expect(await next(changes, 2)).toEqual(["a is unreadable", "b = 2"]);
      await table.put(`${other}.c`, agent("3"), never);
      expect(await next(changes)).toEqual(["c = 3"]);
      unlock(locked);
      expect(await next(changes)).toEqual(["a = 1"]);
    });

    test("sends a reader that continues the rows that it could not read, when they can be read", async () => {
      const { table, locked, other, lock, unlock, follow, start } = await withTwoTenants(open());
      const error = new Failure("unavailable", ErrorReason.UNAVAILABLE, "locked");
      const row = { key: `${locked}.a`, revision: start.revision - 1 };
      lock(locked);
      await using changes = follow([{ kind: "unreadable", ...row, error }]);
      const first = next(changes);
      await table.put(`${other}.c`, agent("3"), never);
      expect(await first).toEqual(["c = 3"]);
      unlock(locked);
      expect(await next(changes)).toEqual(["a = 1"]);
      await table.put(`${other}.d`, agent("4"), never);
      expect(await next(changes)).toEqual(["d = 4"]);
    });

    test("sends a reader that continues such a row although nothing else changes", async () => {
      const { locked, follow, start } = await withTwoTenants(open());
      const error = new Failure("unavailable", ErrorReason.UNAVAILABLE, "locked");
      const row = { key: `${locked}.a`, revision: start.revision - 1 };
      await using changes = follow([{ kind: "unreadable", ...row, error }]);
      expect(await next(changes)).toEqual(["a = 1"]);
    });

    test("never sends a row after its deletion", async () => {
      const { table, locked, lock, unlock, watch } = await withTwoTenants(open());
      lock(locked);
      await using changes = watch();
      await next(changes, 3);
      await table.delete(`${locked}.a`, never);
      expect(await next(changes)).toEqual(["a is deleted"]);
      unlock(locked);
      await table.put(`${locked}.c`, agent("3"), never);
      const received: string[] = [];
      while (received.at(-1) !== "c = 3") received.push(...(await next(changes)));
      // A deletion may be sent twice.
      expect(received.filter((change) => change !== "a is deleted")).toEqual(["c = 3"]);
    });

    test("sends the others although a row was altered, until it is deleted", async () => {
      const { table, locked, other, alter, watch } = await withTwoTenants(open());
      await alter(`${locked}.a`);
      await expect(table.list(locked, never)).rejects.toMatchObject(altered);
      await table.put(`${locked}.c`, agent("5"), never);
      await using changes = watch();
      const received = await next(changes, 4);
      expect(received.toSorted()).toEqual(["a is unreadable", "b = 2", "c = 5", "current"]);
      await table.put(`${other}.b`, agent("3"), never);
      expect(await next(changes)).toEqual(["b = 3"]);
      await table.delete(`${locked}.a`, never);
      expect(await next(changes)).toEqual(["a is deleted"]);
    });

    test("has complete lists of the other tenants, and fails instead of a short list of this one", async () => {
      const { table, locked, other, lock, unlock } = await withTwoTenants(open());
      lock(locked);
      const { names, index } = openAgentIndex(table);
      await using _ = index;
      expect(await names(other)).toBe("2");
      await expect(names(locked)).rejects.toMatchObject(unavailable);
      await table.put(`${other}.c`, agent("3"), never);
      expect(await names(other)).toBe("2 3");
      unlock(locked);
      await expect.poll(() => names(locked), { timeout: 20_000 }).toBe("1");
    });

    test("has no list of a tenant of which a row was altered, until the row is deleted", async () => {
      const { table, locked, other, alter } = await withTwoTenants(open());
      const { names, index } = openAgentIndex(table);
      await using _ = index;
      expect(await names(locked)).toBe("1");
      await alter(`${locked}.a`);
      await table.put(`${locked}.c`, agent("5"), never);
      expect(await names(other)).toBe("2");
      await expect(names(locked)).rejects.toMatchObject(altered);
      await table.delete(`${locked}.a`, never);
      expect(await names(locked)).toBe("5");
    });
  });
}
