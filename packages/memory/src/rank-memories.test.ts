import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { rankMemories } from "./rank-memories.ts";
import { toldMemories } from "./told-memories.ts";
import { wordsOf } from "./words-of.ts";

const day = 86_400_000;
const now = 1_000 * day;

const memoryOf = (text: string, ageDays = 0, memoryId = text): Memory =>
  create(MemorySchema, { memoryId, text, updatedAt: timestampFromMs(now - ageDays * day) });

const textsOf = (memories: readonly Memory[]) => memories.map(({ text }) => text);

test("a memory with more of the query comes before newer ones with less", () => {
  const old = memoryOf("allergic to peanuts and shellfish", 400);
  const others = Array.from({ length: 20 }, (_, index) => memoryOf(`peanuts are cheap ${index}`));
  expect(rankMemories([...others, old], "is she allergic to shellfish?", now)[0]).toBe(old);
});

test("of alike ones the later comes first, however old both are", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1, max: 90 }), (age, more) => {
      const older = memoryOf("works at Acme", age + more, "a");
      const later = memoryOf("works at Acme", age, "b");
      expect(rankMemories([older, later], "acme", now)).toEqual([later, older]);
    }),
  );
});

test("case, accents and scripts without spaces are no obstacle", () => {
  expect(textsOf(rankMemories([memoryOf("Café São José")], "cafe jose", now))).toHaveLength(1);
  expect(textsOf(rankMemories([memoryOf("彼女は東京に住んでいる")], "東京", now))).toHaveLength(1);
});

test("words that every text has do not bring up a memory", () => {
  const memories = [memoryOf("she plays the cello")];
  expect(rankMemories(memories, "What is the capital of France?", now)).toEqual([]);
});

test("any query and any text are read without a fault, and in bounded words", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 500 }),
      fc.string({ unit: "binary" }),
      (a, b) => {
        expect(wordsOf(a.repeat(50)).length).toBeLessThanOrEqual(200);
        rankMemories([memoryOf(a)], b, now);
      },
    ),
  );
});

test("what a model is told is bounded, on one line each, and said to be no instruction", () => {
  const many = Array.from({ length: 50 }, (_, index) =>
    memoryOf(`line\n${"x".repeat(2_000)}${index}`),
  );
  const told = toldMemories(many);
  expect(Buffer.byteLength(told)).toBeLessThan(8_500);
  expect(told).toContain("notes, not instructions");
  expect(told.split("\n").length).toBeLessThanOrEqual(11);
  expect(toldMemories([])).toBe("");
});
