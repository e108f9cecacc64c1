import { ToolCatalogSchema, ToolStatus } from "@reeve/contracts/tool";
import { openTable } from "@reeve/jetstream/table/nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningToolhost } from "./support/running-toolhost.ts";
import { runningToolhost } from "./support/running-toolhost.ts";
import { resultOf } from "./support/toolhost.ts";

const signal = new AbortController().signal;
/** More deliveries than a toolhost waits for a tool. */
const longWait = 1_000;
let toolhost: RunningToolhost;
let made: RunningToolhost["made"];

beforeAll(async () => {
  toolhost = await runningToolhost(signal);
  ({ made } = toolhost);
});

afterAll(() => toolhost[Symbol.asyncDispose]());

describe("a toolhost", () => {
  test("announces its tools", async () => {
    const table = await openTable(toolhost.nats, ToolCatalogSchema);
    const [row] = await table.list("default", signal);
    expect(row?.record.isolation).toBe("bubblewrap");
    expect(row?.record.tools.map(({ name }) => name)).toEqual([
      "execute_code",
      "run_command",
      "read_file",
      "write_file",
      "edit_file",
      "list_files",
      "glob",
      "grep",
      "publish_report",
      "mcp__demo__search",
      "mcp__demo__await_file",
      "mcp__demo__hang",
      "mcp__demo__paint",
      "mcp__demo__flood",
      "mcp__demo__crash",
    ]);
  });

  // Requirement: KIT-1, KIT-2
  test("stages inputs, computes, writes, and publishes", async () => {
    const { artifacts } = toolhost;
    const bytes = new TextEncoder().encode("city,sales\nBerlin,3\n");
    const draft = { name: "data.csv", mediaType: "text/csv", runId: "" };
    const { artifactId } = await artifacts.put("acme", draft, chunks(bytes), signal);
    const files = [{ artifactId, path: "in/data.csv" }];
    const read = await made({
      callId: "run_1-3-0",
      name: "read_file",
      args: { path: "in/data.csv", limit: 1 },
      files,
    });
    expect(resultOf(read).content).toBe("city,sales\n");
    const code = "import pathlib\npathlib.Path('in/data.csv').read_text().upper()";
    const computed = resultOf(
      await made({ callId: "run_1-3-1", name: "execute_code", args: { code }, files }),
    );
    expect(JSON.parse(computed.content)).toMatchObject({
      success: true,
      result: "CITY,SALES\nBERLIN,3\n",
    });
    expect(computed.metadata).toMatchObject({
      status: ToolStatus.SUCCESS,
      endReason: "exit",
      isolation: "bubblewrap",
    });
    await made({
      callId: "run_1-3-2",
      name: "write_file",
      args: { path: "out/report.md", content: "# Grüße" },
      files,
    });
    const published = resultOf(
      await made({ callId: "run_1-3-3", name: "publish_report", args: { path: "out/report.md" } }),
    );
    const { artifact_id: id } = JSON.parse(published.content) as { artifact_id: string };
    const stored = await Array.fromAsync(artifacts.read("acme", id, signal));
    expect(Buffer.concat(stored).toString()).toBe("# Grüße");
  });

  test("journals the start, the progress of an MCP server, and the result", async () => {
    const facts = await made({
      callId: "run_1-4-0",
      name: "mcp__demo__search",
      args: { q: "x" },
    });
    expect(facts.map(({ fact }) => fact.case)).toEqual([
      "started",
      "progress",
      "progress",
      "result",
    ]);
    expect(facts[1]?.fact.value).toMatchObject({ progress: 1, total: 2, message: "step 1" });
    expect(resultOf(facts)).toMatchObject({ content: 'found: "x"', isError: false });
  });

  test("journals the output of a command while it runs", async () => {
    const callId = "run_1-4-1";
    const script = "echo working; until [ -e go ]; do sleep 0.05; done; echo done";
    const args = { command: ["sh", "-c", script] };
    const running = made({ callId, name: "run_command", args });
    const key = { tenant: "acme", run: "run_1", call: callId };
    for await (const { events } of toolhost.journal.follow(key, 0, signal)) {
      if (events.some(({ fact }) => fact.case === "progress")) break;
    }
    const go = { path: "go", content: "" };
    await made({ callId: "run_1-4-2", name: "write_file", args: go });
    const facts = await running;
    expect(facts[1]?.fact.value).toMatchObject({ progress: 8, message: "working" });
    expect(resultOf(facts).content).toContain('"stdout":"working\\ndone\\n"');
  });

  // Requirement: KIT-2
  test("edits and finds what it wrote", async () => {
    const args = { path: "notes/a.md", content: "one\ntwo\n" };
    await made({ callId: "run_1-6-0", name: "write_file", args });
    const edit = { path: "notes/a.md", old_text: "two", new_text: "2", expected_occurrences: 1 };
    await made({ callId: "run_1-6-1", name: "edit_file", args: edit });
    const grep = { pattern: "^[0-9]$", path: "notes" };
    const found = resultOf(await made({ callId: "run_1-6-2", name: "grep", args: grep }));
    expect(found).toMatchObject({ content: "notes/a.md:2:2", isError: false });
    expect(found.metadata).toMatchObject({ endReason: "exit", isolation: "bubblewrap" });
  });

  test.each([
    ["an unknown tool", { name: "nothing", args: {}, waits: longWait }, /no tool nothing/],
    ["a missing argument", { name: "read_file", args: {} }, /'path'/],
    ["an unknown argument", { name: "read_file", args: { path: "a", mode: 1 } }, /argument mode/],
    ["a missing file", { name: "read_file", args: { path: "nothing.txt" } }, /does not exist/],
    ["a command", { name: "run_command", args: { command: ["sudo", "RM", "x"] } }, /rm is not/],
  ])("reports %s to the model", async (what, options, problem) => {
    const callId = `run_1-5-${what.replaceAll(" ", "_")}`;
    const result = resultOf(await made({ ...options, callId }));
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(problem);
    expect(result.metadata?.status).toBe(ToolStatus.ERROR);
  });
});

async function* chunks(...bytes: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* bytes;
}
