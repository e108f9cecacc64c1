import { describe, expect, test } from "vitest";
import { z } from "zod";
import { isLoopback, parseListenAddress, readConfig } from "./config.ts";

const schema = z.object({
  REEVE_PORT: z.coerce.number().int().max(65_535),
  REEVE_NAME: z.string().default("unnamed"),
  REEVE_URL: z.url(),
  REEVE_SECRET: z.string().min(16).optional(),
});

describe("settings", () => {
  test("are read from the environment, with defaults where nothing is set", () => {
    const environment = { REEVE_PORT: "80", REEVE_NAME: "", REEVE_URL: "http://a", HOME: "/" };
    expect(readConfig(schema, environment)).toEqual({
      REEVE_PORT: 80,
      REEVE_NAME: "unnamed",
      REEVE_URL: "http://a",
    });
  });

  // Requirement: OPS-4
  test("that are missing or invalid are reported together, by name", () => {
    expect(() => readConfig(schema, { REEVE_PORT: "many" })).toThrow(
      expect.objectContaining({
        kind: "invalid",
        message: expect.stringMatching(
          /^settings are missing or invalid:\n  REEVE_PORT: .*\n  REEVE_URL: /,
        ),
        violations: [
          expect.objectContaining({ field: "REEVE_PORT", reason: "INVALID_SETTING" }),
          expect.objectContaining({ field: "REEVE_URL", reason: "INVALID_SETTING" }),
        ],
      }),
    );
  });
});

test("a text that is too short is described for its operator", () => {
  const environment = { REEVE_PORT: "80", REEVE_URL: "http://a", REEVE_SECRET: "secret" };
  expect(() => readConfig(schema, environment)).toThrow(
    "REEVE_SECRET: must have at least 16 characters",
  );
});

describe("an address to listen on", () => {
  test.each([
    ["127.0.0.1:80", "127.0.0.1", 80],
    ["localhost:0", "localhost", 0],
    [":4680", "0.0.0.0", 4680],
    ["[::1]:65535", "::1", 65_535],
  ])("%s", (text, host, port) => {
    expect(parseListenAddress(text)).toEqual({ host, port });
  });

  test.each(["", "80", "host", "host:", "host:65536", "::1:80", "a:b:1", "host:-1", "host:1x"])(
    "may not be %j",
    (text) => {
      expect(parseListenAddress(text)).toBeUndefined();
    },
  );

  test("is local to this machine only if it is loopback", () => {
    expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
    expect(["0.0.0.0", "10.0.0.1", "::", "127.evil.example"].some(isLoopback)).toBe(false);
  });
});
