import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { PermissionClass, ToolCatalogSchema, ToolCategory } from "@reeve/contracts/tool";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { openTable } from "@reeve/jetstream/table/nats";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const golden = join(import.meta.dirname, "golden");
const folder = mkdtempSync(join(tmpdir(), "reeve-explained-"));
const policy = `rules:
  - name: everyone
    allow: { tools: ["read_*", "add_*", "run_*", "mcp__*", "*_todo*", "memory_*", ask_user] }
  - { name: operators, when: { roles: [operator] }, allow: { tools: ["*"] } }
  - { name: short, limits: { max_rounds: 5 } }
`;
const never = new AbortController().signal;
let bench: GatewayBench;

beforeAll(async () => {
  const file = join(folder, "policy.yaml");
  writeFileSync(file, policy);
  bench = await openGatewayBench({ REEVE_POLICY_FILE: file });
  const tools = await openTable(bench.nats, ToolCatalogSchema);
  await tools.put("default", catalog, never);
  await vi.waitFor(
    async () => {
      const { stdout } = await reeve("tools");
      if (!stdout.includes("write_file")) throw new Error("the tools are not known yet");
    },
    { timeout: 20_000 },
  );
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await bench[Symbol.asyncDispose]();
});

const inputSchema = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
};
const builtin = { source: "builtin", pool: "default", inputSchema };
const files = {
  ...builtin,
  permissionClass: PermissionClass.WORKSPACE_WRITE,
  category: ToolCategory.FILESYSTEM,
};

/** What the toolhosts of the golden file offer. */
const catalog = create(ToolCatalogSchema, {
  pool: "default",
  isolation: "bubblewrap",
  tools: [
    { name: "read_file", ...files },
    { name: "write_file", ...files },
    {
      name: "run_command",
      ...builtin,
      permissionClass: PermissionClass.EXECUTE,
      category: ToolCategory.TERMINAL,
    },
    {
      name: "mcp__web__search",
      ...builtin,
      source: "mcp:web",
      permissionClass: PermissionClass.NETWORK,
    },
  ],
});

async function reeve(...args: readonly string[]) {
  const terminal = new MemoryTerminal({});
  const options = ["--url", bench.url, "--token", tokens.acme];
  const code = await runCli([...options, ...args], { terminal, environment: {}, signal: never });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const agentsFile = z.array(z.looseObject({ name: z.string() }));

// Requirement: RES-1, RES-4, RES-8, RES-9, RES-10, PERM-2
test("explain says of ten agents what admits or excludes each tool, who may call it, and what is asked", async () => {
  const given = agentsFile.parse(JSON.parse(readFileSync(join(golden, "ten-agents.json"), "utf8")));
  expect(given).toHaveLength(10);
  const explained: string[] = [];
  for (const agent of given) {
    const file = join(folder, "agent.json");
    const id = agent.name.toLowerCase().replaceAll(" ", "-");
    writeFileSync(file, JSON.stringify({ id, ...agent }));
    expect(await reeve("agents", "apply", "-f", file)).toMatchObject({ code: 0 });
    const role = agent.name === "Plain" ? "runner" : "operator";
    const { stdout, stderr } = await reeve("agents", "explain", id, "--role", role);
    explained.push(`# ${agent.name}, as ${role}\n\n${stdout}${stderr}`);
  }
  await expect(explained.join("\n")).toMatchFileSnapshot(join(golden, "explained-agents.txt"));
});

test("explain takes the roles of a user from the user's last run", async () => {
  expect((await reeve("run", "plain", "go")).code).toBe(0);
  await vi.waitFor(
    async () => {
      const { code, stdout } = await reeve("agents", "explain", "plain", "--as", "ann", "--json");
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ roles: expect.arrayContaining(["ROLE_RUNNER"]) });
    },
    { timeout: 20_000 },
  );
});
