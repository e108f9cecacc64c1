import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MemoryTerminalOptions } from "./support/memory-terminal.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { typeReeve } from "./support/type-reeve.ts";

let bench: GatewayBench;
const folder = mkdtempSync(join(tmpdir(), "reeve-agents-"));
const file = join(folder, "agent.yaml");

beforeAll(async () => {
  bench = await openGatewayBench({ REEVE_AUDIT_TENANT: "acme" });
  writeFileSync(
    file,
    `id: deployer
name: Deployer
model: nobody:x
hitl_tool: [deploy]
max_rounds: many
hitl_tools: [deploy, 7]
budget_awareness: "limit:101"
deep_agent: { sudo: true }
`,
  );
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await bench[Symbol.asyncDispose]();
});

const agents = (...args: readonly string[]) => reeve("agents", ...args);

const reeve = (...args: readonly string[]) => typed({}, "--token", tokens.acme, ...args);

const typed = (options: MemoryTerminalOptions, ...args: readonly string[]) =>
  typeReeve(new MemoryTerminal(options), bench.url, args);

const fields = [
  "budget_awareness",
  "deep_agent.sudo",
  "hitl_tool",
  "hitl_tools[0]",
  "hitl_tools[1]",
  "max_rounds",
  "model",
];

// Requirement: CFG-11
test("a file is checked for its shape, its rules, and what the deployment has, all at once", async () => {
  const { code, stdout } = await agents("validate", "-f", file, "--json");
  expect(code).toBe(1);
  const { violations } = JSON.parse(stdout) as { violations: { field: string }[] };
  expect(violations.map(({ field }) => field).toSorted()).toEqual(fields);

  const { stdout: printed } = await agents("validate", "-f", file);
  expect(printed).toMatch(/^hitl_tool +unknown field; did you mean hitl_tools\? +UNKNOWN_FIELD$/m);
});

// Requirement: CFG-11
test("a file that is not valid is not stored, and the error lists everything", async () => {
  const { code, stderr } = await agents("apply", "-f", file);
  expect(code).toBe(1);
  const [, , ...rows] = stderr.trimEnd().split("\n");
  expect(rows.map((row) => row.split(" ")[0] ?? "").toSorted()).toEqual(fields);
  expect((await agents("list")).stderr).toContain("no agents");
});

// Requirement: RES-9
test("the start of a run prints the warnings about its agent", async () => {
  const valid = join(folder, "valid.yaml");
  writeFileSync(valid, "id: worker\nname: Worker\nmodel: known\nexcluded_tools: [gone]\n");
  expect((await agents("apply", "-f", valid)).code).toBe(0);
  const { code, stdout, stderr } = await reeve("run", "worker", "go");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^run_[a-z0-9]+\n$/);
  expect(stderr).toContain('warning: excluded_tools[0]: the tool "gone" does not exist');
});

test("a run takes the schema of its answer from a file", async () => {
  const schema = join(folder, "schema.json");
  const run = async (text: string) => {
    writeFileSync(schema, text);
    return await reeve("run", "worker", "go", "--output-schema", schema);
  };
  expect(await run('{"type": "object"}')).toMatchObject({ code: 0 });
  expect((await run('{"type": "banana"}')).stderr).toMatch(/output_schema .*JSON Schema/);
  expect((await run("[]")).stderr).toContain("schema.json is no file with a JSON object");
});

test("a spec and a prompt of - come from standard input", async () => {
  const token = ["--token", tokens.acme];
  const spec = { input: "id: piped\nname: Piped\nmodel: nobody:x\nsudo: true\n" };
  const validated = await typed(spec, ...token, "agents", "validate", "-f", "-");
  expect(validated.stdout).toContain("sudo");
  const started = await typed({ input: "" }, ...token, "run", "piped", "-");
  expect(started.stderr).toContain("input");
});

test("a missing token is reported with the options that give one", async () => {
  const { code, stderr } = await typed({}, "runs");
  expect(code).toBe(1);
  expect(stderr).toContain("use --token or REEVE_TOKEN, or --data-dir");
});

// Requirement: PERM-2
test("explain lists what an agent may use, and why not", async () => {
  const explained = join(folder, "explained.yaml");
  writeFileSync(explained, "id: explained\nname: E\nmodel: known\nexcluded_tools: [read_file]\n");
  expect((await agents("apply", "-f", explained)).code).toBe(0);
  const { code, stdout, stderr } = await agents("explain", "explained", "--role", "runner");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^KIND +NAME +ACCESS +RULE +REASON$/m);
  expect(stdout).toMatch(
    /^tool +read_file +withheld +excluded_tools +the agent's tool filter removes it$/m,
  );
  expect(stdout).toMatch(/^model +known +allowed$/m);
  expect(stdout).toMatch(/^pool +default +allowed$/m);
  expect(stdout).toMatch(/^add_todo +safe +runtime +default +allow +runner$/m);
  expect(stdout).toMatch(/^max-rounds +builtin +always$/m);
  expect(stdout).toMatch(/^resolution plan: [0-9a-f]{64}$/m);
  expect(stderr).toBe("this deployment has no operator's policy\n");
  const { stdout: json } = await agents("explain", "explained", "--json", "--context", "editor");
  expect(JSON.parse(json)).toMatchObject({ limits: {} });
  expect((await agents("explain", "explained", "--role", "king")).stderr).toContain(
    "use one of: viewer",
  );
  expect((await agents("explain", "explained", "--as", "zoe")).stderr).toContain(
    '"zoe" has started no run',
  );
  expect((await agents("explain", "nobody")).stderr).toContain("agent nobody not found");
});

// Requirement: WF-1
test("workflows are checked, listed apart from other agents, and exported as the file that stores them", async () => {
  const flow = join(folder, "flow.yaml");
  const write = (...edges: readonly string[]) =>
    writeFileSync(
      flow,
      [
        "id: flow",
        "name: Flow",
        "workflow:",
        "  nodes:",
        "    - { id: in, type: input }",
        "    - { id: note, type: 'tool:add_todo' }",
        "  edges:",
        ...edges.map((edge) => `    - ${edge}`),
      ].join("\n"),
    );
  write("{ source: in, target: note }", "{ source: note, target: in }");
  const checked = await reeve("workflows", "validate", "-f", flow);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toMatch(/workflow\.edges\[[01]\] .* CYCLE$/m);
  write("{ source: in, target: note, target_handle: text }");
  expect(await agents("apply", "-f", flow)).toMatchObject({ code: 0 });
  const listed = await reeve("workflows", "list");
  expect(listed.stdout.trimEnd().split("\n")).toHaveLength(2);
  expect(listed.stdout).toMatch(/^flow +1 .* 2 +Flow$/m);
  const { stdout } = await reeve("workflows", "export", "flow");
  writeFileSync(flow, stdout);
  expect((await reeve("workflows", "validate", "-f", flow)).stdout).toContain("is valid");
  writeFileSync(flow, "id: plain\nmodel: default\n");
  const plain = await reeve("workflows", "validate", "-f", flow);
  expect(plain.code).toBe(2);
  expect(plain.stderr).toContain(`the agent "plain" has no workflow`);
  expect((await reeve("workflows", "nodes", "todo", "--agent", "flow")).stdout).toMatch(
    /^tool:add_todo +safe +tool +text\* /m,
  );
});
