import { create } from "@bufbuild/protobuf";
import { WorkspaceFileSchema } from "@reeve/contracts/tool";
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  does,
  MemoryHosts,
  MemoryStorage,
  never,
  requestOf,
} from "../../test/support/memory-workspaces.ts";
import { sweepOnce } from "./sweep-workspaces.ts";

let hosts: MemoryHosts;

beforeEach(() => {
  hosts = new MemoryHosts();
});

type Host = ReturnType<MemoryHosts["host"]>;

async function write({ keeper }: Host, path: string, text: string, call = requestOf()) {
  await using workspace = await keeper.open(call, never);
  await does(workspace, "write", path, text);
  return workspace;
}

async function read({ keeper }: Host, path: string, isRecorded = true) {
  await using workspace = await keeper.open(requestOf("read_file"), never);
  const content = await does(workspace, "read", path);
  if (isRecorded) workspace.markLossesReported();
  return { content, lost: workspace.losses?.lost.map(({ callId }) => callId) };
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

describe("an outage of the store of any length", () => {
  /** More failures than an hour of attempts. */
  const failures = 5_000;

  // Requirement: DUR-3
  test.each([
    ["while a command writes: its call keeps its result", true],
    ["before its first command: its call waits", false],
  ])("%s", async (_, isOpen) => {
    const host = hosts.host("a");
    if (!isOpen) hosts.records.failures = failures;
    await using workspace = await host.keeper.open(requestOf(), never);
    if (isOpen) hosts.records.failures = failures;
    await does(workspace, "write", "x", "1");
    expect(workspace.revision).toBe(1);
    expect(hosts.records.failures).toBe(0);
  });
});

describe("a workspace", () => {
  test("has one more revision for each call that may write, and none for those that only read", async () => {
    const host = hosts.host("a");
    expect((await write(host, "x", "1")).revision).toBe(1);
    await read(host, "x");
    expect((await write(host, "x", "2")).revision).toBe(2);
    expect(await hosts.record()).toMatchObject({ holder: "a", revision: 2, savedRevision: 0 });
  });

  test("moves to another host complete when its host is asked to release it", async () => {
    const [a, b] = [hosts.host("a"), hosts.host("b")];
    await write(a, "x", "1");
    expect(await read(b, "x")).toEqual({ content: "1", lost: undefined });
    await write(b, "x", "2");
    expect(await read(a, "x")).toEqual({ content: "2", lost: undefined });
  });

  test("is not taken while a call runs there", async () => {
    const [a, b] = [hosts.host("a"), hosts.host("b")];
    const running = await a.keeper.open(requestOf(), never);
    await does(running, "write", "x", "1");
    const waiting = read(b, "x");
    await does(running, "write", "x", "2");
    await running[Symbol.asyncDispose]();
    expect(await waiting).toEqual({ content: "2", lost: undefined });
  });

  test("is not used by a run while a call of another run uses it; a client does not wait", async () => {
    const { keeper } = hosts.host("a");
    const failed = await keeper.open(requestOf("run_command", "call-failed"), never);
    const request = { ...requestOf("read_file", "call-next"), runId: "run_next" };
    const opened: string[] = [];
    const waiting = keeper.open(request, never).then((workspace) => {
      opened.push("call");
      return workspace;
    });
    const client = { ...requestOf("WriteFile", ""), runId: "run_next" };
    await (await keeper.open(client, never))[Symbol.asyncDispose]();
    const given = new AbortController();
    const cancelled = keeper.open(request, given.signal);
    given.abort(new Error("cancelled"));
    await expect(cancelled).rejects.toThrow("cancelled");
    await does(failed, "write", "x", "last");
    expect(opened).toEqual([]);
    await failed[Symbol.asyncDispose]();
    await using workspace = await waiting;
    expect(await does(workspace, "read", "x")).toBe("last");
  });

  // Requirement: KIT-10
  test("of a lost host is as it was last saved; missing changes are reported once", async () => {
    const a = hosts.host("a");
    await write(a, "x", "saved");
    await a.keeper.release({ tenant: "acme", id: "run_1" }, false);
    await vi.waitFor(
      async () => expect(await hosts.record()).toMatchObject({ savedRevision: 1 }),
      10_000,
    );
    await write(a, "x", "1", requestOf("write_file", "call-x"));
    hosts.kill("a");
    const b = hosts.host("b");
    // A result that was not recorded has reported nothing.
    expect(await read(b, "x", false)).toEqual({ content: "saved", lost: ["call-x"] });
    expect(await read(b, "x")).toEqual({ content: "saved", lost: ["call-x"] });
    await vi.waitFor(async () => expect((await hosts.record())?.lost).toEqual([]), 10_000);
    expect(await read(b, "x")).toEqual({ content: "saved", lost: undefined });
  });

  test("reports losses in one of several concurrent calls", async () => {
    await write(hosts.host("a"), "x", "1");
    hosts.kill("a");
    const b = hosts.host("b");
    const both = [await b.keeper.open(requestOf(), never), await b.keeper.open(requestOf(), never)];
    expect(both.filter(({ losses }) => losses !== undefined)).toHaveLength(1);
  });

  test("of a host that comes back too late accepts no more changes from it", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    const late = await a.keeper.open(requestOf(), never);
    hosts.kill("a");
    const b = hosts.host("b");
    await write(b, "x", "2");
    await expect(does(late, "write", "x", "3")).rejects.toThrow("taken over by another toolhost");
    await late[Symbol.asyncDispose]();
    hosts.kill("b");
    expect(await read(hosts.host("c"), "x")).toMatchObject({ content: "[nothing]" });
  });

  test("is complete for every host that shares the disk, even after its host was killed", async () => {
    const disk = new MemoryStorage("disk");
    const [a, b] = [hosts.hostAt(disk, "a"), hosts.hostAt(disk, "b")];
    await write(a, "x", "1");
    expect(await read(b, "x")).toEqual({ content: "1", lost: undefined });
    hosts.kill("a");
    hosts.kill("b");
    expect(await read(hosts.hostAt(disk, "c"), "x")).toEqual({ content: "1", lost: undefined });
  });

  test("that two hosts use on one disk is saved without the changes of a call that still runs on the other", async () => {
    const disk = new MemoryStorage("disk");
    const [a, b] = [hosts.hostAt(disk, "a"), hosts.hostAt(disk, "b", { saveAfterMs: 0 })];
    const running = await a.keeper.open(requestOf("run_command", "call-a"), never);
    await does(running, "write", "a", "begun");
    await write(b, "b", "1", requestOf("write_file", "call-b"));
    await vi.waitFor(async () => expect((await hosts.record())?.snapshot).not.toBe(""), 10_000);
    expect((await hosts.record())?.unsaved.map(({ callId }) => callId)).toEqual(["call-a"]);
    await running[Symbol.asyncDispose]();
  });

  test("gets the input files of a run once, and again where they were lost", async () => {
    const draft = { name: "f", mediaType: "text/plain", runId: "" };
    const { artifactId } = await hosts.artifacts.put("acme", draft, once("given"), never);
    const files = [create(WorkspaceFileSchema, { artifactId, path: "in" })];
    const see = async ({ keeper }: Host) => {
      await using workspace = await keeper.open({ ...requestOf("read_file"), files }, never);
      return [await does(workspace, "read", "in"), workspace.losses];
    };
    const a = hosts.host("a");
    expect(await see(a)).toEqual(["given", undefined]);
    await write(a, "in", "changed");
    expect(await see(a)).toEqual(["changed", undefined]);
    hosts.kill("a");
    expect((await see(hosts.host("b")))[0]).toBe("given");
  });

  test("leaves its host when it is evicted, and comes back from its snapshot", async () => {
    const host = hosts.host("a");
    await write(host, "x", "1");
    const [held] = host.keeper.idle;
    expect(held && (await host.keeper.evict(held, never))).toBe(true);
    expect(host.storage.folders.size).toBe(0);
    expect(await hosts.record()).toMatchObject({ holder: "", place: "" });
    expect(await read(host, "x")).toEqual({ content: "1", lost: undefined });
  });

  test("is released complete by a host that ends", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    await a.keeper[Symbol.asyncDispose]();
    hosts.kill("a");
    expect(await read(hosts.host("b"), "x")).toEqual({ content: "1", lost: undefined });
  });

  test("whose snapshot is gone reports that everything is lost", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    await a.keeper[Symbol.asyncDispose]();
    for (const { name } of await hosts.snapshots.list(never)) {
      await hosts.snapshots.remove(name, never);
    }
    const { keeper } = hosts.host("b");
    await using workspace = await keeper.open(requestOf(), never);
    expect(workspace.losses).toMatchObject({ lostSnapshot: true });
  });

  test("that was deleted leaves nothing to the next workspace of its name", async () => {
    const host = hosts.host("a");
    await write(host, "x", "1");
    await host.keeper[Symbol.asyncDispose]();
    await hosts.records.delete("acme.run_1", never);
    const next = hosts.hostAt(host.storage, "b");
    expect(await read(next, "x")).toEqual({ content: "[nothing]", lost: undefined });
  });

  // Requirement: PERM-5
  test.each(["..", "a/b", "", "."])("is not created for a run named %j", async (id) => {
    const { keeper } = hosts.host("a");
    await expect(keeper.open({ ...requestOf(), id }, never)).rejects.toThrow("not a name");
  });
});

