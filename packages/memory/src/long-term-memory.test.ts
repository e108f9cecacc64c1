import { setImmediate } from "node:timers/promises";
import type { Memory } from "@reeve/contracts/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { memoryContract } from "../test/memory-contract.ts";
import { LongTermMemory } from "./long-term-memory.ts";

const shared = new MemoryTable<Memory>();

memoryContract("in memory", () => shared);

/** A table that counts how many lists are read at the same time. */
class CountedLists extends MemoryTable<Memory> {
  live = 0;
  maxLive = 0;

  override async list(...args: Parameters<MemoryTable<Memory>["list"]>) {
    this.live++;
    this.maxLive = Math.max(this.maxLive, this.live);
    await setImmediate();
    try {
      return await super.list(...args);
    } finally {
      this.live--;
    }
  }
}

test("concurrent requests of a user read the store one after another, and do not wait for those of others", async () => {
  const table = new CountedLists();
  const memory = new LongTermMemory(table, Date.now);
  const never = new AbortController().signal;
  const none = { runId: "", requestId: "" };
  const remember = (user: string, text: string) =>
    memory.remember({ tenant: "acme", user }, text, none, never);
  await Promise.all(Array.from({ length: 60 }, (_, index) => remember("ann", `fact ${index}`)));
  expect(table.maxLive).toBe(1);
  expect(await memory.list({ tenant: "acme", user: "ann" }, never)).toHaveLength(60);
  await Promise.all(["ann", "bob", "cy"].map((user) => remember(user, "another fact")));
  expect(table.maxLive).toBe(3);
});
