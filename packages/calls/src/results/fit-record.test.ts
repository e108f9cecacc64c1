import { expect, test } from "vitest";
import { fitRecord } from "./fit-record.ts";

test("a small record is unchanged", () => {
  const record = { stdout: "a", code: 0 };
  expect(fitRecord(record, 50_000)).toBe(record);
});

test.each([
  ["plain text", "x".repeat(1_000_000)],
  ["text that grows when escaped", "\u0001".repeat(300_000)],
  ["text of multi-byte characters", "😀".repeat(100_000)],
])("%s is cut so that the JSON fits", (_, long) => {
  const fitting = fitRecord({ stdout: long, stderr: long, result: "kept", success: true }, 50_000);
  expect(Buffer.byteLength(JSON.stringify(fitting))).toBeLessThanOrEqual(50_000);
  expect(fitting).toMatchObject({ result: "kept", success: true });
  expect(fitting?.["stdout"]).toContain("[cut: ");
});

test("a record that is large without long strings does not fit", () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  expect(fitRecord({ numbers }, 1_000)).toBeUndefined();
});
