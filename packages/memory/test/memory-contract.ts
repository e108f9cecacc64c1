import type { Memory } from "@reeve/contracts/memory";
import { Failure } from "@reeve/platform/failure";
import type { Table } from "@reeve/store/table";
import { describe, expect, test } from "vitest";
import { LongTermMemory } from "../src/long-term-memory.ts";

const never = new AbortController().signal;
let users = 0;

/** Somebody of whom nothing is remembered. */
const someone = () => ({ tenant: "acme", user: `ann@example.com/${users++} *.>` });

/** What long-term memory promises, over whichever table it is kept in. */
export function memoryContract(where: string, table: () => Table<Memory>): void {
  describe(`long-term memory ${where}`, () => {
    const clock = { now: 1_000 };
    const memory = () => new LongTermMemory(table(), () => clock.now);

    test("recalls what has words of the query, and nothing else", async () => {
      const ann = someone();
      await memory().remember(ann, "Prefers tea to coffee", "", never);
      await memory().remember(ann, "Lives in Lisbon", "run_1", never);
      const found = await memory().recall(ann, "Which TEA does she like?", 10, never);
      expect(found.map(({ text }) => text)).toEqual(["Prefers tea to coffee"]);
      expect(await memory().recall(ann, "dinosaurs", 10, never)).toEqual([]);
    });

    test("keeps the same text once, and knows when it was said last", async () => {
      const ann = someone();
      const first = await memory().remember(ann, "Likes  chess", "run_1", never);
      clock.now += 5_000;
      const again = await memory().remember(ann, "likes chess ", "run_2", never);
      expect(again.memoryId).toBe(first.memoryId);
      const [kept, another] = await memory().list(ann, never);
      expect(another).toBeUndefined();
      expect(kept).toMatchObject({ runId: "run_1", createdAt: first.createdAt });
      expect(kept?.updatedAt).not.toEqual(first.updatedAt);
    });

    test("keeps it once when many say it at the same time", async () => {
      const ann = someone();
      const saying = Array.from({ length: 8 }, () =>
        memory().remember(ann, "Has a dog", "", never),
      );
      await Promise.all(saying);
      expect(await memory().list(ann, never)).toHaveLength(1);
    });

    test("forgets what it is told to, once", async () => {
      const ann = someone();
      const { memoryId } = await memory().remember(ann, "Owes Bob money", "", never);
      expect(await memory().forget(ann, memoryId, never)).toBe(true);
      expect(await memory().forget(ann, memoryId, never)).toBe(false);
      expect(await memory().list(ann, never)).toEqual([]);
    });

    test("shows nobody what is remembered of another, in the tenant or outside", async () => {
      const ann = someone();
      const { memoryId } = await memory().remember(ann, "Secret garden", "", never);
      for (const other of [someone(), { ...ann, tenant: "other" }]) {
        expect(await memory().list(other, never)).toEqual([]);
        expect(await memory().recall(other, "secret garden", 10, never)).toEqual([]);
        expect(await memory().forget(other, memoryId, never)).toBe(false);
      }
      expect(await memory().list(ann, never)).toHaveLength(1);
    });

    test.each(["", "   ", "x".repeat(4_097)])(
      "refuses a text of the wrong length",
      async (text) => {
        await expect(memory().remember(someone(), text, "", never)).rejects.toThrow(Failure);
      },
    );

    test.each(["mem_*", ">", "", "mem_../x", "\0"])(
      "has nothing of the id %j",
      async (memoryId) => {
        expect(await memory().forget(someone(), memoryId, never)).toBe(false);
      },
    );
  });
}
