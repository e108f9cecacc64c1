import { setImmediate } from "node:timers/promises";
import type { Memory } from "@reeve/contracts/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { abortable } from "@reeve/platform/async/abortable";
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

test("a request that waits long for those before it is refused", async () => {
  const end = new AbortController();
  const listing = Promise.withResolvers<void>();
  class SilentTable extends MemoryTable<Memory> {
    override list(_: string, signal: AbortSignal) {
      listing.resolve();
      return abortable(new Promise<never>(() => undefined), signal);
    }
  }
  const memory = new LongTermMemory(new SilentTable(), Date.now, { maxWaitMs: 1 });
  const owner = { tenant: "acme", user: "ann" };
  const first = memory.list(owner, end.signal);
  await listing.promise;
  await expect(memory.list(owner, end.signal)).rejects.toMatchObject({ kind: "unavailable" });
  end.abort(new Error("the end of the test"));
  await expect(first).rejects.toThrow("the end of the test");
});
