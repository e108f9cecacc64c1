import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientsOf } from "@reeve/gateway/test/support/clients";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { startReeve } from "./support/reeve-process.ts";

let bench: GatewayBench;
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "reeve-artifacts-"));
  bench = await openGatewayBench();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `reeve artifacts get …`. */
async function get(...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const signal = new AbortController().signal;
  const line = ["--url", bench.url, "--token", tokens.acme, "artifacts", "get", ...args];
  const code = await runCli(line, { terminal, environment: {}, signal });
  return { code, stderr: terminal.stderr };
}

/** Stores an artifact and returns its id. */
async function stored(name: string): Promise<string> {
  const { artifacts } = clientsOf(bench.url, `Bearer ${tokens.acme}`, "gRPC");
  const file = { header: { name }, content: Buffer.from("from the artifact") };
  const { artifact } = await artifacts.createArtifact(file);
  return artifact?.artifactId ?? "";
}

test("an artifact replaces an existing file only with --force", async () => {
  const id = await stored("report.txt");
  const path = join(folder, "report.txt");
  writeFileSync(path, "mine");
  const refused = await get(id, "--output", path);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("exists; choose another file with --output");
  expect(readFileSync(path, "utf8")).toBe("mine");
  expect((await get(id, "--output", path, "--force")).code).toBe(0);
  expect(readFileSync(path, "utf8")).toBe("from the artifact");
  const other = join(folder, "other.txt");
  expect((await get(id, "--output", other)).code).toBe(0);
  expect(readFileSync(other, "utf8")).toBe("from the artifact");
});

test("an artifact with a hidden name is saved only under a name that the user chose", async () => {
  const id = await stored(".bashrc-of-a-test");
  const refused = await get(id, "--force");
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("choose a file with --output");
  expect(existsSync(".bashrc-of-a-test")).toBe(false);
});

test("a command that refuses an artifact ends", async () => {
  const id = await stored(".profile-of-a-test");
  const server = ["--url", bench.url, "--token", tokens.acme];
  const { code, stderr } = startReeve([...server, "artifacts", "get", id]);
  expect(await code).not.toBe(0);
  expect(stderr()).toContain("choose a file with --output");
});
