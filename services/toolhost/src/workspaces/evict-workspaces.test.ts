import { beforeEach, expect, test } from "vitest";
import type { WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import { isEvictable } from "./evict-workspaces.ts";
import { does, MemoryHosts, never, wanted } from "../../test/support/memory-workspaces.ts";

let hosts: MemoryHosts;

beforeEach(() => {
  hosts = new MemoryHosts();
});

type Host = Pick<ReturnType<MemoryHosts["host"]>, "keeper">;

async function write(
  { keeper }: Host,
  path: string,
  text: string,
  call: WorkspaceRequest = wanted(),
) {
  await using workspace = await keeper.open(call, never);
  await does(workspace, "write", path, text);
}

test("a workspace that cannot be saved is given up in the end, and what is lost is told", async () => {
  const host = hosts.host("a");
  await write(host, "x", "1", wanted("write_file", "call-x"));
  const [held] = host.keeper.idle;
  if (held === undefined) throw new Error("nothing rests");
  host.place.refusal = "the workspace has more than it may";
  for (let attempt = 0; attempt < 8; attempt++) {
    await expect(host.keeper.evict(held, never)).rejects.toThrow("more than it may");
    // Not tried again before its time.
    expect(await host.keeper.evict(held, never)).toBe(false);
    hosts.nowMs += 300_000;
  }
  expect(await host.keeper.evict(held, never)).toBe(true);
  expect(host.place.folders.size).toBe(0);
  await using workspace = await host.keeper.open(wanted("read_file"), never);
  expect(await does(workspace, "read", "x")).toBe("[nothing]");
  expect(workspace.losses?.lost).toMatchObject([{ callId: "call-x" }]);
});

test("a workspace whose sandbox is lost again and again is not given up", async () => {
  const host = hosts.host("a");
  await write(host, "x", "1");
  const [held] = host.keeper.idle;
  if (held === undefined) throw new Error("nothing rests");
  host.place.refusal = "";
  for (let attempt = 0; attempt < 10; attempt++) {
    await expect(host.keeper.evict(held, never)).rejects.toThrow("sandbox_lost");
    hosts.nowMs += 300_000;
  }
});

test("the files of an ended run stay for a minute after a person looked at them, so that parts are of one file", async () => {
  const { keeper, ports } = hosts.host("a");
  await (await keeper.open(wanted(), never))[Symbol.asyncDispose]();
  hosts.listed.set("run_1", "ended");
  hosts.nowMs += 10_000;
  const [held] = keeper.idle;
  if (held === undefined) throw new Error("nothing rests");
  expect(await isEvictable(held, ports, 3_000, never)).toBe(true);
  await (await keeper.open(wanted("WriteFile", ""), never))[Symbol.asyncDispose]();
  expect(await isEvictable(held, ports, 3_000, never)).toBe(false);
  hosts.nowMs += 60_000;
  expect(await isEvictable(held, ports, 3_000, never)).toBe(true);
});