describe("a sweep", () => {
  const day = 86_400_000;

  test("deletes workspaces unused for the retention time, but not the files of an open run", async () => {
    for (const [runId, liveness] of [
      ["run_1", "open"],
      ["run_2", "ended"],
    ] as const) {
      hosts.listed.set(runId, liveness);
      const host = hosts.host(`of-${runId}`);
      await write(host, "x", "1", { ...requestOf(), id: runId, runId });
      await host.keeper[Symbol.asyncDispose]();
    }
    hosts.nowMs += 8 * day;
    const { keeper, ports } = hosts.host("sweeper");
    await sweepOnce(keeper, ports, never);
    expect(await hosts.record("run_1")).toBeDefined();
    expect(await hosts.record("run_2")).toBeUndefined();
    expect(await hosts.snapshots.list(never)).toHaveLength(1);
  });

  test("removes folders of workspaces that are elsewhere, and snapshots that no record names", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    hosts.kill("a");
    await write(hosts.host("b"), "x", "2");
    await hosts.snapshots.write("acme/run_9", once("x"), never);
    hosts.nowMs = Date.now() + 2 * 3_600_000;
    const again = hosts.hostAt(a.storage, "a");
    await sweepOnce(again.keeper, again.ports, never);
    expect(a.storage.folders.size).toBe(0);
    expect(await hosts.snapshots.list(never)).toEqual([]);
  });

  test("adopts workspaces that a dead host left on its disk, and saves them", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    hosts.kill("a");
    const { keeper, ports } = hosts.hostAt(a.storage, "b", { saveAfterMs: 0 });
    await sweepOnce(keeper, ports, never);
    await vi.waitFor(
      async () => expect(await hosts.record()).toMatchObject({ savedRevision: 1 }),
      10_000,
    );
  });
});
