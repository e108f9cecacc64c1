import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens, tokenWithRole } from "@reeve/gateway/test/support/gateway-bench";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

let bench: GatewayBench;

beforeAll(async () => {
  bench = await openGatewayBench({ REEVE_AUDIT_TENANT: "acme" });
  for (const text of ["likes tea", "likes rain"]) await reeve(["memories", "add", text]);
  await reeve(["cancel", "run_unknown"]);
});

afterAll(() => bench[Symbol.asyncDispose]());

async function reeve(
  args: readonly string[],
  {
    token = tokens.acme,
    person = false,
  }: { readonly token?: string; readonly person?: boolean } = {},
) {
  const terminal = new MemoryTerminal(person ? { answers: [] } : {});
  const signal = new AbortController().signal;
  const line = ["--url", bench.url, "--token", token, ...args];
  const code = await runCli(line, { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const audit = (...args: readonly string[]) => reeve(["audit", ...args], { person: true });

async function actionsOf(...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await reeve(["audit", ...args]);
  return stdout.match(/(?<="action":")[^"]+/g) ?? [];
}

test("people get a table, newest first", async () => {
  const { code, stdout } = await audit("--action", "run.cancel");
  expect(code).toBe(0);
  const [header, row, ...more] = stdout.trimEnd().split("\n");
  expect(header).toMatch(/^TIME +SUBJECT +ACTION +RESOURCE +OUTCOME +FROM$/);
  expect(row).toMatch(
    /^\S+Z +ann +run\.cancel +run run_unknown +NOT_FOUND RUN_NOT_FOUND +127\.0\.0\.1$/,
  );
  expect(more).toEqual([]);
});

test("programs get one event per line as JSON", async () => {
  const { stdout } = await reeve(["audit", "--action", "memory"]);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(events).toHaveLength(2);
  for (const event of events) {
    expect(event).toMatchObject({ subject: "ann", action: "memory.create", code: "OK" });
  }
  expect(stdout).not.toContain("likes");
  expect((await audit("--action", "memory", "--json", "--limit", "1")).stdout.trim()).toBe(
    stdout.split("\n")[0],
  );
});

test("options select events", async () => {
  expect(await actionsOf("--outcome", "failed", "--subject", "ann")).toEqual(["run.cancel"]);
  expect(await actionsOf("--resource", "run_unknown")).toEqual(["run.cancel"]);
  expect(await actionsOf("--until", "1h")).toEqual([]);
  expect(await actionsOf("--since", "1h", "--action", "memory.create")).toHaveLength(2);
  expect(await actionsOf("--since", "2030-01-31T00:00:00Z")).toEqual([]);
  expect((await audit("--since", "yesterday")).stderr).toContain("how long ago: 90s, 30m, 1h, 7d");
  expect((await audit("--outcome", "odd")).code).not.toBe(0);
});

test("failed sign-ins are shown to the operators of the deployment, with their number", async () => {
  const guess = { token: "rv_somebody-guesses-a-token-of-this-length" };
  for (let attempt = 0; attempt < 3; attempt++) await reeve(["runs"], guess);
  await expect
    .poll(async () => (await audit("--without-tenant")).stdout)
    .toMatch(/ sign_in +UNAUTHENTICATED UNKNOWN +127\.0\.0\.1\n/);
});

test("only operators see the trail", async () => {
  const { code, stderr } = await reeve(["audit"], { token: tokenWithRole("author") });
  expect(code).toBe(1);
  expect(stderr).toContain("use a credential with the role operator");
});
