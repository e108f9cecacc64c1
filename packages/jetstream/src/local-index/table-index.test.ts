import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { afterAll, expect, test } from "vitest";
import {
  agent,
  agentIndex,
  listContract,
  openAgentIndex,
} from "../../test/support/list-contract.ts";
import { MemoryTable } from "../table/memory.ts";
import type { ChangeBatch, ReadPosition, TablePosition } from "../table/port.ts";
import { maxBatchedChanges } from "../table/port.ts";
import type { ChangedRow } from "./change-order.ts";

const never = new AbortController().signal;
const table = new MemoryTable<Agent>();
listContract("memory", () => table);

const folders: string[] = [];
function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "reeve-index-"));
  folders.push(folder);
  return folder;
}
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

const down = () => new Failure("unavailable", ErrorReason.UNAVAILABLE, "down");

/** Counts from where its changes are read, and how many. Fails its first reads, or one that runs, if told to. */
class WatchedTable extends MemoryTable<Agent> {
  readonly starts: number[] = [];
  failures = 0;
  changes = 0;
  hasPosition = true;
  #reading = new AbortController();

  cut(): void {
    const reading = this.#reading;
    this.#reading = new AbortController();
    reading.abort(down());
  }

  override async position(signal: AbortSignal): Promise<TablePosition> {
    if (!this.hasPosition) throw down();
    return await super.position(signal);
  }

