import { create } from "@bufbuild/protobuf";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { expect, test } from "vitest";
import { emptyTail } from "../log/port.ts";
import type { MemoryTableOptions } from "../table/memory.ts";
import { MemoryTable } from "../table/memory.ts";
import { keysUnavailable, notAuthentic, tenantKeyDeleted } from "../sealing/key-failures.ts";
import { dropOrphans } from "./drop-orphans.ts";

const never = new AbortController().signal;
const missing = { events: [], tail: emptyTail, batchTails: [] };

async function threeRows(options: MemoryTableOptions = {}): Promise<MemoryTable<Projection>> {
  const rows = new MemoryTable<Projection>(options);
  for (const name of ["a", "b", "c"])
    await rows.put(name, create(ProjectionSchema, { name }), never);
  return rows;
}

/** The rows as a projection of logs, which are missing or cannot be read. */
function projected(rows: MemoryTable<Projection>, last: (key: string) => Promise<typeof missing>) {
  return { rows, logs: { last }, logOf: ({ key }: { readonly key: string }) => key };
}

const keysOf = async (rows: MemoryTable<Projection>) =>
  (await rows.list("", never)).map(({ key }) => key);

test("a row whose log is unknown stays, and does not keep the others from being dropped", async () => {
  const rows = await threeRows();
  const projection = projected(rows, (key) =>
    key === "b" ? Promise.reject(storeUnavailable()) : Promise.resolve(missing),
  );
  expect(await dropOrphans(projection, never)).toEqual({ dropped: 2, failed: 1 });
  expect(await keysOf(rows)).toEqual(["b"]);
});

test.each([
  ["whose tenant's key was deleted", tenantKeyDeleted("b")],
  ["that was altered", notAuthentic("b")],
])("a row with a log %s is kept, and the others are dropped", async (_, failure) => {
  const rows = await threeRows();
  const projection = projected(rows, (key) =>
    key === "b" ? Promise.reject(failure) : Promise.resolve(missing),
  );
  expect(await dropOrphans(projection, never)).toEqual({ dropped: 2, failed: 0 });
  expect(await keysOf(rows)).toEqual(["b"]);
});

test("a row that cannot be read now stays, and counts as failed", async () => {
  const rows = await threeRows({
    failureOf: (key) => (key === "b" ? keysUnavailable("away") : undefined),
  });
  const projection = projected(rows, () => Promise.resolve(missing));
  expect(await dropOrphans(projection, never)).toEqual({ dropped: 2, failed: 1 });
});

test("an error that is no doubt ends the comparison", async () => {
  const projection = projected(await threeRows(), () => Promise.reject(new Error("a defect")));
  await expect(dropOrphans(projection, never)).rejects.toThrow("a defect");
});

test("eight rows at a time are compared with their logs, and the others afterwards", async () => {
  const rows = new MemoryTable<Projection>();
  const names = Array.from({ length: 20 }, (_, index) => `row-${index}`);
  for (const name of names) await rows.put(name, create(ProjectionSchema, { name }), never);
  const held = Promise.withResolvers<typeof missing>();
  let [inProgress, most] = [0, 0];
  const projection = projected(rows, async () => {
    most = Math.max(most, ++inProgress);
    const found = await held.promise;
    inProgress--;
    return found;
  });
  const dropping = dropOrphans(projection, never);
  await expect.poll(() => inProgress).toBe(8);
  held.resolve(missing);
  expect(await dropping).toEqual({ dropped: 20, failed: 0 });
  expect(most).toBe(8);
  expect(await keysOf(rows)).toEqual([]);
});
