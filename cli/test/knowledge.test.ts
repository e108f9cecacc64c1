import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

let bench: GatewayBench;
let folder: string;

beforeAll(async () => {
  bench = await openGatewayBench();
  folder = await mkdtemp(join(tmpdir(), "reeve-knowledge-"));
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function knowledge(...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const signal = new AbortController().signal;
  const line = ["--url", bench.url, "--token", tokens.acme, "knowledge", ...args];
  const code = await runCli(line, { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

test("a folder is added to a collection, searched, and deleted", async () => {
  await mkdir(join(folder, "docs/policies"), { recursive: true });
  await writeFile(join(folder, "docs/leave.md"), "# Leave\nThirty days of vacation.\u001b[2J\n");
  await writeFile(join(folder, "docs/policies/refund.html"), "<p>Refunds within 14 days.</p>");
  await writeFile(join(folder, "docs/program.exe"), "MZ");
  expect(await knowledge("create", "handbook")).toMatchObject({ code: 0, stdout: "handbook\n" });
  const { stdout: added } = await knowledge("add", "handbook", join(folder, "docs"));
  expect(added).toMatch(/^doc_\w+ {2}leave.md .*\ndoc_\w+ {2}policies\/refund.html .*\n$/);
  expect((await knowledge("list")).stdout).toMatch(/^COLLECTION .*\nhandbook +2 /);
  // Without the character that could move a cursor.
  expect((await knowledge("search", "handbook", "vacation")).stdout).toBe(
    "[handbook/leave.md, lines 1-2]\n  # Leave\n  Thirty days of vacation.[2J\n\n",
  );
  const [documentId = ""] = added.split(" ");
  expect(await knowledge("delete", "handbook", documentId)).toMatchObject({ code: 0 });
  expect((await knowledge("list", "handbook")).stdout).not.toContain("leave.md");
  expect(await knowledge("add", "handbook", join(folder, "docs/program.exe"))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('document "program.exe" cannot be read'),
  });
  await mkdir(join(folder, "a"));
  await mkdir(join(folder, "b"));
  for (const path of ["a/same.md", "b/same.md", "a/other.md"]) {
    await writeFile(join(folder, path), "text");
  }
  expect(await knowledge("add", "handbook", join(folder, "a"), join(folder, "b"))).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining('would both be the document "same.md"'),
  });
  await writeFile(join(folder, "a/broken.pdf"), "no PDF");
  expect(
    await knowledge("add", "handbook", join(folder, "none.md"), join(folder, "b")),
  ).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/same.md/),
    stderr: expect.stringMatching(/none.md does not exist\nerror: 1 of 2 files were not added/),
  });
  expect(await knowledge("add", "handbook", join(folder, "a"))).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/other.md(.*\n.*)same.md/),
    stderr: expect.stringMatching(/broken.pdf: .*no valid PDF[^]*1 of 3 files were not added/),
  });
  expect(await knowledge("update", "handbook", "--group", "hr")).toMatchObject({ code: 0 });
  expect(await knowledge("update", "handbook", "--reader", "bob")).toMatchObject({ code: 0 });
  expect(await knowledge("update", "handbook", "--title", "Rules")).toMatchObject({ code: 0 });
  expect((await knowledge("list")).stdout).toMatch(/bob,hr \(group\) +Rules/);
  expect(await knowledge("update", "handbook")).toMatchObject({ code: 2 });
  expect(await knowledge("update", "handbook", "--everyone", "--reader", "bob")).toMatchObject({
    code: 2,
  });
  expect(await knowledge("update", "handbook", "--everyone")).toMatchObject({ code: 0 });
  expect((await knowledge("list")).stdout).toMatch(/everybody +Rules/);
  expect(await knowledge("delete", "handbook")).toMatchObject({ stdout: "handbook deleted\n" });
  expect((await knowledge("list")).stderr).toBe("no collections\n");
});

// Requirement: KNOW-8
test("a URL on a host that the operator does not permit is refused, and nothing is there to refresh", async () => {
  expect(await knowledge("create", "web")).toMatchObject({ code: 0 });
  expect(await knowledge("add", "web", "https://example.org/rules.html")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("names hosts in REEVE_NETWORK_ALLOW of the gateway"),
  });
  expect(await knowledge("refresh", "web")).toMatchObject({
    code: 0,
    stderr: "no document came from a URL\n",
  });
  expect(await knowledge("refresh", "web", "doc_1")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("collection web has no document doc_1"),
  });
});
