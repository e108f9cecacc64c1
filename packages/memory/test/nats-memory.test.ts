import { create } from "@bufbuild/protobuf";
import { jetstreamManager } from "@nats-io/jetstream";
import { MemorySchema } from "@reeve/contracts/memory";
import type { Memory } from "@reeve/contracts/memory";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Table } from "@reeve/jetstream/table/port";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NatsUnderTest } from "@reeve/jetstream/test/nats-under-test";
import { startNatsUnderTest } from "@reeve/jetstream/test/nats-under-test";
import { LongTermMemory } from "../src/long-term-memory.ts";
import { memoryContract, personal } from "./memory-contract.ts";

const never = new AbortController().signal;
const bucket = "KV_memories";

let server: NatsUnderTest;
let table: Table<Memory>;

beforeAll(async () => {
  server = await startNatsUnderTest();
  table = await openTable(server.nats, MemorySchema);
});

afterAll(() => server[Symbol.asyncDispose]());

memoryContract("in JetStream", () => table);

/** Returns all messages in the bucket of memories, as text, oldest first. */
async function storedTexts(): Promise<readonly string[]> {
  const { streams } = await jetstreamManager(server.nats.connection);
  const { first_seq: first, last_seq: last } = (await streams.info(bucket)).state;
  const texts: string[] = [];
  for (let seq = first; seq <= last; seq++) {
    const stored = await streams.getMessage(bucket, { seq });
    if (stored !== null) texts.push(new TextDecoder().decode(stored.data));
  }
  return texts;
}

describe("in the store", () => {
  test("no trace of a deleted text, or of an earlier wording, remains", async () => {
    let now = 1_000;
    const memory = new LongTermMemory(table, () => now);
    const ann = { tenant: "acme", user: "forgetful" };
    await memory.remember(ann, "OWES bob a fortune", personal, never);
    now += 1_000;
    const { memoryId } = await memory.remember(ann, "owes Bob a fortune", personal, never);
    const before = (await storedTexts()).join("\n");
    expect(before).toContain("owes Bob a fortune");
    expect(before).not.toContain("OWES bob a fortune");
    await memory.forget(ann, memoryId, never);
    expect((await storedTexts()).join("\n")).not.toMatch(/a fortune/i);
  });

  test("a memory is found among a thousand of the largest", async () => {
    const owner = { tenant: "acme", user: "talkative" };
    const memory = new LongTermMemory(table, () => 1_000);
    const { memoryId } = await memory.remember(owner, "plays the cello", personal, never);
    const [row] = (await table.list("acme", never)).filter(({ key }) => key.endsWith(memoryId));
    const prefix = row?.key.slice(0, -memoryId.length) ?? "";
    const others = Array.from({ length: 999 }, (_, index) => {
      const text = `${index} ${"something else entirely ".repeat(170)}`;
      const other = create(MemorySchema, { memoryId: `mem_${index}`, text });
      return table.put(`${prefix}mem_${index}`, other, never);
    });
    await Promise.all(others);
    const found = await memory.recall(owner, "the cello of the user", 10, never);
    expect(found.map((each) => each.memoryId)).toEqual([memoryId]);
    const refused = memory.remember(owner, "one more", personal, never);
    await expect(refused).rejects.toMatchObject({ kind: "exhausted" });
  });
});
