import { expect, test } from "vitest";
import { fitRecord } from "./fit-record.ts";

test("a small record is left as it is", () => {
  const record = { stdout: "a", code: 0 };
  expect(fitRecord(record)).toBe(record);
});

test.each([
  ["plain text", "x".repeat(1_000_000)],
  ["text that grows when it is escaped", "\u0001".repeat(300_000)],
  ["text of many bytes", "😀".repeat(100_000)],
])("%s is cut so that the whole is JSON of at most 50,000 bytes", (_, long) => {
  const fitting = fitRecord({ stdout: long, stderr: long, result: "kept", success: true });
  const text = JSON.stringify(fitting);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50_000);
  expect(fitting).toMatchObject({ result: "kept", success: true });
  expect(fitting["stdout"]).toContain("[cut: ");
});
