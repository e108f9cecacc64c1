import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { Failure } from "../failure.ts";
import { CollectedFailures } from "./collected-failures.ts";

function invalid(message: string): Failure {
  const violations = [{ field: message, description: "is wrong", reason: "X" }];
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}

// Requirement: RES-12
test("what is wrong with several inputs is reported together, and one failure stays itself", async () => {
  const failures = new CollectedFailures();
  expect(await failures.collect(() => 5)).toBe(5);
  failures.assertNone();
  const first = invalid("one");
  await failures.collect(() => Promise.reject(first));
  expect(() => failures.assertNone()).toThrow(first);
  const second = invalid("two");
  await failures.collect(() => Promise.reject(second));
  expect(() => failures.assertNone()).toThrow(
    expect.objectContaining({
      message: "one\ntwo",
      violations: [...first.violations, ...second.violations],
    }),
  );
});

test("a failure of another kind is not about the inputs, and ends the collection", async () => {
  const failures = new CollectedFailures();
  const outage = new Failure("unavailable", ErrorReason.UNAVAILABLE, "away");
  await expect(failures.collect(() => Promise.reject(outage))).rejects.toBe(outage);
});
