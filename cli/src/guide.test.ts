import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { checkSpec } from "@reeve/agent/spec/check-spec";
import { parseSpecFile } from "@reeve/agent/spec/spec-file";
import { AgentSpecSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import {
  PermissionClass,
  ToolCatalogSchema,
  ToolCategory,
  ToolDescriptorSchema,
} from "@reeve/contracts/tool";
import { parseModelRegistry } from "@reeve/models/registry/model-registry";
import { readMcpConfig } from "@reeve/toolhost/tools/mcp/mcp-config";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { MemoryTerminal } from "../test/support/memory-terminal.ts";
import { unknownIn } from "../test/support/unknown-words.ts";
import { createContext } from "./context.ts";
import { createProgram } from "./program.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = globSync("docs/guide/*.md", { cwd: root }).toSorted();
const agentPage = read("docs/guide/write-an-agent.md");

/** Returns the examples of a page in a language. */
function examplesIn(page: string, language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^\`]*)^\`\`\``, "gm"))].map(
    ([, text = ""]) => text,
  );
}

const [spec = "", registry = ""] = examplesIn(agentPage, "yaml");

/** Returns the value that the guide sets before it prints the agent. */
function printedSetting(name: string): readonly string[] {
  const before = agentPage.slice(0, agentPage.indexOf(spec));
  const [, value = ""] = new RegExp(`^export .*\\b${name}=(\\S+)`, "m").exec(before) ?? [];
  return value.split(",").filter((entry) => entry !== "");
}

describe("the agent of the guide", () => {
  test("is valid in a deployment with its tools and the settings that are printed before it", () => {
    for (const name of [
      "REEVE_MODELS",
      "REEVE_MCP_CONFIG",
      "OPENAI_API_KEY",
      "ANTHROPIC_API_KEY",
    ]) {
      expect({ name, isPrinted: printedSetting(name).length > 0 }).toEqual({
        name,
        isPrinted: true,
      });
    }
    const models = create(ModelCatalogSchema, {
      models: [...parseModelRegistry(registry, "models.yaml").models],
      providers: [{ name: "openai" }, { name: "anthropic", capabilities: { tools: true } }],
    });
    const execute = { permissionClass: PermissionClass.EXECUTE, category: ToolCategory.CODE };
    const files = {
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      category: ToolCategory.FILESYSTEM,
    };
    const tracker = { permissionClass: PermissionClass.NETWORK, source: "mcp:tracker" };
    const own = ["read_file", "write_file", "publish_report"];
    const pool = create(ToolCatalogSchema, {
      pool: "default",
      isolation: "bubblewrap",
      sandbox: {
        networkAllow: [...printedSetting("REEVE_NETWORK_ALLOW")],
        readOnlyWorkspace: true,
      },
      tools: [
        ...own.map((name) => ({ name, source: "builtin", pool: "default", ...files })),
        { name: "execute_code", source: "builtin", pool: "default", ...execute },
        { name: "run_command", source: "builtin", pool: "default", ...execute },
        { name: "mcp__tracker__list", pool: "default", ...tracker },
        { name: "mcp__tracker__delete_all", pool: "default", ...tracker },
      ].map((tool) => create(ToolDescriptorSchema, { ...tool, inputSchema: { type: "object" } })),
    });
    const checked = checkSpec(parseSpecFile(spec, "agent.yaml"), { tools: [pool], models });
    expect(checked.violations).toEqual([]);
  });

  test("has every field that this version supports", () => {
    const unsupported = new Set([
      "plugin_ids",
      "sections",
      "delegates",
      "endpoint",
      "max_steps",
      "skills",
      // Contradicts fields about how a model works.
      "workflow",
      // Needs models that generate, which most deployments do not have.
      "media",
    ]);
    // A deployment without an address for passkeys refuses the one, and a tenant without the collection the other.
    const configured = new Set(["approval_policy.step_up", "collections"]);
    const missing = missingIn(AgentSpecSchema, parse(spec) as JsonObject);
    const leftOut = new Set([...unsupported, ...configured]);
    expect(missing.filter((field) => !leftOut.has(field))).toEqual([]);
  });
});

/** Returns the fields of a message that an object does not have, with their paths. */
function missingIn(schema: DescMessage, given: JsonObject): readonly string[] {
  return schema.fields.flatMap((field) => {
    const value = given[field.name];
    if (value === undefined) return [field.name];
    const isNested = field.fieldKind === "message" && !field.message.typeName.startsWith("google.");
    return isNested
      ? missingIn(field.message, value as JsonObject).map((name) => `${field.name}.${name}`)
      : [];
  });
}

test("the MCP servers of the guide are valid", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-guide-"));
  try {
    const [servers = ""] = examplesIn(agentPage, "json");
    const path = join(folder, "mcp.json");
    writeFileSync(path, servers);
    expect([...(await readMcpConfig(path, {})).keys()]).toEqual(["tracker", "files"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the guide explains errors that the engine has", () => {
  const sources = globSync("packages/engine/src/domain/**/*.ts", { cwd: root }).map(read).join("");
  const more = globSync("packages/{models,engine}/src/**/*.ts", { cwd: root }).map(read).join("");
  const table = agentPage.split("| error ")[1] ?? "";
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  const reasons = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)]);
  expect(reasons.length).toBeGreaterThan(10);
  for (const [, reason = ""] of reasons) expect(`${sources}${more}`).toContain(`"${reason}"`);
});

describe.each(pages)("%s", (path) => {
  const page = read(path);

  test("names commands and options that exist", () => {
    const { signal } = new AbortController();
    const program = createProgram(
      createContext({ terminal: new MemoryTerminal(), environment: {}, signal }),
    );
    const lines = examplesIn(page, "sh").flatMap((example) => example.split("\n"));
    for (const line of lines.filter((each) => each.startsWith("npx @reeve/cli "))) {
      const words = (line.split(" #")[0] ?? "").trim().split(/\s+/).slice(2);
      expect({ line, unknown: unknownIn(program, words) }).toEqual({ line, unknown: [] });
    }
  });

  test("names settings that the page on deployment explains", () => {
    const deploy = `${read("docs/deploy.md")}${read("docs/clients.md")}${read("README.md")}`;
    const settings = new Set(page.match(/\bREEVE_[A-Z_]+\b/g));
    expect([...settings].filter((setting) => !deploy.includes(setting))).toEqual([]);
  });
});
