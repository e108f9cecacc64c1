import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Credential } from "@reeve/platform/rpc/principal";
import { tokenDigest } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { WatchedTokens } from "./watch-token-file.ts";
import { watchTokenFile } from "./watch-token-file.ts";

const clock = { now: () => now, sleep: () => Promise.resolve() };
let now = 0;
let path = "";
const problems: unknown[] = [];

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  path = join(folder, "tokens");
  now = 0;
  problems.length = 0;
});

function line(token: string, rest: string): string {
  return `sha256:${tokenDigest(token)} ${rest}\n`;
}

function watched(): WatchedTokens {
  const log = createLogger("test", "silent");
  log.error = (fields: unknown) => void problems.push(fields);
  const tokens = watchTokenFile(path, { clock, log });
  onTestFinished(() => tokens[Symbol.dispose]());
  return tokens;
}

async function found(tokens: WatchedTokens, token: string): Promise<Credential | undefined> {
  return (await tokens.accept(token, "192.0.2.1"))?.();
}

test("a token is revoked and another one added without a restart", async () => {
  writeFileSync(path, line("old-token", "acme/ann/runner"));
  const tokens = watched();
  const held = await tokens.accept("old-token", "192.0.2.1");
  expect(held?.()).toMatchObject({ tenant: "acme", subject: "ann" });
  writeFileSync(path, line("new-token", "acme/ann/runner"));
  await vi.waitFor(async () => expect(await found(tokens, "new-token")).toBeDefined(), {
    timeout: 20_000,
  });
  expect(await found(tokens, "old-token")).toBeUndefined();
  expect(held?.()).toBeUndefined();
});

test("a token is refused from its end on", async () => {
  writeFileSync(path, line("token", "acme/ann/runner until=1970-01-01T00:00:01Z"));
  const tokens = watched();
  now = 999;
  expect(await found(tokens, "token")).toBeDefined();
  now = 1_000;
  expect(await found(tokens, "token")).toBeUndefined();
});

test("a mistake leaves the tokens as they were, and is logged once until it is repaired", async () => {
  writeFileSync(path, line("token", "acme/ann/runner"));
  const tokens = watched();
  writeFileSync(path, "a mistake");
  await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 20_000 });
  expect(problems[0]).toMatchObject({
    paths: [path],
    problem: expect.stringContaining("line 1") as string,
  });
  expect(await found(tokens, "token")).toBeDefined();
  rmSync(path);
  await vi.waitFor(() => expect(problems).toHaveLength(2), { timeout: 20_000 });
  expect(await found(tokens, "token")).toBeDefined();
});

test("a file that cannot be used at the start is an error that names it", () => {
  expect(watched).toThrow(`REEVE_TOKENS_FILE ${path}: there is no such file`);
  writeFileSync(path, "a mistake");
  expect(watched).toThrow(`REEVE_TOKENS_FILE ${path}: line 1`);
});
