import { describe, expect, test } from "vitest";
import { Redaction } from "./redaction.ts";

const secret = 'canary-1/"ü"+7f3a';

function redactionOf(...secrets: readonly string[]): Redaction {
  const redaction = new Redaction();
  for (const each of secrets) redaction.add(each);
  return redaction;
}

describe("a secret", () => {
  const basic = (user: string) => Buffer.from(`${user}:${secret}`).toString("base64");
  test.each([
    ["as it is", secret],
    ["in JSON", JSON.stringify({ secret })],
    ["in JSON inside of JSON", JSON.stringify({ log: JSON.stringify({ secret }) })],
    ["in JSON of PHP", String.raw`{"secret":"canary-1\/\"\u00fc\"+7f3a"}`],
    [
      "in JSON of PHP inside of JSON",
      JSON.stringify({ log: String.raw`{"secret":"canary-1\/\"\u00fc\"+7f3a"}` }),
    ],
    ["in JSON of Python", String.raw`{"secret": "canary-1/\"\u00fc\"+7f3a"}`],
    ["in a URL", `https://host/?q=${encodeURIComponent(secret)}`],
    ["in a form", new URLSearchParams({ secret }).toString()],
    ["in hexadecimal", Buffer.from(secret).toString("hex")],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64 for URLs", Buffer.from(secret).toString("base64url")],
    [
      "in the header of basic authentication, at each offset",
      [basic("a"), basic("ab"), basic("abc")].join(),
    ],
  ])("is replaced %s", (_, text) => {
    const redacted = redactionOf(secret).text(`before ${text} after`);
    expect(redacted).toMatch(/^before .*\[redacted\].* after$/);
    expect(redacted).not.toContain("canary");
    expect(redacted).not.toContain(encodeURIComponent(secret).slice(8));
    expect(redacted).not.toContain(Buffer.from(secret).toString("base64").slice(4, 14));
  });

  test("is replaced in JSON of Go, which escapes the characters of HTML", () => {
    const redaction = redactionOf("canary<1>&7f3a");
    const json = String.raw`{"secret":"canary\u003c1\u003e\u00267f3a"}`;
    expect(redaction.text(json)).toBe('{"secret":"[redacted]"}');
    expect(redaction.text(JSON.stringify(json))).not.toContain("canary");
  });

  test("is replaced in bytes, and leaves all other bytes as they are", () => {
    const around = Buffer.from([0, 255, 128, 10]);
    const bytes = Buffer.concat([around, Buffer.from(secret), around]);
    const expected = Buffer.concat([around, Buffer.from("[redacted]"), around]);
    expect(Buffer.from(redactionOf(secret).bytes(bytes))).toEqual(expected);
    expect(redactionOf(secret).bytes(around)).toBe(around);
  });

  test("is replaced in the keys and values of a record", () => {
    const record = { list: [{ [secret]: 1 }, secret, null, true] };
    expect(redactionOf(secret).json(record)).toEqual({
      list: [{ "[redacted]": 1 }, "[redacted]", null, true],
    });
  });

  test("is replaced together with another one that overlaps it", () => {
    const redaction = redactionOf("abcdefgh12", "gh12345678", "abcdefgh");
    expect(redaction.text("<abcdefgh12345678> <abcdefgh> <gh1234567>")).toBe(
      "<[redacted]> <[redacted]> <gh1234567>",
    );
  });

  test("of less than eight characters stays: such a text occurs by chance", () => {
    expect(redactionOf("secret").text("a secret word")).toBe("a secret word");
  });

  test("of the settings is kept, no matter how many others were used after it", () => {
    const redaction = redactionOf();
    redaction.keep(secret);
    for (let each = 0; each < 1_001; each++) redaction.add(`another-secret-${each}`);
    expect(redaction.text(secret)).toBe("[redacted]");
  });

  test("is forgotten when 1,000 others were used after it", () => {
    const redaction = redactionOf("the-oldest-one", "the-used-again");
    for (let each = 0; each < 998; each++) redaction.add(`another-secret-${each}`);
    redaction.add("the-used-again");
    redaction.add("the-last-secret");
    expect(redaction.text("the-oldest-one the-used-again the-last-secret")).toBe(
      "the-oldest-one [redacted] [redacted]",
    );
  });
});

describe("a stream", () => {
  const text = `x ${secret}${secret} y ${secret.slice(0, -1)} abcdefgh12345678 canary`;
  const whole = redactionOf(secret, "abcdefgh12", "gh12345678").text(text);

  test.each([1, 2, 3, 7, 19, 64])("has no secret across chunks of %i characters", (size) => {
    const stream = redactionOf(secret, "abcdefgh12", "gh12345678").stream();
    const parts: string[] = [];
    for (let at = 0; at < text.length; at += size) {
      parts.push(stream.push(text.slice(at, at + size)));
    }
    // Parts of a secret that touch are one in a whole text, and may be two in a stream.
    const joined = (parts.join("") + stream.end()).replaceAll("[redacted][redacted]", "[redacted]");
    expect(joined).toBe(whole);
  });

  test("keeps back nothing that cannot begin a secret", () => {
    const stream = redactionOf(secret).stream();
    expect(stream.push("progress: 50%\n")).toBe("progress: 50%\n");
    expect(stream.push("can")).toBe("");
    expect(stream.push("dle")).toBe("candle");
  });
});
