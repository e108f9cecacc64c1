import { expect, test } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.parse("2026-11-05T10:00:00Z");

test.each([
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "120", "retry-after": "2" }, 120],
  [{ "retry-after": "Thu, 05 Nov 2026 10:00:30 GMT" }, 30_000],
  [{ "retry-after": "Thu, 05 Nov 2026 09:00:00 GMT" }, 0],
  [{ "retry-after": "99999999999999" }, 31_536_000_000],
  [{ "retry-after-ms": "9".repeat(40) }, 31_536_000_000],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{}, undefined],
])("reads %j as %j ms", (headers, expected) => {
  expect(retryAfterMs(new Headers(headers as Record<string, string>), now)).toBe(expected);
});
