import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokenWithRole } from "@reeve/gateway/test/support/gateway-bench";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

let bench: GatewayBench;
beforeAll(async () => {
  bench = await openGatewayBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

async function whoami(token: string, ...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const signal = new AbortController().signal;
  const line = ["--url", bench.url, "--token", token, "whoami", ...args];
  return { code: await runCli(line, { terminal, environment: {}, signal }), terminal };
}

test("prints the subject, the tenant, and the roles of a token", async () => {
  const { code, terminal } = await whoami(tokenWithRole("author"));
  expect(code).toBe(0);
  expect(terminal.stdout).toBe("subject  author\ntenant   acme\nroles    author\n");
});

test("prints the caller as JSON", async () => {
  const { terminal } = await whoami(tokenWithRole("viewer"), "--json");
  expect(JSON.parse(terminal.stdout)).toEqual({
    tenant: "acme",
    subject: "viewer",
    roles: ["ROLE_VIEWER"],
  });
});

test("a token that nobody issued is refused", async () => {
  const { code, terminal } = await whoami("nobody-issued-this-0123456789");
  expect(code).not.toBe(0);
  expect(terminal.stderr).toContain("unknown bearer token");
});
