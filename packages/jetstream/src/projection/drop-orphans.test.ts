import { create } from "@bufbuild/protobuf";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { expect, test } from "vitest";
import { emptyTail } from "../log/port.ts";
import { MemoryTable } from "../table/memory.ts";
import { dropOrphans } from "./drop-orphans.ts";

const never = new AbortController().signal;
const missing = { events: [], tail: emptyTail, batchTails: [] };

async function threeRows(): Promise<MemoryTable<Projection>> {
  const rows = new MemoryTable<Projection>();
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

test("an error that is no doubt ends the comparison", async () => {
  const projection = projected(await threeRows(), () => Promise.reject(new Error("a defect")));
  await expect(dropOrphans(projection, never)).rejects.toThrow("a defect");
});
