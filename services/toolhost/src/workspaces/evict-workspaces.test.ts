import { beforeEach, expect, test } from "vitest";
import type { WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { isEvictable } from "./evict-workspaces.ts";
import { does, MemoryHosts, never, requestOf } from "../../test/support/memory-workspaces.ts";

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

test("a workspace that cannot be saved is given up in the end, and its losses are reported", async () => {
  const host = hosts.host("a");
  await write(host, "x", "1", requestOf("write_file", "call-x"));
  const [held] = host.keeper.idle;
  if (held === undefined) throw new Error("no workspace is idle");
  host.storage.refusal = "the workspace has more than it may";
  for (let attempt = 0; attempt < 8; attempt++) {
    await expect(host.keeper.evict(held, never)).rejects.toThrow("more than it may");
    // It is too early for another attempt.
    expect(await host.keeper.evict(held, never)).toBe(false);
    hosts.nowMs += 300_000;
  }
  expect(await host.keeper.evict(held, never)).toBe(true);
  expect(host.storage.folders.size).toBe(0);
  await using workspace = await host.keeper.open(requestOf("read_file"), never);
  expect(await does(workspace, "read", "x")).toBe("[nothing]");
  expect(workspace.losses?.lost).toMatchObject([{ callId: "call-x" }]);
});

test("a workspace whose sandbox is lost repeatedly is not given up", async () => {
  const host = hosts.host("a");
  await write(host, "x", "1");
  const [held] = host.keeper.idle;
  if (held === undefined) throw new Error("no workspace is idle");
  host.storage.refusal = "";
  for (let attempt = 0; attempt < 10; attempt++) {
    await expect(host.keeper.evict(held, never)).rejects.toThrow("sandbox_lost");
    hosts.nowMs += 300_000;
  }
});

test("the files of an ended run stay while a run that continues it is open", async () => {
  const { keeper, ports } = hosts.host("a");
  await (await keeper.open(requestOf(), never))[Symbol.asyncDispose]();
  const [held] = keeper.idle;
  if (held === undefined) throw new Error("no workspace is idle");
  hosts.nowMs += 10_000;
  const retry = retryIdOf("acme", "run_1");
  hosts.listed.set("run_1", "ended").set(retry, "open");
  expect(await isEvictable(held, ports, 5_000, never)).toBe(false);
  hosts.listed.set(retry, "ended");
  expect(await isEvictable(held, ports, 5_000, never)).toBe(true);
});

test("the files of an ended run stay for a minute after a client accessed them, so that parts are of one file", async () => {
  const { keeper, ports } = hosts.host("a");
  await (await keeper.open(requestOf(), never))[Symbol.asyncDispose]();
  hosts.listed.set("run_1", "ended");
  hosts.nowMs += 10_000;
  const [held] = keeper.idle;
  if (held === undefined) throw new Error("no workspace is idle");
  expect(await isEvictable(held, ports, 3_000, never)).toBe(true);
  await (await keeper.open(requestOf("WriteFile", ""), never))[Symbol.asyncDispose]();
  expect(await isEvictable(held, ports, 3_000, never)).toBe(false);
  hosts.nowMs += 60_000;
  expect(await isEvictable(held, ports, 3_000, never)).toBe(true);
});
