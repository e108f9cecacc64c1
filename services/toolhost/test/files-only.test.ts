import { join } from "node:path";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { openTable } from "@reeve/jetstream/table/nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { FilesOnlyDriver } from "@reeve/sandbox/files-only/driver";
import { UnsafeLocalDriver } from "@reeve/sandbox/unsafe-local/driver";
import { defaultLimits } from "@reeve/sandbox/port";
import { sandboxBench } from "@reeve/sandbox/test/support/contract/sandbox-bench";
import { filesOnlyContract } from "@reeve/sandbox/test/support/contract/sandbox-contract";
import type { RunningToolhost } from "./support/running-toolhost.ts";
import { runningToolhost } from "./support/running-toolhost.ts";
import { resultOf } from "./support/toolhost.ts";

const signal = new AbortController().signal;
const identity = sandboxIdentity(64_017);
const contender = {
  driver: new FilesOnlyDriver(new UnsafeLocalDriver(identity)),
  identity,
  bounds: { memory: false, processes: false },
  hidden: [],
  commands: new UnsafeLocalDriver(identity),
};

describe("a toolhost on which no sandbox works", () => {
  let toolhost: RunningToolhost;
  let made: RunningToolhost["made"];

  beforeAll(async () => {
    toolhost = await runningToolhost(signal, {
      REEVE_SANDBOX: "docker",
      DOCKER_HOST: `unix://${join(import.meta.dirname, "no-engine.sock")}`,
      REEVE_READ_MAX_BYTES: "1000",
      REEVE_GREP_MAX_BYTES: "1000",
    });
    ({ made } = toolhost);
  });

  afterAll(() => toolhost[Symbol.asyncDispose]());

  test("reports that in its catalog and its log, with what was tried and what would help", async () => {
    const table = await openTable(toolhost.nats, ToolCatalogSchema);
    const [row] = await table.list("default", signal);
    expect(row?.record.isolation).toBe("files-only");
    expect(row?.record.tools.map(({ name }) => name)).toContain("grep");
    const warned = toolhost.logged.find(({ msg }) => msg.startsWith("no sandbox is available"));
    expect(warned?.refusal).toMatch(/docker: the container engine at .* does not answer/);
  });

  test("has working file tools, from a staged input to a published file", async () => {
    const { artifacts } = toolhost;
    const draft = { name: "data.csv", mediaType: "text/csv", runId: "" };
    const { artifactId } = await artifacts.put("acme", draft, chunks("city\nBerlin\n"), signal);
    const files = [{ artifactId, path: "in/data.csv" }];
    const call = async (callId: string, name: string, args: Record<string, string | number>) =>
      resultOf(await made({ callId, name, args, files }));
    const read = await call("run_1-1-0", "read_file", { path: "in/data.csv", offset: 1 });
    expect(read).toMatchObject({ content: "Berlin\n", isError: false });
    expect(read.metadata?.isolation).toBe("files-only");
    await call("run_1-1-1", "write_file", { path: "/workspace/out/a.md", content: "one\ntwo\n" });
    await call("run_1-1-2", "edit_file", { path: "out/a.md", old_text: "two", new_text: "2" });
    expect((await call("run_1-1-3", "grep", { pattern: "^[0-9]" })).content).toBe("out/a.md:2:2");
    expect((await call("run_1-1-4", "glob", { pattern: "**/*.md" })).content).toContain("out/a.md");
    const listed = await call("run_1-1-5", "list_files", {});
    expect(listed.content).toBe("in/\nout/");
    const published = await call("run_1-1-6", "publish_report", { path: "out/a.md" });
    const { artifact_id: id } = JSON.parse(published.content) as { artifact_id: string };
    const stored = Buffer.concat(await Array.fromAsync(artifacts.read("acme", id, signal)));
    expect(stored.toString()).toBe("one\n2\n");
  });

  test("reads and searches up to the limits of its settings", async () => {
    const content = "x".repeat(1_001);
    await made({ callId: "run_1-3-0", name: "write_file", args: { path: "over.txt", content } });
    const args = { path: "over.txt" };
    const read = resultOf(await made({ callId: "run_1-3-1", name: "read_file", args }));
    expect(read).toMatchObject({
      content: expect.stringContaining("at most 1000"),
      isError: true,
    });
    const search = { callId: "run_1-3-2", name: "grep", args: { pattern: "x" } };
    const { content: found } = resultOf(await made(search));
    expect(found).toContain("larger than 1000 bytes, not searched: over.txt");
  });

  // Requirement: KIT-9
  test.each([
    ["execute_code", { code: "1" }],
    ["run_command", { command: ["true"] }],
  ])("refuses %s, with what was tried and what would help", async (name, args) => {
    const { content, isError } = resultOf(await made({ callId: `run_1-2-${name}`, name, args }));
    expect(isError).toBe(true);
    expect(content).toMatch(/runs no code and no commands.*docker: .*set DOCKER_HOST/s);
  });
});

test.each([
  { argv: ["true"] },
  { argv: [], program: "execute_code" as const, stdin: Buffer.from("{}") },
])("only our own file programs run, not $argv $program", async (command) => {
  await using bench = await sandboxBench(contender);
  const limits = { ...defaultLimits, timeoutMs: 1_000 };
  const running = Array.fromAsync(bench.box.exec({ ...command, limits }, signal));
  await expect(running).rejects.toThrow(/^cannot run .*: this host has no isolation/);
});

filesOnlyContract("files-only", contender);

async function* chunks(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}
