import { beforeEach, describe, expect, test, vi } from "vitest";
import { takeWorkspace } from "./take-workspace.ts";
import {
  does,
  MemoryHosts,
  MemoryStorage,
  never,
  requestOf,
} from "../../test/support/memory-workspaces.ts";

let hosts: MemoryHosts;

beforeEach(() => {
  hosts = new MemoryHosts();
});

type Host = ReturnType<MemoryHosts["host"]>;

async function write({ keeper }: Host, path: string, text: string, call = requestOf()) {
  await using workspace = await keeper.open(call, never);
  await does(workspace, "write", path, text);
}

async function read({ keeper }: Host, path: string) {
  await using workspace = await keeper.open(requestOf("read_file"), never);
  const content = await does(workspace, "read", path);
  workspace.markLossesReported();
  return { content, lost: workspace.losses?.lost.map(({ callId }) => callId) };
}

describe("a workspace", () => {
  test("that two hosts use on one disk moves elsewhere with the changes of both", async () => {
    const disk = new MemoryStorage("disk");
    const [a, b] = [hosts.hostAt(disk, "a"), hosts.hostAt(disk, "b")];
    const running = await a.keeper.open(requestOf("run_command", "call-a"), never);
    await does(running, "write", "a", "begun");
    await write(b, "b", "1");
    const elsewhere = read(hosts.host("c"), "a");
    await vi.waitFor(
      async () => expect(await hosts.record()).toMatchObject({ holder: "a" }),
      10_000,
    );
    await does(running, "write", "a", "done");
    await running[Symbol.asyncDispose]();
    expect(await elsewhere).toEqual({ content: "done", lost: undefined });
  });

  test.each(["before", "while"])(
    "whose files vanish %s it is saved keeps its snapshot, and reports the changes that are not in it",
    async (when) => {
      const a = hosts.host("a");
      await write(a, "x", "saved");
      await a.keeper.release({ tenant: "acme", id: "run_1" }, false);
      await vi.waitFor(
        async () => expect(await hosts.record()).toMatchObject({ holder: "" }),
        10_000,
      );
      const before = (await hosts.record())?.snapshot;
      await write(a, "x", "1", requestOf("write_file", "call-x"));
      if (when === "before") a.storage.folders.clear();
      else {
        hosts.snapshots.write = () => {
          a.storage.folders.clear();
          return Promise.resolve({ name: "acme/run_1/00", sizeBytes: 1 });
        };
      }
      await a.keeper[Symbol.asyncDispose]();
      expect(await hosts.record()).toMatchObject({
        snapshot: before,
        unsaved: [{ callId: "call-x" }],
      });
      expect(await read(hosts.host("b"), "x")).toEqual({ content: "saved", lost: ["call-x"] });
    },
  );

  test("that failed to open once is released nevertheless", async () => {
    const [a, b] = [hosts.host("a"), hosts.host("b")];
    await write(a, "x", "1");
    const { sandbox } = a.storage;
    a.storage.sandbox = () => {
      throw new Error("no sandbox");
    };
    await expect(a.keeper.open(requestOf(), never)).rejects.toThrow("no sandbox");
    a.storage.sandbox = sandbox;
    expect(a.keeper.idle).toHaveLength(1);
    expect(await read(b, "x")).toEqual({ content: "1", lost: undefined });
  });

  test("is not waited for forever while calls use it elsewhere", async () => {
    const a = hosts.host("a");
    await using _ = await a.keeper.open(requestOf(), never);
    const { ports } = hosts.host("b");
    const release = () => {
      hosts.nowMs += 6 * 60_000;
      return Promise.resolve("busy" as const);
    };
    const key = { tenant: "acme", id: "run_1" };
    const taking = takeWorkspace(key, { ...ports, peers: { release } }, never);
    await expect(taking).rejects.toThrow("another toolhost");
  });

  test("with a call that does not end is not released as if it were saved by a host that ends", async () => {
    const a = hosts.host("a");
    const late = await a.keeper.open(requestOf("write_file", "late"), never);
    await does(late, "write", "x", "1");
    await a.keeper[Symbol.asyncDispose]();
    expect(await hosts.record()).toMatchObject({ holder: "a", unsaved: [{ callId: "late" }] });
    await late[Symbol.asyncDispose]();
    hosts.kill("a");
    expect((await read(hosts.host("b"), "x")).lost).toEqual(["late"]);
  });
});
