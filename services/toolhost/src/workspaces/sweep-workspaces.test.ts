import { create } from "@bufbuild/protobuf";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { keysUnavailable, tenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import { emptyTail } from "@reeve/jetstream/log/port";
import { beforeEach, expect, test } from "vitest";
import type { WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import { does, MemoryHosts, never, requestOf } from "../../test/support/memory-workspaces.ts";
import { sweepOnce } from "./sweep-workspaces.ts";

const day = 86_400_000;

let hosts: MemoryHosts;

beforeEach(() => {
  hosts = new MemoryHosts();
});

type Host = Pick<ReturnType<MemoryHosts["host"]>, "keeper">;

async function write(
  { keeper }: Host,
  path: string,
  text: string,
  call: WorkspaceRequest = requestOf(),
) {
  await using workspace = await keeper.open(call, never);
  await does(workspace, "write", path, text);
}

test("a sweep keeps the files of a thread with a run that waits for a person", async () => {
  const host = hosts.host("a");
  await write(host, "x", "1", { ...requestOf(), id: "thread-t" });
  await host.keeper[Symbol.asyncDispose]();
  const queued = { case: "turnQueued", value: { runId: "run_1" } } as const;
  const event = create(ThreadEventSchema, { threadId: "t", sequence: 1, event: queued });
  await hosts.threads.append({ tenant: "acme", thread: "t" }, emptyTail, [event], never);
  hosts.listed.set("run_1", "open");
  hosts.nowMs += 8 * day;
  const { keeper, ports } = hosts.host("sweeper");
  await sweepOnce(keeper, ports, never);
  expect(await hosts.record("thread-t")).toBeDefined();
  hosts.listed.set("run_1", "ended");
  await sweepOnce(keeper, ports, never);
  expect(await hosts.record("thread-t")).toBeUndefined();
});

test("a sweep deletes an unsaved workspace that was idle for the retention time, with its folder", async () => {
  const { keeper, ports, storage } = hosts.host("a");
  await write({ keeper }, "x", "1");
  hosts.nowMs = Date.now() + 8 * day;
  await sweepOnce(keeper, ports, never);
  expect(await hosts.record()).toBeUndefined();
  expect(storage.folders.size).toBe(0);
});

test.each([
  ["was deleted", tenantKeyDeleted("acme")],
  ["is not available", keysUnavailable("away")],
])("a sweep keeps the files of a tenant whose key %s", async (_, failure) => {
  const host = hosts.host("a");
  await write(host, "x", "1");
  await host.keeper[Symbol.asyncDispose]();
  const { keeper, ports, storage } = hosts.host("b");
  storage.folders.set("acme/t.1", new Map([["y", "2"]]));
  const before = (await ports.snapshots.list(never)).map(({ name }) => name);
  expect(before).toHaveLength(1);
  const list = hosts.records.list.bind(hosts.records);
  // As a table of sealed records does it.
  hosts.records.list = (prefix) => (prefix === "" ? Promise.resolve([]) : Promise.reject(failure));
  hosts.nowMs = Date.now() + 8 * day;
  await sweepOnce(keeper, ports, never);
  const after = (await ports.snapshots.list(never)).map(({ name }) => name);
  expect(after).toEqual(before);
  expect([...storage.folders.keys()]).toContain("acme/t.1");
  hosts.records.list = list;
  await sweepOnce(keeper, ports, never);
  expect(await ports.snapshots.list(never)).toEqual([]);
  expect([...storage.folders.keys()]).not.toContain("acme/t.1");
});

test("a sweep continues although the key of one tenant is not available", async () => {
  const { keeper, ports } = hosts.host("a");
  await write({ keeper }, "x", "1", { ...requestOf(), tenant: "locked" });
  await write({ keeper }, "x", "1");
  hosts.nowMs = Date.now() + 8 * day;
  const hasOpenRun: typeof ports.hasOpenRun = async (record, signal) => {
    if (record.tenant === "locked") throw keysUnavailable("away");
    return await ports.hasOpenRun(record, signal);
  };
  await sweepOnce(keeper, { ...ports, hasOpenRun }, never);
  const left = (await ports.records.list("", never)).map(({ record }) => record.tenant);
  expect(left).toEqual(["locked"]);
});

test("a sweep deletes the snapshots and folders of a tenant once it is stored that its key was deleted", async () => {
  const host = hosts.host("a");
  await write(host, "x", "1");
  await host.keeper[Symbol.asyncDispose]();
  const { keeper, ports, storage } = hosts.host("b");
  storage.folders.set("acme/t.1", new Map([["y", "2"]]));
  hosts.records.list = (prefix) =>
    prefix === "" ? Promise.resolve([]) : Promise.reject(tenantKeyDeleted("acme"));
  hosts.nowMs = Date.now() + 8 * day;
  hosts.deletedTenants.add("globex");
  await sweepOnce(keeper, ports, never);
  expect(await ports.snapshots.list(never)).toHaveLength(1);
  hosts.deletedTenants.add("acme");
  await sweepOnce(keeper, ports, never);
  expect(await ports.snapshots.list(never)).toEqual([]);
  expect([...storage.folders.keys()]).toEqual([]);
});
