import { create } from "@bufbuild/protobuf";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { deleteWorkspace } from "./delete-workspace.ts";

const never = new AbortController().signal;

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

test("deleting a workspace deletes all of its snapshots, and none of others", async () => {
  const records = new MemoryTable<WorkspaceRecord>();
  const snapshots = new MemoryObjects({ maxBytes: 1_000 });
  const store = async (id: string, text: string) =>
    await snapshots.write(`acme/${id}`, once(text), never);
  const earlier = await store("thread-t", "1");
  const last = await store("thread-t", "2");
  const other = await store("thread-u", "1");
  const digest = new Uint8Array(Buffer.from(earlier.name.slice(-64), "hex"));
  const record = { tenant: "acme", id: "thread-t", snapshot: last.name, snapshots: [{ digest }] };
  await records.create("acme.thread-t", create(WorkspaceRecordSchema, record), never);
  await deleteWorkspace({ records, snapshots }, { tenant: "acme", id: "thread-t" }, never);
  expect((await snapshots.list(never)).map(({ name }) => name)).toEqual([other.name]);
  expect(await records.get("acme.thread-t", never)).toBeUndefined();
});
