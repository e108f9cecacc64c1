import { create } from "@bufbuild/protobuf";
import { WorkspaceFileSchema } from "@reeve/contracts/tool";
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  does,
  MemoryHosts,
  MemoryPlace,
  never,
  wanted,
} from "../../test/support/memory-workspaces.ts";
import { sweepOnce } from "./sweep-workspaces.ts";

let hosts: MemoryHosts;

beforeEach(() => {
  hosts = new MemoryHosts();
});

type Host = ReturnType<MemoryHosts["host"]>;

async function write({ keeper }: Host, path: string, text: string, call = wanted()) {
  await using workspace = await keeper.open(call, never);
  await does(workspace, "write", path, text);
  return workspace;
}

async function read({ keeper }: Host, path: string, isTold = true) {
  await using workspace = await keeper.open(wanted("read_file"), never);
  const content = await does(workspace, "read", path);
  if (isTold) workspace.markLossesReported();
  return { content, lost: workspace.losses?.lost.map(({ callId }) => callId) };
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

describe("a workspace", () => {
  test("has a revision more for each call that may write, and none for those that only read", async () => {
    const host = hosts.host("a");
    expect((await write(host, "x", "1")).revision).toBe(1);
    await read(host, "x");
    expect((await write(host, "x", "2")).revision).toBe(2);
    expect(await hosts.record()).toMatchObject({ holder: "a", revision: 2, savedRevision: 0 });
  });

  test("goes to another host whole, when the one that has it is asked for it", async () => {
    const [a, b] = [hosts.host("a"), hosts.host("b")];
    await write(a, "x", "1");
    expect(await read(b, "x")).toEqual({ content: "1", lost: undefined });
    await write(b, "x", "2");
    expect(await read(a, "x")).toEqual({ content: "2", lost: undefined });
    expect(await hosts.snapshots.list(never)).toHaveLength(1);
  });

  test("is not taken while a call runs there", async () => {
    const [a, b] = [hosts.host("a"), hosts.host("b")];
    const running = await a.keeper.open(wanted(), never);
    await does(running, "write", "x", "1");
    const waiting = read(b, "x");
    await does(running, "write", "x", "2");
    await running[Symbol.asyncDispose]();
    expect(await waiting).toEqual({ content: "2", lost: undefined });
  });

  // Requirement: KIT-10
  test("that a lost host had is as it was saved last; what is missing is told once", async () => {
    const a = hosts.host("a");
    await write(a, "x", "saved");
    await a.keeper.release({ tenant: "acme", id: "run_1" }, false);
    await vi.waitFor(async () => expect(await hosts.record()).toMatchObject({ savedRevision: 1 }));
    await write(a, "x", "1", wanted("write_file", "call-x"));
    hosts.kill("a");
    const b = hosts.host("b");
    // A result that did not get through has told nobody.
    expect(await read(b, "x", false)).toEqual({ content: "saved", lost: ["call-x"] });
    expect(await read(b, "x")).toEqual({ content: "saved", lost: ["call-x"] });
    await vi.waitFor(async () => expect((await hosts.record())?.lost).toEqual([]));
    expect(await read(b, "x")).toEqual({ content: "saved", lost: undefined });
  });

  test("tells of losses in one of the calls that run together", async () => {
    await write(hosts.host("a"), "x", "1");
    hosts.kill("a");
    const b = hosts.host("b");
    const both = [await b.keeper.open(wanted(), never), await b.keeper.open(wanted(), never)];
    expect(both.filter(({ losses }) => losses !== undefined)).toHaveLength(1);
  });

  test("of a host that comes back too late takes no more changes from it", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    const late = await a.keeper.open(wanted(), never);
    hosts.kill("a");
    const b = hosts.host("b");
    await write(b, "x", "2");
    await expect(does(late, "write", "x", "3")).rejects.toThrow("taken over by another toolhost");
    await late[Symbol.asyncDispose]();
    hosts.kill("b");
    expect(await read(hosts.host("c"), "x")).toMatchObject({ content: "[nothing]" });
  });

  test("is whole for every host that shares the disk, also of one that was killed", async () => {
    const disk = new MemoryPlace("disk");
    const [a, b] = [hosts.hostAt(disk, "a"), hosts.hostAt(disk, "b")];
    await write(a, "x", "1");
    expect(await read(b, "x")).toEqual({ content: "1", lost: undefined });
    hosts.kill("a");
    hosts.kill("b");
    expect(await read(hosts.hostAt(disk, "c"), "x")).toEqual({ content: "1", lost: undefined });
  });

  test("that two hosts use on one disk is saved without what still runs on the other", async () => {
    const disk = new MemoryPlace("disk");
    const [a, b] = [hosts.hostAt(disk, "a"), hosts.hostAt(disk, "b", { saveAfterMs: 0 })];
    const running = await a.keeper.open(wanted("run_command", "call-a"), never);
    await does(running, "write", "a", "begun");
    await write(b, "b", "1", wanted("write_file", "call-b"));
    await vi.waitFor(async () => expect((await hosts.record())?.snapshot).not.toBe(""));
    expect((await hosts.record())?.unsaved.map(({ callId }) => callId)).toEqual(["call-a"]);
    await running[Symbol.asyncDispose]();
  });

  test("gets the input files of a run once, and again where they were lost", async () => {
    const draft = { name: "f", mediaType: "text/plain", runId: "" };
    const { artifactId } = await hosts.artifacts.put("acme", draft, once("given"), never);
    const files = [create(WorkspaceFileSchema, { artifactId, path: "in" })];
    const see = async ({ keeper }: Host) => {
      await using workspace = await keeper.open({ ...wanted("read_file"), files }, never);
      return [await does(workspace, "read", "in"), workspace.losses];
    };
    const a = hosts.host("a");
    expect(await see(a)).toEqual(["given", undefined]);
    await write(a, "in", "changed");
    expect(await see(a)).toEqual(["changed", undefined]);
    hosts.kill("a");
    expect((await see(hosts.host("b")))[0]).toBe("given");
  });

  test("is saved when it rests, and the snapshot before it is deleted", async () => {
    const host = hosts.host("a", { saveAfterMs: 0 });
    for (const [revision, text] of ["1", "2"].entries()) {
      await write(host, "x", text);
      await vi.waitFor(async () =>
        expect(await hosts.record()).toMatchObject({ savedRevision: revision + 1, unsaved: [] }),
      );
    }
    await vi.waitFor(async () => expect(await hosts.snapshots.list(never)).toHaveLength(1));
  });

  test("leaves its host when it is taken away, and comes back from its snapshot", async () => {
    const host = hosts.host("a");
    await write(host, "x", "1");
    const [held] = host.keeper.idle;
    expect(held && (await host.keeper.evict(held, never))).toBe(true);
    expect(host.place.folders.size).toBe(0);
    expect(await hosts.record()).toMatchObject({ holder: "", place: "" });
    expect(await read(host, "x")).toEqual({ content: "1", lost: undefined });
  });

  test("is let go by a host that ends, with all that it has", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    await a.keeper[Symbol.asyncDispose]();
    hosts.kill("a");
    expect(await read(hosts.host("b"), "x")).toEqual({ content: "1", lost: undefined });
  });

  test("whose snapshot is gone says that everything is", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    await a.keeper[Symbol.asyncDispose]();
    for (const { name } of await hosts.snapshots.list(never)) {
      await hosts.snapshots.remove(name, never);
    }
    const { keeper } = hosts.host("b");
    await using workspace = await keeper.open(wanted(), never);
    expect(workspace.losses).toMatchObject({ lostSnapshot: true });
  });

  test("that was deleted leaves nothing to the next one of its name", async () => {
    const host = hosts.host("a");
    await write(host, "x", "1");
    await host.keeper[Symbol.asyncDispose]();
    await hosts.records.delete("acme.run_1", never);
    const next = hosts.hostAt(host.place, "b");
    expect(await read(next, "x")).toEqual({ content: "[nothing]", lost: undefined });
  });

  // Requirement: PERM-5
  test.each(["..", "a/b", "", "."])("is not made for a run named %j", async (id) => {
    const { keeper } = hosts.host("a");
    await expect(keeper.open({ ...wanted(), id }, never)).rejects.toThrow("not a name");
  });
});

