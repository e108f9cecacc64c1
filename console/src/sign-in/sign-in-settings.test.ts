import { expect, test } from "vitest";
import { readSignInSettings } from "./sign-in-settings.ts";

const never = new AbortController().signal;

test.each([
  ['{"issuer":"https://id.example","clientId":"c"}', 200, "https://id.example"],
  ["{}", 200, "none"],
  ["null", 200, "none"],
  ["<!doctype html>", 200, "none"],
  ["no such path", 404, "none"],
  ["no upstream", 503, "unreachable"],
])("the answer %j with status %d", async (body, status, expected) => {
  const read = await readSignInSettings(never, () =>
    Promise.resolve(new Response(body, { status })),
  );
  expect(typeof read === "string" ? read : read.issuer).toBe(expected);
});

test("a gateway that does not answer is not one without a provider", async () => {
  const lost = Promise.reject(new TypeError("Failed to fetch"));
  expect(await readSignInSettings(never, () => lost)).toBe("unreachable");
});
