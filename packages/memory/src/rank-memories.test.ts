import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../test/any-text.ts";
import { rankMemories } from "./rank-memories.ts";

const never = new AbortController().signal;
const day = 86_400_000;
const now = 20_000 * day;

const memoryOf = (text: string, ageDays = 0, memoryId = text): Memory =>
  create(MemorySchema, { memoryId, text, updatedAt: timestampFromMs(now - ageDays * day) });

const rank = (memories: readonly Memory[], query: string) =>
  rankMemories(memories, query, now, never);

const textsFor = async (memories: readonly Memory[], query: string) =>
  (await rank(memories, query)).map(({ text }) => text);

/** No common word has this ending. */
const word = fc.stringMatching(/^[a-z]{2,7}q$/);
const sentence = fc.uniqueArray(word, { minLength: 1, maxLength: 12 });
const age = fc.integer({ min: 0, max: 15_000 });

test("a memory with more of the query comes before newer ones with less", async () => {
  const old = memoryOf("allergic to peanuts and shellfish", 400);
  const others = Array.from({ length: 20 }, (_, index) => memoryOf(`peanuts are cheap ${index}`));
  expect((await rank([...others, old], "is she allergic to shellfish?"))[0]).toBe(old);
});

test("an exact match is found, and newer memories without words of the query are not", async () => {
  await fc.assert(
    fc.asyncProperty(
      sentence,
      fc.array(sentence, { maxLength: 20 }),
      age,
      async (words, others, ageDays) => {
        const exact = memoryOf(words.join(" "), ageDays, "exact");
        const unrelated = others
          .filter((other) => !other.some((each) => words.includes(each)))
          .map((other, index) => memoryOf(other.join(" "), 0, `other ${index}`));
        expect(await rank([...unrelated, exact], words.join(" "))).toEqual([exact]);
      },
    ),
  );
});

test("of equal memories the later comes first, however old both are", async () => {
  await fc.assert(
    fc.asyncProperty(age, fc.integer({ min: 1, max: 90 }), async (ageDays, more) => {
      const older = memoryOf("works at Acme", ageDays + more, "a");
      const later = memoryOf("works at Acme", ageDays, "b");
      expect(await rank([older, later], "acme")).toEqual([later, older]);
    }),
  );
});

test("of equally old and long memories, the one with one more word of the query comes first", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(word, { minLength: 4, maxLength: 10 }),
      age,
      async (words, ageDays) => {
        const [further = "", filler = "", ...shared] = words;
        const more = memoryOf([...shared, further].join(" "), ageDays, "z");
        const less = memoryOf([...shared, filler].join(" "), ageDays, "a");
        expect((await rank([less, more], [...shared, further].join(" ")))[0]).toBe(more);
      },
    ),
  );
});

test("a memory without words of the query does not change the order of the others", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(sentence, age), { maxLength: 12 }),
      sentence,
      async (all, query) => {
        const memories = all.map(([words, ageDays], index) =>
          memoryOf(words.join(" "), ageDays, `m${index}`),
        );
        const ranked = await rank(memories, query.join(" "));
        expect(
          ranked.every(({ text }) => query.some((each) => text.split(" ").includes(each))),
        ).toBe(true);
        expect(await rank(memories.toReversed(), query.join(" "))).toEqual(ranked);
      },
    ),
  );
});

test("a memory from a clock that is ahead does not rank above a new one because of its time", async () => {
  const ahead = memoryOf("works at Acme", -400, "z");
  const others = [memoryOf("works at Acme and Globex", 0, "b")];
  expect((await rank([...others, ahead], "acme globex"))[0]?.memoryId).toBe("b");
});

test("common words do not match a memory", async () => {
  const memories = [memoryOf("The user plays the cello")];
  expect(await rank(memories, "What is the capital of France?")).toEqual([]);
  expect(await rank(memories, "write a table of users")).toEqual([]);
  expect(await rank([], "cello")).toEqual([]);
});

describe("among realistic memories", () => {
  const memories = [
    memoryOf("The user is allergic to penicillin", 700),
    memoryOf("The user's daughter Zoë starts school in September", 40),
    memoryOf("The user prefers TypeScript over JavaScript", 200),
    memoryOf("The user deploys with Kubernetes on Hetzner", 20),
    memoryOf("The user lives in São Paulo", 900),
    memoryOf("The user's manager is Maria from São Paulo", 3),
    memoryOf("ユーザーは猫を二匹飼っている", 100),
    memoryOf("사용자는 커피를 좋아한다", 100),
    memoryOf("用户住在上海", 100),
    memoryOf("Пользователь играет на виолончели", 100),
  ];

  test.each([
    ["Can I take penicillin for this?", "The user is allergic to penicillin"],
    ["gift ideas for zoe", "The user's daughter Zoë starts school in September"],
    ["TYPESCRIPT or something else?", "The user prefers TypeScript over JavaScript"],
    ["my kubernetes pod crashes", "The user deploys with Kubernetes on Hetzner"],
    ["Who in sao paulo is my manager?", "The user's manager is Maria from São Paulo"],
    ["猫の餌", "ユーザーは猫を二匹飼っている"],
    ["猫", "ユーザーは猫を二匹飼っている"],
    ["커피 추천", "사용자는 커피를 좋아한다"],
    ["上海的天气", "用户住在上海"],
    ["ВИОЛОНЧЕЛИ", "Пользователь играет на виолончели"],
  ])("%j ranks the right memory first", async (query, text) => {
    expect((await textsFor(memories, query))[0]).toBe(text);
  });

  test("old facts are found beside new ones", async () => {
    expect(await textsFor(memories, "São Paulo")).toContain("The user lives in São Paulo");
  });

  test("words at the end of a long memory match", async () => {
    const long = memoryOf(`${"something else entirely ".repeat(150)} plays the cello`);
    expect(await rank([...memories, long], "cello")).toEqual([long]);
  });
});

test.each([
  ["nothing", ""],
  ["256 KiB", "cello ".repeat(43_690)],
  ["256 KiB without a space", "x".repeat(262_144)],
  ["256 KiB of ideographs", "猫".repeat(87_381)],
  ["regular expression syntax", "(.*)+$ [a-z]{1,} \\p{L} ^|?"],
  ["lone surrogates", "\ud83d \udc00"],
  ["only marks", "\u0301\ufe0f\u200d"],
  ["only NUL", "\0"],
])("a query of %s does not fail", async (_, query) => {
  const cello = memoryOf("plays the cello");
  const found = await rank([cello], query);
  expect(found).toEqual(query.includes("cello") ? [cello] : []);
});

test("any query and any text can be compared", async () => {
  await fc.assert(
    fc.asyncProperty(anyText(60), anyText(60), async (text, query) => {
      const memory = memoryOf(text, 0, "a");
      expect([[], [memory]]).toContainEqual(await rank([memory], query));
    }),
  );
});

test("ranking a thousand of the longest memories lets other work run", async () => {
  const memories = Array.from({ length: 1_000 }, (_, index) =>
    memoryOf(`${"word ".repeat(800)}${index}`, index, `m${index}`),
  );
  let turns = 0;
  const done = new AbortController();
  const others = (async () => {
    while (!done.signal.aborted) {
      await new Promise(setImmediate);
      turns += 1;
    }
  })();
  const found = await rank(memories, "word 7");
  done.abort();
  await others;
  expect(found).toHaveLength(1_000);
  expect(turns).toBeGreaterThanOrEqual(40);
});

test("an abort ends the ranking", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  const ranking = rankMemories([memoryOf("cello")], "cello", now, gone);
  await expect(ranking).rejects.toThrow("gone");
});
