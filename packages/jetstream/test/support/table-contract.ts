import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { describe, expect, test } from "vitest";
import type { Change, Table, TablePosition } from "../../src/table/port.ts";
import { maxBatchedChanges } from "../../src/table/port.ts";

const never = new AbortController().signal;
let tenants = 0;

const freshTenant = (): string => `tenant-${++tenants}`;
const agent = (name: string): Agent => create(AgentSchema, { spec: { name, model: "m" } });
const nameOf = ({ spec }: Agent): string => spec?.name ?? "";

/** Describes a change. */
export function describeChange(change: Change<Agent>): string {
  switch (change.kind) {
    case "written":
      return `${change.row.key.split(".")[1]} = ${nameOf(change.row.record)}`;
    case "deleted":
      return `${change.key.split(".")[1]} is deleted`;
    case "unreadable":
      return `${change.key.split(".")[1]} is unreadable`;
    case "current":
      return "current";
  }
}

/** Returns descriptions of the next `count` changes of a watch. */
async function next(changes: AsyncIterator<Change<Agent>>, count: number): Promise<string[]> {
  const received: string[] = [];
  while (received.length < count) {
    const { done, value } = await changes.next();
    if (done === true) break;
    received.push(describeChange(value));
  }
  return received;
}

/** The contract of every table. `rounds` is how often rows come and go. */
export function tableContract(name: string, open: () => Table<Agent>, rounds = 30): void {
  describe(`${name}: a table`, () => {
    test("has no row for a key that was never written", async () => {
      expect(await open().get(`${freshTenant()}.a`, never)).toBeUndefined();
    });

    test("returns a written record with its revision", async () => {
      const [table, key] = [open(), `${freshTenant()}.a`];
      const written = await table.put(key, agent("first"), never);
      expect(await table.get(key, never)).toEqual(written);
      expect(written).toMatchObject({ key, record: agent("first") });
    });

    test("creates a key only once, and again after it was deleted", async () => {
      const [table, key] = [open(), `${freshTenant()}.a`];
      expect(await table.create(key, agent("first"), never)).toBeDefined();
      expect(await table.create(key, agent("second"), never)).toBeUndefined();
      await table.delete(key, never);
      expect(await table.get(key, never)).toBeUndefined();
      expect(await table.create(key, agent("third"), never)).toBeDefined();
      expect((await table.get(key, never))?.record).toEqual(agent("third"));
    });

    test("creates a key that was never written only if it has never existed", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const [key, other] = [`${tenant}.a`, `${tenant}.b`];
      const first = await table.createFirst(key, agent("first"), never);
      expect(await table.get(key, never)).toEqual(first);
      expect(await table.createFirst(key, agent("second"), never)).toBeUndefined();
      await table.delete(key, never);
      expect(await table.createFirst(key, agent("third"), never)).toBeUndefined();
      expect(await table.get(key, never)).toBeUndefined();
      await table.put(other, agent("put"), never);
      expect(await table.createFirst(other, agent("lost"), never)).toBeUndefined();
    });

    test("updates only the revision that the writer has read", async () => {
      const [table, key] = [open(), `${freshTenant()}.a`];
      const first = await table.put(key, agent("first"), never);
      const second = await table.update(key, agent("second"), first.revision, never);
      expect(second?.revision).toBeGreaterThan(first.revision);
      expect(await table.update(key, agent("lost"), first.revision, never)).toBeUndefined();
      await table.delete(key, never);
      expect(await table.update(key, agent("lost"), second?.revision ?? 0, never)).toBeUndefined();
    });

    test("lets exactly one of several racing writers win", async () => {
      const [table, key] = [open(), `${freshTenant()}.a`];
      const writers = ["a", "b", "c", "d"];
      const created = await Promise.all(writers.map((w) => table.create(key, agent(w), never)));
      const [first, ...others] = created.filter((row) => row !== undefined);
      expect(others).toEqual([]);
      const revision = first?.revision ?? 0;
      const updated = await Promise.all(
        writers.map((w) => table.update(key, agent(w), revision, never)),
      );
      const [second, ...rest] = updated.filter((row) => row !== undefined);
      expect(rest).toEqual([]);
      expect(await table.get(key, never)).toEqual(second);
    });

    test("deletes only the version that the caller has read", async () => {
      const [table, key] = [open(), `${freshTenant()}.a`];
      const first = await table.put(key, agent("first"), never);
      const second = await table.put(key, agent("second"), never);
      expect(await table.deleteVersion(key, first.revision, never)).toBe(false);
      expect(await table.get(key, never)).toEqual(second);
      const deletions = [1, 2, 3].map(() => table.deleteVersion(key, second.revision, never));
      expect((await Promise.all(deletions)).filter(Boolean)).toEqual([true]);
      expect(await table.get(key, never)).toBeUndefined();
      expect(await table.deleteVersion(`${key}.b`, second.revision, never)).toBe(false);
    });

    test("deletes a missing key without an error", async () => {
      await expect(open().delete(`${freshTenant()}.a`, never)).resolves.toBeUndefined();
    });

    test("lists the rows below a prefix of whole tokens, ordered by key", async () => {
      const [table, tenant] = [open(), freshTenant()];
      expect(await table.list(tenant, never)).toEqual([]);
      for (const key of ["b", "a", "c"]) await table.put(`${tenant}.${key}`, agent(key), never);
      await table.put(`${tenant}x.d`, agent("d"), never);
      await table.put(`${tenant}.a`, agent("a2"), never);
      await table.delete(`${tenant}.c`, never);
      const rows = await table.list(tenant, never);
      expect(rows.map(({ key, record }) => [key, nameOf(record)])).toEqual([
        [`${tenant}.a`, "a2"],
        [`${tenant}.b`, "b"],
      ]);
      expect((await table.list("", never)).length).toBeGreaterThanOrEqual(3);
    });

    test("lists nothing when everything was deleted", async () => {
      const [table, tenant] = [open(), freshTenant()];
      await table.put(`${tenant}.a`, agent("a"), never);
      await table.delete(`${tenant}.a`, never);
      expect(await table.list(tenant, never)).toEqual([]);
    });

    test("lists many rows completely", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const keys = Array.from({ length: 300 }, (_, index) => `${tenant}.${1_000 + index}`);
      await Promise.all(keys.map((key) => table.put(key, agent(key), never)));
      expect((await table.list(tenant, never)).map(({ key }) => key)).toEqual(keys);
    });

    test("lists all rows that stay while others are created and deleted", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const staying = Array.from({ length: 9 }, (_, index) => `${tenant}.stays-${index}`);
      for (const key of staying) await table.put(key, agent("stays"), never);
      const seen = async () => (await table.list(tenant, never)).map(({ key }) => key);
      const createAndDelete = async (key: string) => {
        for (let round = 0; round < rounds; round++) {
          const row = await table.create(key, agent("comes"), never);
          expect(await seen()).toEqual(expect.arrayContaining([...staying, key]));
          await table.put(staying[round % 9] ?? "", agent(`again ${round}`), never);
          await table.deleteVersion(key, row?.revision ?? 0, never);
          expect(await seen()).not.toContain(key);
        }
      };
      await Promise.all(
        Array.from({ length: 9 }, (_, at) => createAndDelete(`${tenant}.goes-${at}`)),
      );
      expect(await seen()).toEqual(staying);
    });

    test("shares no objects with its callers", async () => {
      const [table, key] = [open(), `${freshTenant()}.a`];
      const original = agent("original");
      await table.put(key, original, never);
      original.revision = 7;
      const read = await table.get(key, never);
      if (read !== undefined) read.record.revision = 8;
      expect((await table.get(key, never))?.record).toEqual(agent("original"));
    });

    test("sends a watcher the existing rows, then `current`, then each change", async () => {
      const [table, tenant] = [open(), freshTenant()];
      await table.put(`${tenant}.a`, agent("1"), never);
      await table.put(`${tenant}.b`, agent("2"), never);
      await using changes = iteratorOf(table.watch(tenant, never));
      expect(await next(changes, 3)).toEqual(["a = 1", "b = 2", "current"]);
      await table.put(`${tenant}x.a`, agent("elsewhere"), never);
      await table.put(`${tenant}.b`, agent("3"), never);
      expect(await next(changes, 1)).toEqual(["b = 3"]);
      await table.delete(`${tenant}.a`, never);
      await table.put(`${tenant}.c`, agent("4"), never);
      expect(await next(changes, 2)).toEqual(["a is deleted", "c = 4"]);
    });

    test("sends a watcher `current` when there are no rows", async () => {
      const [table, tenant] = [open(), freshTenant()];
      await using changes = iteratorOf(table.watch(tenant, never));
      expect(await next(changes, 1)).toEqual(["current"]);
      await table.put(`${tenant}.a`, agent("1"), never);
      expect(await next(changes, 1)).toEqual(["a = 1"]);
    });

    test("yields what changed after a position, in order, and then each change", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const start = await table.position(never);
      for (const key of ["a", "b", "c"]) await table.put(`${tenant}.${key}`, agent("1"), never);
      await table.put(`${tenant}.a`, agent("2"), never);
      await table.delete(`${tenant}.b`, never);
      const after = await table.position(never);
      expect(after.instance).toBe(start.instance);
      await using changes = iteratorOf(changesOf(table, start));
      // A table may have older versions of a key, too.
      const past: string[] = [];
      while (past.at(-1) !== "b is deleted") past.push(...(await next(changes, 1)));
      expect(past.slice(-3)).toEqual(["c = 1", "a = 2", "b is deleted"]);
      await table.put(`${tenant}.d`, agent("3"), never);
      expect(await next(changes, 1)).toEqual(["d = 3"]);
      await using rest = iteratorOf(changesOf(table, after));
      expect(await next(rest, 1)).toEqual(["d = 3"]);
    });

    test("yields many changes in batches, in the order of their revisions", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const start = await table.position(never);
      const count = maxBatchedChanges * 3;
      const puts = Array.from({ length: count }, (_, at) =>
        table.put(`${tenant}.${at}`, agent("m"), never),
      );
      const revisions = (await Promise.all(puts)).map(({ revision }) => revision);
      const yielded: number[] = [];
      for await (const { changes, revision } of table.changesAfter(start, never)) {
        expect(changes.length).toBeLessThanOrEqual(maxBatchedChanges);
        for (const change of changes) {
          if (change.kind === "written") yielded.push(change.row.revision);
        }
        expect(yielded.at(-1)).toBe(revision);
        if (yielded.length === count) break;
      }
      expect(yielded).toEqual(revisions.toSorted((a, b) => a - b));
    });

    test("ends a waiting reader of changes with the signal's reason", async () => {
      const table = open();
      const stop = new AbortController();
      const position = await table.position(never);
      await using changes = iteratorOf(table.changesAfter(position, stop.signal));
      const waiting = changes.next();
      stop.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
    });

    test("ends a waiting watch with the signal's reason", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const stop = new AbortController();
      await using changes = iteratorOf(table.watch(tenant, stop.signal));
      await next(changes, 1);
      const waiting = changes.next();
      stop.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
    });

    test("ends a watch whose watcher is busy with the signal's reason", async () => {
      const [table, tenant] = [open(), freshTenant()];
      const stop = new AbortController();
      await using changes = iteratorOf(table.watch(tenant, stop.signal));
      await next(changes, 1);
      stop.abort(new Error("enough"));
      // Long enough for an unhandled rejection to be reported.
      await new Promise((resolve) => setImmediate(resolve));
      await expect(changes.next()).rejects.toThrow("enough");
    });

    test("does nothing for a caller whose signal has aborted", async () => {
      const [table, key] = [open(), `${freshTenant()}.a`];
      const gone = AbortSignal.abort(new Error("gone"));
      await expect(table.put(key, agent("a"), gone)).rejects.toThrow("gone");
      await expect(table.create(key, agent("a"), gone)).rejects.toThrow("gone");
      await expect(table.update(key, agent("a"), 1, gone)).rejects.toThrow("gone");
      await expect(table.get(key, gone)).rejects.toThrow("gone");
      await expect(table.delete(key, gone)).rejects.toThrow("gone");
      await expect(table.deleteVersion(key, 1, gone)).rejects.toThrow("gone");
      await expect(table.list("", gone)).rejects.toThrow("gone");
      await expect(iteratorOf(table.watch("", gone)).next()).rejects.toThrow("gone");
      expect(await table.get(key, never)).toBeUndefined();
    });
  });
}

async function* changesOf(
  table: Table<Agent>,
  position: TablePosition,
): AsyncIterable<Change<Agent>> {
  for await (const { changes } of table.changesAfter(position, never)) yield* changes;
}

export function iteratorOf<Value>(
  values: AsyncIterable<Value>,
): AsyncIterator<Value> & AsyncDisposable {
  const iterator = values[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    async [Symbol.asyncDispose]() {
      await iterator.return?.();
    },
  };
}
