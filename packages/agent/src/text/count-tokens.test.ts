import * as fc from "fast-check";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { firstTokens, lastTokens, tokensIn } from "./count-tokens.ts";

/** The larger count of two real tokenizers. */
function counted(text: string): number {
  const plain = { disallowedSpecial: new Set<string>() };
  return Math.max(countCl100k(text, plain), countO200k(text, plain));
}

const oneOf = (alphabet: string) => fc.constantFrom(...Array.from(alphabet));

/** Each character is as frequent as any other. */
const charactersOf = (alphabet: string) =>
  fc.noBias(fc.string({ unit: oneOf(alphabet), minLength: 500, maxLength: 2_000 }));

/** Letters that often follow each other in words, in words that no vocabulary has. */
const syllables = fc
  .array(
    fc
      .array(
        fc.tuple(oneOf("bcdfghklmnprstvwz"), oneOf("aeiouy")).map((pair) => pair.join("")),
        { minLength: 1, maxLength: 6 },
      )
      .map((word) => word.join("")),
    { minLength: 100, maxLength: 400 },
  )
  .map((words) => words.join(" "));

/** Few letters, so that most of them repeat. */
const repeatedLetters = fc
  .tuple(oneOf("aeilnorst"), oneOf("aeilnorst"))
  .chain(([first, second]) => charactersOf(first.repeat(6) + second + " "));

const inRange = (from: number, to: number) =>
  fc.string({
    unit: fc.integer({ min: from, max: to }).map((code) => String.fromCodePoint(code)),
    minLength: 200,
    maxLength: 2_000,
  });

const sentences = {
  English: "Older messages are summarized when the context window of the model is exceeded. ",
  German:
    "Ältere Nachrichten werden zusammengefasst, sobald das Kontextfenster überschritten ist. ",
  Polish: "Starsze wiadomości są streszczane, gdy okno kontekstu zostanie przekroczone. ",
  Vietnamese: "Các tin nhắn cũ hơn được tóm tắt khi cửa sổ ngữ cảnh bị vượt quá. ",
  Russian: "Более ранние сообщения сжимаются, если контекстное окно модели превышено. ",
  Chinese: "模型的上下文窗口是有限的,因此较早的消息会被压缩。",
  Japanese: "モデルのコンテキストウィンドウには限りがあるため、古いメッセージは要約されます。",
  Hindi: "मॉडल की संदर्भ विंडो सीमित है। ",
  code: "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
  JSON: `{"type":"object","properties":{"arg_1":{"type":"string","description":"An id."}}}`,
  emoji: "😀🎉👩‍👩‍👧‍👦🚀 ",
};

describe("the tokens of a text are not below the count of a tokenizer", () => {
  test.each(Object.entries(sentences))("%s", (_, sentence) => {
    const text = sentence.repeat(20);
    const tokens = tokensIn(text);
    expect(tokens).toBeGreaterThanOrEqual(counted(text));
    expect(tokens).toBeLessThan(4 * counted(text));
  });

  test.each([
    ["lower-case letters", charactersOf("abcdefghijklmnopqrstuvwxyz")],
    ["frequent letters and spaces", charactersOf("etaoinshr  ")],
    ["syllables", syllables],
    ["repeated letters", repeatedLetters],
    ["letters between many spaces", charactersOf("etaoinshr       ")],
    ["base64", charactersOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")],
    ["hexadecimal digits", charactersOf("0123456789abcdef")],
    ["printable ASCII", inRange(0x20, 0x7e)],
    ["white space", charactersOf(" \n\t")],
    ["one character repeated", inRange(0x21, 0x7e).map((text) => text.charAt(0).repeat(500))],
    ["Cyrillic", inRange(0x410, 0x44f)],
    ["Chinese", inRange(0x4e00, 0x9fff)],
    ["Hangul", inRange(0xac00, 0xd7a3)],
    ["emoji", inRange(0x1f300, 0x1faff)],
  ])("random %s", (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(tokensIn(text)).toBeGreaterThanOrEqual(counted(text));
      }),
      { numRuns: 50 },
    );
  });
});

test("a text is cut to a number of tokens at either end, and no character is cut", () => {
  const text = "one 😀 two 漢字 three ".repeat(200);
  const start = firstTokens(text, 100);
  const end = lastTokens(text, 100);
  for (const part of [start, end]) {
    expect(tokensIn(part)).toBeLessThanOrEqual(100);
    expect(tokensIn(part)).toBeGreaterThan(50);
    expect(part.isWellFormed()).toBe(true);
  }
  expect(text.startsWith(start) && text.endsWith(end)).toBe(true);
  for (const none of [0, -5]) expect(firstTokens(text, none)).toBe("");
  expect(lastTokens("short", 100)).toBe("short");
});
