import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import {
  PermissionClass,
  ToolCatalogSchema,
  ToolCategory,
  ToolDescriptorSchema,
} from "@reeve/contracts/tool";
import { unrestricted } from "../policy/caller-policy.ts";
import { expect, test } from "vitest";
import { offer, tool } from "../../test/offer.ts";
import { runtimeSource } from "./runtime-tools.ts";
import type { Toolbelt } from "./toolbelt.ts";
import { warningText } from "../spec/spec-warning.ts";
import { toolbelt } from "./toolbelt.ts";

function beltOf(spec: MessageInitShape<typeof AgentSpecSchema>, catalogs = offer.tools): Toolbelt {
  return toolbelt(create(AgentSpecSchema, spec), catalogs);
}
/** Returns the names of the tools that come from toolhosts. */
const names = ({ tools }: Toolbelt): string[] =>
  tools.filter(({ source }) => source !== runtimeSource).map(({ name }) => name);
const only = (...tools: string[]) => ({ allowedTools: fromJson(ListValueSchema, tools) });
const namesOf = (spec: Parameters<typeof beltOf>[0]): string[] =>
  beltOf(spec).tools.map(({ name }) => name);
const runtimeNames = ({ tools }: Toolbelt): string[] =>
  tools.filter(({ source }) => source === runtimeSource).map(({ name }) => name);

// Requirement: PERM-3
test("has the tools of the default classes, ordered by name", () => {
  expect(names(beltOf({}))).toEqual(["grep", "publish_report", "read_file", "write_file"]);
});

test("has tools that execute code only when the spec grants the class", () => {
  const belt = beltOf({ permissionClasses: ["execute"] });
  expect(names(belt)).toEqual(
    expect.arrayContaining(["execute_code", "run_command", "publish_report"]),
  );
});

// Requirement: KIT-9, PERM-3
test("has no tools that execute code without isolation, and warns an agent that names one", () => {
  for (const isolation of ["none", "files-only"]) {
    const open = offer.tools.map((catalog) => ({ ...catalog, isolation }));
    const allowedTools = fromJson(ListValueSchema, ["execute_code", "grep"]);
    const belt = beltOf({ permissionClasses: ["execute"], allowedTools }, open);
    expect(names(belt)).toEqual(["grep"]);
    expect(belt.warnings.map(warningText)).toEqual([
      expect.stringMatching(/"execute_code".*sandbox/),
    ]);
  }
});

// Requirement: PERM-3, WEB-7
test("has built-in tools of the class network only if the spec asks for the class or the tool", () => {
  const web = create(ToolCatalogSchema, {
    tools: ["fetch_page", "web_search"].map((name) =>
      tool(name, { permissionClass: PermissionClass.NETWORK }),
    ),
  });
  const belt = beltOf({ allowedToolPatterns: fromJson(ListValueSchema, ["*"]) }, [web]);
  expect(names(belt)).toEqual([]);
  expect(belt.excluded.get("fetch_page")).toContain("add network to permission_classes");
  expect(names(beltOf(only("fetch_page"), [web]))).toEqual(["fetch_page"]);
  expect(names(beltOf({ permissionClasses: ["network"] }, [web]))).toEqual([
    "fetch_page",
    "web_search",
  ]);
  expect(names(beltOf({ mcpServers: ["weather"] }))).toContain("mcp__weather__forecast");
});

// Requirement: LOOP-3
test("has no tool whose schema is nested too deep for the log of a run", () => {
  const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: nested(levels - 1) });
  const catalog = (levels: number) =>
    create(ToolCatalogSchema, { tools: [tool("deep", { inputSchema: nested(levels) })] });
  expect(names(beltOf({}, [catalog(40)]))).toEqual(["deep"]);
  const belt = beltOf({}, [catalog(41)]);
  expect(names(belt)).toEqual([]);
  expect(belt.excluded.get("deep")).toContain("nested deeper than 40 levels");
});

// Requirement: PERM-1, PERM-3
test("never has a tool without a class, and secrets only when they are granted", () => {
  expect(names(beltOf({ permissionClasses: ["unspecified", "secrets"] }))).toContain("read_secret");
  expect(names(beltOf({ permissionClasses: ["unspecified", "secrets"] }))).not.toContain(
    "unclassed",
  );
});