describe("a tidy round", () => {
  const day = 86_400_000;

  test("deletes what nobody has used for the retention time, but not the files of a run that goes on", async () => {
    for (const [runId, standing] of [
      ["run_1", "open"],
      ["run_2", "ended"],
    ] as const) {
      hosts.listed.set(runId, standing);
      const host = hosts.host(`of-${runId}`);
      await write(host, "x", "1", { ...wanted(), id: runId, runId });
      await host.keeper[Symbol.asyncDispose]();
    }
    hosts.nowMs += 8 * day;
    const { keeper, ports } = hosts.host("tidy");
    await sweepOnce(keeper, ports, never);
    expect(await hosts.record("run_1")).toBeDefined();
    expect(await hosts.record("run_2")).toBeUndefined();
    expect(await hosts.snapshots.list(never)).toHaveLength(1);
  });

  test("takes away folders of workspaces that are elsewhere, and snapshots that nobody names", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    hosts.kill("a");
    await write(hosts.host("b"), "x", "2");
    await hosts.snapshots.write("acme/run_9/orphan", once("x"), never);
    hosts.nowMs = Date.now() + 2 * 3_600_000;
    const again = hosts.hostAt(a.place, "a");
    await sweepOnce(again.keeper, again.ports, never);
    expect(a.place.folders.size).toBe(0);
    expect(await hosts.snapshots.list(never)).toEqual([]);
  });

  test("takes up what a lost host has left on its disk, so that it is saved", async () => {
    const a = hosts.host("a");
    await write(a, "x", "1");
    hosts.kill("a");
    const { keeper, ports } = hosts.hostAt(a.place, "b", { saveAfterMs: 0 });
    await sweepOnce(keeper, ports, never);
    await vi.waitFor(async () => expect(await hosts.record()).toMatchObject({ savedRevision: 1 }));
  });
});
