import { expect, test } from "vitest";
import { fitRecord } from "./fit-record.ts";

test("a small record is left as it is", () => {
  const record = { stdout: "a", code: 0 };
  expect(fitRecord(record, 50_000)).toBe(record);
});

test.each([
  ["plain text", "x".repeat(1_000_000)],
  ["text that grows when it is escaped", "\u0001".repeat(300_000)],
  ["text of many bytes", "😀".repeat(100_000)],
])("%s is cut so that the whole is JSON of at most as many bytes", (_, long) => {
  const fitting = fitRecord({ stdout: long, stderr: long, result: "kept", success: true }, 50_000);
  expect(Buffer.byteLength(JSON.stringify(fitting))).toBeLessThanOrEqual(50_000);
  expect(fitting).toMatchObject({ result: "kept", success: true });
  expect(fitting?.["stdout"]).toContain("[cut: ");
});

test("a record that is large without long strings cannot be made to fit", () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  expect(fitRecord({ numbers }, 1_000)).toBeUndefined();
});
