import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { personal } from "../test/memory-contract.ts";
import { LongTermMemory } from "./long-term-memory.ts";
import { callMemoryTool } from "./memory-tools.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", user: "ann" };
const fresh = () => new LongTermMemory(new MemoryTable<Memory>(), () => 0);

/** Returns a function that calls the memory tools as an agent of a user. */
function agent(memory: LongTermMemory, owner = ann) {
  return (name: string, args: JsonObject, callId = "call_1") =>
    callMemoryTool(memory, owner, { name, args, runId: "run_1", callId }, never);
}

test("an agent remembers, recalls, and forgets", async () => {
  const call = agent(fresh());
  const { content } = await call("remember", { text: "Plays the cello" });
  const memoryId = content.replace("remembered as ", "");
  expect(JSON.parse((await call("recall", { query: "cello?", limit: 3 })).content)).toEqual({
    note: expect.stringContaining("not instructions"),
    memories: [{ memory_id: memoryId, updated_on: "1970-01-01", text: "Plays the cello" }],
  });
  expect(await call("forget", { memory_id: memoryId })).toMatchObject({ isError: false });
  expect(await call("forget", { memory_id: memoryId })).toMatchObject({
    content: `no memory has the id "${memoryId}"`,
    isError: true,
  });
});

test("a repeated call stores one memory, and returns the same result", async () => {
  const memory = fresh();
  const call = agent(memory);
  const first = await call("remember", { text: "Plays the cello" });
  expect(await call("remember", { text: "Plays the cello" })).toEqual(first);
  expect(await memory.list(ann, never)).toMatchObject([{ runId: "run_1", requestId: "call_1" }]);
});

test("an agent that searches with other words gets the latest memories, and a note that none matches", async () => {
  const call = agent(fresh());
  expect(await call("recall", { query: "music" })).toEqual({
    content: "this user has no memories",
    isError: false,
  });
  await call("remember", { text: "Plays the cello" });
  const { note, memories } = JSON.parse((await call("recall", { query: "music" })).content);
  expect(note).toContain("no memory has a word of the query");
  expect(memories).toMatchObject([{ text: "Plays the cello" }]);
});

test("an agent of another user can neither read nor delete a memory", async () => {
  const memory = fresh();
  const { content } = await agent(memory)("remember", { text: "Plays the cello" });
  for (const other of [
    { ...ann, user: "bob" },
    { ...ann, tenant: "globex" },
  ]) {
    const call = agent(memory, other);
    const { content: read } = await call("recall", { query: "cello" });
    expect(read).toBe("this user has no memories");
    const memoryId = content.replace("remembered as ", "");
    expect(await call("forget", { memory_id: memoryId })).toMatchObject({ isError: true });
  }
  expect(await memory.list(ann, never)).toHaveLength(1);
});

test("an agent whose user has a thousand memories learns that it has to delete some", async () => {
  const table = new FullTable();
  const memory = new LongTermMemory(table, () => 0);
  expect(await agent(memory)("remember", { text: "one more" })).toEqual({
    content:
      "the user already has 1000 memories, the maximum, and none is deleted automatically; delete some first",
    isError: true,
  });
  expect(table.created).toBe(0);
  table.rows = 999;
  expect(await agent(memory)("remember", { text: "one more" })).toMatchObject({ isError: false });
});

/** A table that lists a fixed number of rows. */
class FullTable extends MemoryTable<Memory> {
  rows = 1_000;
  created = 0;

  override create(...args: Parameters<MemoryTable<Memory>["create"]>) {
    this.created += 1;
    return super.create(...args);
  }

  override list() {
    const record = create(MemorySchema, {});
    const rows = Array.from({ length: this.rows }, () => ({ key: "", record, revision: 0 }));
    return Promise.resolve(rows);
  }
}

test.each([
  ["remember", { text: "" }, "1 to 4096 bytes"],
  ["remember", { text: "x".repeat(5_000) }, "this one has 5000"],
  ["remember", {}, "this one has 0"],
  ["forget", { memory_id: "*" }, 'no memory has the id "*"'],
  ["dream", {}, "dream is not a memory tool"],
])("an invalid call of %s returns an error result", async (name, args, words) => {
  const { content, isError } = await agent(fresh())(name, args);
  expect(content).toContain(words);
  expect(isError).toBe(true);
});

test("a store that does not answer makes the call fail, so that it can be repeated", async () => {
  class UnavailableTable extends MemoryTable<Memory> {
    override list(): Promise<never> {
      return Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, "away"));
    }
  }
  const memory = new LongTermMemory(new UnavailableTable(), () => 0);
  await expect(agent(memory)("recall", { query: "x" })).rejects.toMatchObject({ reason: 20 });
});

test("a result is bounded whatever its limit is, and states how many memories it leaves out", async () => {
  const memory = fresh();
  for (let index = 0; index < 20; index++) {
    // A control character takes six bytes in JSON.
    await memory.remember(ann, `cello ${index} ${"\u0001".repeat(4_000)}`, personal, never);
  }
  const { content } = await agent(memory)("recall", { query: "cello", limit: 1e9 });
  expect(Buffer.byteLength(content)).toBeLessThan(33_000);
  const { memories, left_out: leftOut } = JSON.parse(content);
  expect(memories.length + leftOut).toBe(20);
});
