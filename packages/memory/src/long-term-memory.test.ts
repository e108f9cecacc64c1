import type { Memory } from "@reeve/contracts/memory";
import { MemoryTable } from "@reeve/store/memory-table";
import { expect, test } from "vitest";
import { memoryContract } from "../test/memory-contract.ts";
import { LongTermMemory, mostMemories } from "./long-term-memory.ts";
import { callMemory } from "./memory-tools.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", user: "ann" };
const shared = new MemoryTable<Memory>();

memoryContract("in memory", () => shared);

test("keeps a thousand memories of somebody, and says so instead of dropping one", async () => {
  const memory = new LongTermMemory(new MemoryTable<Memory>(), () => 0);
  for (let index = 0; index < mostMemories; index++) {
    await memory.remember(ann, `fact ${index}`, "", never);
  }
  await expect(memory.remember(ann, "one more", "", never)).rejects.toMatchObject({
    kind: "exhausted",
    message: expect.stringContaining("forget some"),
  });
  // One that is known can still be said again.
  await memory.remember(ann, "fact 7", "", never);
  const call = { name: "remember", args: { text: "one more" }, runId: "run_1" };
  expect(await callMemory(memory, ann, call, never)).toMatchObject({ isError: true });
});

test("an agent remembers, recalls and forgets by its tools", async () => {
  const memory = new LongTermMemory(new MemoryTable<Memory>(), () => 0);
  const call = (name: string, args: Record<string, string | number>) =>
    callMemory(memory, ann, { name, args, runId: "run_1" }, never);
  const { content } = await call("remember", { text: "Plays the cello" });
  const memoryId = content.replace("remembered as ", "");
  expect(JSON.parse((await call("recall", { query: "cello?", limit: 3 })).content)).toEqual([
    { memory_id: memoryId, text: "Plays the cello" },
  ]);
  expect(await call("forget", { memory_id: memoryId })).toMatchObject({ isError: false });
  expect(await call("forget", { memory_id: memoryId })).toMatchObject({ isError: true });
});
