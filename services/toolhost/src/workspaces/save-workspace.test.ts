import { createHash } from "node:crypto";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { snapshotName } from "@reeve/jetstream/objects/workspace-store";
import { beforeEach, describe, expect, test } from "vitest";
import { does, MemoryHosts, never, requestOf } from "../../test/support/memory-workspaces.ts";
import { sweepOnce } from "./sweep-workspaces.ts";

const hour = 3_600_000;

let hosts: MemoryHosts;
let host: ReturnType<MemoryHosts["host"]>;

beforeEach(() => {
  hosts = new MemoryHosts();
  hosts.nowMs = Date.now();
  host = hosts.host("a");
});

/** Writes a file in a call, and saves the workspace. Returns the revision that the result of the call names. */
async function save(text: string, request = requestOf()): Promise<number> {
  await using workspace = await host.keeper.open(request, never);
  await does(workspace, "write", "x", text);
  const { revision } = workspace;
  await workspace[Symbol.asyncDispose]();
  const [held] = host.keeper.idle;
  if (held !== undefined) await host.keeper.evict(held, never);
  return revision;
}

/** Returns the content of the snapshot of a revision. Undefined: the record names none. */
async function contentAt(revision: number): Promise<string | undefined> {
  const record = await hosts.record();
  const snapshot = record?.snapshots.find((kept) => kept.revision === revision);
  if (record === undefined || snapshot === undefined) return undefined;
  const content = await hosts.snapshots.read(snapshotName(record, snapshot), never);
  if (content === undefined) throw new Error(`the snapshot of revision ${revision} is gone`);
  const bytes = Buffer.concat(await Array.fromAsync(content));
  expect(createHash("sha256").update(bytes).digest()).toEqual(Buffer.from(snapshot.digest));
  expect(Number(snapshot.sizeBytes)).toBe(bytes.length);
  return bytes.toString();
}

const files = (text: string) => JSON.stringify([["x", text]]);

async function sweep(): Promise<number> {
  await sweepOnce(host.keeper, host.ports, never);
  return (await hosts.snapshots.list(never)).length;
}

describe("a workspace that is saved", () => {
  test("keeps the snapshots of revisions that results name, also after later ones and sweeps", async () => {
    const first = await save("1");
    const second = await save("2");
    hosts.nowMs += 2 * hour;
    expect(await sweep()).toBe(2);
    expect([await contentAt(first), await contentAt(second)]).toEqual([files("1"), files("2")]);
  });

  test("stores equal files once, for each revision that has them", async () => {
    const revisions = [await save("1"), await save("2"), await save("1")];
    expect(await sweep()).toBe(2);
    const contents = await Promise.all(revisions.map(contentAt));
    expect(contents).toEqual([files("1"), files("2"), files("1")]);
  });

  test("shares no snapshot with a workspace of equal files", async () => {
    await save("1");
    await save("1", { ...requestOf(), tenant: "rival" });
    await save("1", { ...requestOf(), id: "thread-t" });
    expect(await sweep()).toBe(3);
  });

  test("keeps no replaced snapshot of files that a client wrote", async () => {
    await save("1", requestOf("WriteFile", ""));
    await save("2");
    expect(await sweep()).toBe(2);
    hosts.nowMs += 2 * hour;
    expect(await sweep()).toBe(1);
  });

  test("refers to its last snapshot when its host dies before it has written the record", async () => {
    const first = await save("1");
    const { write } = hosts.snapshots;
    hosts.snapshots.write = async (...given) => {
      await write.apply(hosts.snapshots, given);
      throw storeUnavailable();
    };
    await expect(save("2")).rejects.toMatchObject({ kind: "unavailable" });
    expect((await hosts.snapshots.list(never)).length).toBe(2);
    hosts.kill("a");
    host = hosts.host("b");
    await using workspace = await host.keeper.open(requestOf("read_file"), never);
    expect(await does(workspace, "read", "x")).toBe("1");
    hosts.nowMs += 2 * hour;
    expect(await sweep()).toBe(1);
    expect(await contentAt(first)).toBe(files("1"));
  });

  test("keeps a snapshot that is stored again while a sweep removes it", async () => {
    await save("1", requestOf("WriteFile", ""));
    await save("2", requestOf("WriteFile", ""));
    hosts.nowMs += 2 * hour;
    const { list } = host.ports.records;
    const saving = Promise.withResolvers<number>();
    host.ports.records.list = async (...given) => {
      const rows = await list.apply(host.ports.records, given);
      saving.resolve(await save("1"));
      return rows;
    };
    await sweep();
    expect(await contentAt(await saving.promise)).toBe(files("1"));
  });
});

const inThread = () => ({ ...requestOf(), id: "thread-t" });

function setOpenRun(isOpen: boolean): void {
  Object.assign(host.ports, { hasOpenRun: () => Promise.resolve(isOpen) });
}

describe("a thread whose files are used for longer than the retention time", () => {
  test("keeps the last snapshot, and the others while one of its runs is open", async () => {
    await save("1", inThread());
    hosts.nowMs += 8 * 24 * hour;
    await save("2", inThread());
    hosts.nowMs += 2 * hour;
    setOpenRun(true);
    expect(await sweep()).toBe(2);
    setOpenRun(false);
    expect(await sweep()).toBe(1);
    expect((await hosts.record("thread-t"))?.snapshots).toMatchObject([{ revision: 2 }]);
  });
});
