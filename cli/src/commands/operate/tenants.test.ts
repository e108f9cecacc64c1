import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FolderKeyStore } from "@reeve/jetstream/sealing/folder-key-store";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { MemoryTerminal } from "../../../test/support/memory-terminal.ts";
import { runCli } from "../../run-cli.ts";

const { signal } = new AbortController();
const dataKey = Buffer.alloc(32, 7);
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reeve-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

async function tenants(args: readonly string[], environment: Record<string, string> = {}) {
  const terminal = new MemoryTerminal();
  const code = await runCli(["tenants", ...args], { terminal, environment, signal });
  return { code, stderr: terminal.stderr };
}

test("the key of a tenant is not deleted without a confirmation", async () => {
  const keys = new FolderKeyStore(folder);
  const wrapped = await keys.wrap("acme", dataKey, signal);
  const environment = { REEVE_ENCRYPTION_KEYS: folder };
  const refused = await tenants(["delete-key", "acme"], environment);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("add --yes") });
  expect(Buffer.from(await keys.unwrap("acme", wrapped, signal))).toEqual(dataKey);
});

test("without the setting, nothing is deleted, and the message says what is missing", async () => {
  const { code, stderr } = await tenants(["delete-key", "acme", "--yes"]);
  expect(code).toBe(2);
  expect(stderr).toContain("set REEVE_ENCRYPTION_KEYS");
});
