import { create, fromJsonString } from "@bufbuild/protobuf";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { expect, test } from "vitest";
import { jsonLine } from "./json-line.ts";
import { escapeUnsafe, plainText } from "./plain-text.ts";

test("text for a terminal has no control characters, and none that change its direction", () => {
  expect(plainText("a\u001b[2J\u200f\u202eb\tc\n\u2028d")).toBe("a[2Jb\tc\nd");
  // Persian needs the joiner.
  expect(plainText("می\u200cخواهم")).toBe("می\u200cخواهم");
});

test("JSON shows every invisible character as escape sequences that mean the same", () => {
  const json = JSON.stringify({ path: "/safe\u200b\u2066x\u{e0041}" });
  const shown = escapeUnsafe(json);
  expect(shown).toBe(String.raw`{"path":"/safe\u200b\u2066x\udb40\udc41"}`);
  expect(JSON.parse(shown)).toEqual(JSON.parse(json));
});

test("a line of JSON cannot control a terminal, and stands for the same message", () => {
  const event = create(AuditEventSchema, { subject: "ann", userAgent: "a\u009b2J\u202eb" });
  const line = jsonLine(AuditEventSchema, event);
  expect(line).toContain(String.raw`a\u009b2J\u202eb`);
  expect(fromJsonString(AuditEventSchema, line)).toEqual(event);
});