// Requirement: KIT-5
test("loses only the tools of a category that is switched off", () => {
  const permissionClasses = ["execute"];
  const without = (deepAgent: MessageInitShape<typeof AgentSpecSchema>["deepAgent"]) =>
    names(beltOf({ permissionClasses, deepAgent }));
  expect(without({ filesystem: false })).toEqual(["execute_code", "publish_report", "run_command"]);
  expect(without({ terminal: false, code: false })).toEqual([
    "grep",
    "publish_report",
    "read_file",
    "write_file",
  ]);
  expect(without({ filesystem: true })).toContain("grep");
});

test("keeps a tool of another source with a built-in name when its category is switched off", () => {
  const source = "mcp:files";
  const catalogs = [
    create(ToolCatalogSchema, { isolation: "none", tools: [tool("grep", { source })] }),
  ];
  const belt = beltOf({ mcpServers: ["files"], deepAgent: { filesystem: false } }, catalogs);
  expect(names(belt)).toEqual(["grep"]);
});

test("loses a built-in tool whose toolhost announces no category when any category is off", () => {
  const unset = ToolCategory.UNSPECIFIED;
  const catalogs = [create(ToolCatalogSchema, { tools: [tool("grep", { category: unset })] })];
  expect(names(beltOf({ deepAgent: { terminal: true } }, catalogs))).toEqual(["grep"]);
  const belt = beltOf({ deepAgent: { terminal: false } }, catalogs);
  expect(names(belt)).toEqual([]);
  expect(belt.excluded.get("grep")).toContain("update the toolhost");
});

// Requirement: MCP-1
test("has the tools of an MCP server only when the spec names it", () => {
  expect(names(beltOf({ mcpServers: ["weather"] }))).toContain("mcp__weather__forecast");
  expect(names(beltOf({ mcpServers: ["weath"] }))).not.toContain("mcp__weather__forecast");
});

// Requirement: RES-8, PERM-2
test("applies the filter last, and gives the reason for each excluded tool", () => {
  const belt = beltOf({ excludedToolPatterns: ["*_file"], deepAgent: { terminal: false } });
  expect(names(belt)).toEqual(["grep", "publish_report"]);
  expect(Object.fromEntries(belt.excluded)).toMatchObject({
    read_file: expect.stringContaining("filter"),
    execute_code: expect.stringContaining("permission class execute"),
    mcp__weather__forecast: expect.stringContaining("mcp_servers"),
  });
});

// Requirement: RES-7
test("is rejected when two sources offer the same name", () => {
  const mine = create(ToolCatalogSchema, {
    pool: "gpu",
    tools: [tool("grep", { source: "mcp:x", pool: "gpu" })],
  });
  expect(() => beltOf({}, [...offer.tools, mine])).toThrow(
    expect.objectContaining({
      reason: ErrorReason.TOOL_ID_CONFLICT,
      message: expect.stringMatching(/grep: builtin in pool default and mcp:x in pool gpu/),
    }),
  );
});

// Requirement: HOST-4
test("has the built-in tools of the pool that the agent names", () => {
  const gpu = create(ToolCatalogSchema, {
    pool: "gpu",
    tools: [tool("grep", { pool: "gpu", description: "on a GPU" })],
  });
  const poolOf = (deepAgent: { readonly pool: string }) =>
    beltOf({ deepAgent }, [...offer.tools, gpu]).tools.find(({ name }) => name === "grep")?.pool;
  expect(poolOf({ pool: "gpu" })).toBe("gpu");
  expect(poolOf({ pool: "" })).toBe("default");
});

// Requirement: META-4, KIT-5
test("has the tools of the runtime, under the same policy and filter", () => {
  expect(runtimeNames(beltOf({}))).toEqual([
    "add_todo",
    "complete_todo",
    "list_todos",
    "memory_list",
    "memory_read",
    "memory_write",
    "retrieve_artifact",
    "run_subtask",
    "update_todo_status",
  ]);
  expect(runtimeNames(beltOf({ deepAgent: { planning: false } }))).not.toContain("add_todo");
  expect(runtimeNames(beltOf({ excludedToolPatterns: ["run_*"] }))).not.toContain("run_subtask");
  expect(runtimeNames(beltOf({}, []))).not.toContain("retrieve_artifact");
});

