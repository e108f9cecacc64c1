import { expect, test } from "vitest";
import { Redaction } from "./redaction.ts";

const secret = "s3cr3tTokenABCDEF";

function passed(chunks: readonly string[]): readonly string[] {
  const redaction = new Redaction();
  redaction.add(secret);
  const stream = redaction.steadyStream();
  return [...chunks.map((chunk) => stream.push(chunk)), stream.end()];
}

test("a reader learns nothing about a secret from what is held back", () => {
  const filler = "x".repeat(1_000);
  for (let length = 1; length < secret.length; length++) {
    const right = passed([`${filler}${secret.slice(0, length)}`, filler]);
    const wrong = passed([`${filler}${"z".repeat(length)}`, filler]);
    expect(right.map((each) => each.length)).toEqual(wrong.map((each) => each.length));
  }
});

test("a secret is redacted wherever chunks cut it", () => {
  const text = `${"a".repeat(300)}${secret}${secret.slice(0, 8)}${secret}${"b".repeat(300)}`;
  const redacted = `${"a".repeat(300)}[redacted]${secret.slice(0, 8)}[redacted]${"b".repeat(300)}`;
  for (let size = 1; size < 60; size++) {
    const chunks = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    expect(passed(chunks).join("")).toBe(redacted);
  }
});

test("a stream of one secret after another is passed on before it ends", () => {
  const chunks = Array.from({ length: 100 }, () => secret.repeat(100));
  const all = passed(chunks);
  expect(all.join("")).not.toContain(secret);
  expect(all.slice(0, -1).join("").length).toBeGreaterThan(0);
});

test("without a secret, nothing is held back", () => {
  const stream = new Redaction().steadyStream();
  expect(stream.push("all of it")).toBe("all of it");
});