  override async *changesAfter(
    position: ReadPosition,
    signal: AbortSignal,
  ): AsyncIterable<ChangeBatch<Agent>> {
    this.starts.push(position.revision);
    if (this.failures-- > 0) throw down();
    const until = AbortSignal.any([signal, this.#reading.signal]);
    for await (const batch of super.changesAfter(position, until)) {
      this.changes += batch.changes.length;
      yield batch;
    }
  }
}

/** Opens the index of the folder, expects these names in it, and closes it. */
async function expectIndexed(known: WatchedTable, folder: string, expected: string): Promise<void> {
  const { index, names } = openAgentIndex(known, { folder });
  await using _ = index;
  expect(await names("acme")).toBe(expected);
}

test("an index whose table fails continues after the last change that it has", async () => {
  const known = new WatchedTable();
  known.failures = 1;
  await known.put("acme.a", agent("a"), never);
  const { names } = openAgentIndex(known);
  expect(await names("acme")).toBe("a");
  expect(known.starts).toEqual([0, 0]);
});

test("an index with a row that cannot be read continues after its last change, and has the row once it can be read", async () => {
  const locked = new Set(["locked"]);
  const known = new WatchedTable({
    failureOf: (key) => (locked.has(key.split(".")[0] ?? "") ? down() : undefined),
    delays: { firstDelayMs: 10, maxDelayMs: 50 },
  });
  await known.put("locked.a", agent("a"), never);
  await known.put("open.b", agent("b"), never);
  const { index, names } = openAgentIndex(known);
  await using _ = index;
  expect(await names("open")).toBe("b");
  known.cut();
  expect(await names("open")).toBe("b");
  await known.put("open.c", agent("c"), never);
  expect(await names("open")).toBe("b c");
  expect(known.starts).toEqual([0, 2]);
  expect(known.changes).toBe(3);
  await expect(names("locked")).rejects.toThrow("down");
  locked.clear();
  await expect.poll(() => names("locked"), { timeout: 20_000 }).toBe("a");
});

test("readers of changes continue after a position, with the changes of their tenant in order", async () => {
  const known = new WatchedTable();
  for (const key of ["acme.a", "globex.b", "acme.c"]) await known.put(key, agent(key), never);
  const { index, names } = openAgentIndex(known, { isFollowed: true });
  await using _ = index;
  // The index has everything.
  await names("acme");
  const start = await index.position(never);
  const { instance } = start;
  const until = new AbortController();
  const from = (revision: number) =>
    index.changesAfter("acme", { instance, revision }, until.signal)[Symbol.asyncIterator]();
  const [all, later] = [from(0), from(start.revision)];
  const revisionsIn = async (changes: typeof all) => {
    const { value } = await changes.next();
    return value?.rows.map(({ revision }: ChangedRow) => revision);
  };
  expect(await revisionsIn(all)).toEqual([1, 3]);
  await known.put("globex.d", agent("d"), never);
  await known.put("acme.a", agent("a", 2), never);
  await names("acme");
  expect(await revisionsIn(later)).toEqual([5]);
  await known.delete("acme.c", never);
  await known.put("acme.e", agent("e"), never);
  expect(await revisionsIn(later)).toEqual([7]);
  const replaced = index.changesAfter("acme", { instance: "other", revision: 0 }, until.signal);
  await expect(replaced[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    kind: "unavailable",
  });
  const waiting = later.next();
  until.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});

/** Longer than the time after which a lost table is followed again. */
const maxLagMs = 1_500;

test.each([true, false])(
  "readers of changes learn that the table was lost, also if it still tells its position: %j",
  async (tellsPosition) => {
    const known = new WatchedTable();
    await known.put("acme.a", agent("a"), never);
    const { index, names } = openAgentIndex(known, { isFollowed: true, maxLagMs });
    await using _ = index;
    await expect.poll(() => names("acme").catch(() => ""), { timeout: 20_000 }).toBe("a");
    const position = await index.position(never);
    const changes = index.changesAfter("acme", position, never)[Symbol.asyncIterator]();
    known.failures = Infinity;
    known.hasPosition = tellsPosition;
    known.cut();
    await known.put("acme.b", agent("b"), never);
    await expect(changes.next()).rejects.toMatchObject({ kind: "unavailable" });
  },
);

test("the index of a folder continues where the previous process stopped", async () => {
  const [known, folder] = [new WatchedTable(), freshFolder()];
  for (const letter of "abc") await known.put(`acme.${letter}`, agent(letter), never);
  await expectIndexed(known, folder, "a b c");
  await known.delete("acme.b", never);
  await known.put("acme.d", agent("d"), never);
  await expectIndexed(known, folder, "a c d");
  expect(known.starts).toEqual([0, 3]);
  expect(known.changes).toBe(5);
});

test("the index of another table is built again", async () => {
  const [known, folder] = [new WatchedTable(), freshFolder()];
  for (const letter of "abc") await known.put(`acme.${letter}`, agent(letter), never);
  await expectIndexed(known, folder, "a b c");
  const other = new WatchedTable();
  await other.put("acme.x", agent("x"), never);
  await expectIndexed(other, folder, "x");
  expect(other.starts).toEqual([0]);
});

test("an index with another definition is built again", async () => {
  const [known, folder] = [new WatchedTable(), freshFolder()];
  await known.put("acme.a", agent("a", 3), never);
  await expectIndexed(known, folder, "a");
  const definition = { ...agentIndex, kinds: [1, 2, 3] };
  const { names } = openAgentIndex(known, { folder, definition });
  expect(await names("acme", { kinds: [3] })).toBe("a");
  expect(known.starts).toEqual([0, 0]);
});

test("a damaged file is replaced", async () => {
  const [known, folder] = [new WatchedTable(), freshFolder()];
  await known.put("acme.a", agent("a"), never);
  writeFileSync(join(folder, "agents-0.sqlite"), "not a database".repeat(1_000));
  await expectIndexed(known, folder, "a");
});

test("processes that share a folder use a file each", async () => {
  const [known, folder] = [new WatchedTable(), freshFolder()];
  await known.put("acme.a", agent("a"), never);
  for (const index of [1, 2, 3].map(() => openAgentIndex(known, { folder }))) {
    expect(await index.names("acme")).toBe("a");
  }
  const files = readdirSync(folder).filter((file) => file.endsWith(".sqlite"));
  expect(files.toSorted()).toEqual([0, 1, 2].map((slot) => `agents-${slot}.sqlite`));
});

test("a list that is requested while its index is built states the progress", async () => {
  class SlowTable extends WatchedTable {
    override async *changesAfter(position: ReadPosition, signal: AbortSignal) {
      for await (const batch of super.changesAfter(position, signal)) {
        yield batch;
        await new Promise(() => undefined);
      }
    }
  }
  const known = new SlowTable();
  const count = maxBatchedChanges * 4;
  for (let at = 0; at < count; at++) await known.put(`acme.${at}`, agent(`${at}`), never);
  const { index } = openAgentIndex(known, { maxLagMs: 1 });
  await expect(
    index.page({ tenant: "acme" }, { pageSize: 1, pageToken: "" }, never),
  ).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringMatching(/^the list of agents is being built: (0|25) %/),
  });
});

test("other work of the process runs while a batch of slow changes is applied", async () => {
  const known = new WatchedTable();
  for (let at = 0; at < maxBatchedChanges; at++)
    await known.put(`acme.${at}`, agent(`${at}`), never);
  const turns = new Set<number>();
  let turn = 0;
  const count = setInterval(() => turn++, 0);
  const slow = (record: Agent) => {
    turns.add(turn);
    const until = performance.now() + 1;
    while (performance.now() < until);
    return agentIndex.kindOf(record);
  };
  const { names } = openAgentIndex(known, { definition: { ...agentIndex, kindOf: slow } });
  expect((await names("acme")).split(" ")).toHaveLength(maxBatchedChanges);
  clearInterval(count);
  expect(turns.size).toBeGreaterThan(5);
});