// Requirement: META-4
test("has the tools that its results name, even if its filter does not list them", () => {
  expect(namesOf(only("grep"))).toEqual(["grep", "retrieve_artifact"]);
  expect(namesOf(only("run_subtask"))).toEqual(["memory_read", "run_subtask"]);
  expect(namesOf(only("list_todos"))).toEqual(["list_todos"]);
  expect(namesOf(only())).toEqual([]);
  const excluded = { ...only("grep"), excludedToolPatterns: ["retrieve_*"] };
  expect(namesOf(excluded)).toEqual(["grep"]);
});

// Requirement: CFG-8, CFG-9, SUB-2
test("has the tool for parallel subtasks only when the agent allows it, whatever its maximum is", () => {
  expect(runtimeNames(beltOf({ maxParallelSubagents: 7 }))).not.toContain("run_parallel_subtasks");
  const belt = beltOf({ allowParallelSubagents: true, maxParallelSubagents: 4 });
  const parallel = belt.tools.find(({ name }) => name === "run_parallel_subtasks");
  expect(parallel?.inputSchema).toMatchObject({ properties: { jobs: { maxItems: 4 } } });
});

// Requirement: PERM-3, PERM-4, CHAT-2
test.each([
  ["a thread", false, []],
  ["an editor", true, [/^chat_context: /]],
] as const)(
  "has no tool that changes an editor's contents without a node registry, in %s",
  (_, isEditor, warnings) => {
    const draw = tool("draw", { permissionClass: PermissionClass.EDITOR_MUTATE });
    const catalogs = [create(ToolCatalogSchema, { pool: "ui", tools: [draw] })];
    const spec = create(AgentSpecSchema, { permissionClasses: ["execute", "editor_mutate"] });
    const belt = toolbelt(spec, catalogs, { isEditor, extraTools: [], policy: unrestricted });
    expect(names(belt)).toEqual([]);
    expect(belt.excluded.get("draw")).toContain("no node registry");
    expect(belt.warnings.map(warningText)).toEqual(
      [/^permission_classes\[1\]: this deployment has no node registry/, ...warnings].map(
        (pattern): unknown => expect.stringMatching(pattern),
      ),
    );
  },
);

// Requirement: PERM-3, PERM-4, CHAT-2
test.each([
  ["an editor has them", true, ["build_workflow", "draw", "search_nodes"], undefined],
  [
    "a thread has none",
    false,
    [],
    "it changes the contents of an editor, and the run has no chat_context of an editor",
  ],
] as const)(
  "with a node registry, tools that change an editor: %s",
  (_, isEditor, expected, reason) => {
    const draw = tool("draw", { permissionClass: PermissionClass.EDITOR_MUTATE });
    const offeredTools = [create(ToolDescriptorSchema, { ...draw, source: "client:page" })];
    const context = { isEditor, hasNodeRegistry: true, extraTools: [], policy: unrestricted };
    const belt = toolbelt(create(AgentSpecSchema), [], { ...context, offeredTools });
    const all = belt.tools.map(({ name }) => name);
    expect(["build_workflow", "draw", "search_nodes"].filter((name) => all.includes(name))).toEqual(
      expected,
    );
    expect(belt.excluded.get("draw")).toEqual(reason);
    const delegate = toolbelt(create(AgentSpecSchema), [], { ...context, isEditor: false });
    expect(delegate.tools.map(({ name }) => name)).not.toContain("build_workflow");
  },
);

test.each(["run_subtask", "finish_subtask"])("rejects the tool %s of another source", (name) => {
  const catalogs = [create(ToolCatalogSchema, { pool: "other", tools: [tool(name)] })];
  expect(() => beltOf({}, catalogs)).toThrow(`two sources offer the tool ${name}`);
});
