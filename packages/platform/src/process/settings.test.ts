import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readConfig } from "../config.ts";
import { commonSettings, requiredBeyondLoopback } from "./settings.ts";

const common = z.object(commonSettings);

describe("the address of NATS", () => {
  test.each([
    "nats://127.0.0.1:4222",
    "tls://nats.reeve.svc",
    "localhost:4222",
    "nats://[::1]:4222",
    "nats://nats-0:4222,nats://nats-1:4222,tls://nats-2",
  ])("may be %s", (url) => {
    expect(readConfig(common, { REEVE_NATS_URL: url }).REEVE_NATS_URL).toBe(url);
  });

  test.each([
    "http://host",
    "nats://me:secret@host",
    "nats://host:port",
    "nats://a,http://b",
    "a,",
    "tls://10.0.0.1:4222",
    "tls://[::1]",
  ])("is not %s", (url) => {
    expect(() => readConfig(common, { REEVE_NATS_URL: url })).toThrow("REEVE_NATS_URL");
  });
});

describe("a rule over two settings", () => {
  const schema = z
    .object({ A: z.string(), B: z.string().optional(), C: z.coerce.number().default(0) })
    .refine(({ A, B }) => A === "" || B !== undefined, requiredBeyondLoopback("B", "A"));

  test("is reported together with other invalid settings", () => {
    expect(() => readConfig(schema, { A: "x", C: "many" })).toThrow(
      / {2}C: .*\n {2}B: is required/,
    );
  });

  test("does not apply to a setting that is itself invalid", () => {
    expect(() => readConfig(schema, {})).toThrow(
      /^settings are missing or invalid:\n {2}A: [^\n]*$/,
    );
  });
});
