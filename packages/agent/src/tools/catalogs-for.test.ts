import { create } from "@bufbuild/protobuf";
import { ToolCatalogSchema, ToolCategory } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { catalogsFor } from "./catalogs-for.ts";

const code = ToolCategory.CODE;
const general = ToolCategory.GENERAL;

function catalog(pool: string, tools: readonly (readonly [string, ToolCategory, string?])[]) {
  return create(ToolCatalogSchema, {
    pool,
    tools: tools.map(([name, category, source = "builtin"]) => ({ name, pool, source, category })),
  });
}

const pools = [
  catalog("default", [
    ["execute_code", code],
    ["fetch_page", general],
    ["mcp__mail__send", general, "mcp:mail"],
  ]),
  catalog("cpu", [["run_command", ToolCategory.TERMINAL]]),
  catalog("gpu", [
    ["execute_code", code],
    ["fetch_page", general],
  ]),
];

function names(pool?: string, catalogs = pools): readonly string[] {
  return catalogsFor(catalogs, pool).flatMap(({ tools }) =>
    tools.map((tool) => `${tool.pool}/${tool.name}`),
  );
}

test("without a pool, each built-in tool comes from the first pool that has it", () => {
  expect(names()).toEqual([
    "default/execute_code",
    "default/fetch_page",
    "default/mcp__mail__send",
    "cpu/run_command",
  ]);
});

// Requirement: HOST-4
test("with a pool, code, commands, and files are of that pool or of none", () => {
  expect(names("gpu")).toEqual(["default/mcp__mail__send", "gpu/execute_code", "gpu/fetch_page"]);
  expect(names("cpu")).toEqual([
    "default/fetch_page",
    "default/mcp__mail__send",
    "cpu/run_command",
  ]);
});

test("a pool that no toolhost has announced offers nothing that works in a workspace", () => {
  expect(names("tpu")).toEqual(["default/fetch_page", "default/mcp__mail__send"]);
});

test("a tool of a server that two pools offer stays in both", () => {
  const mail = [["mcp__mail__send", general, "mcp:mail"]] as const;
  const both = [catalog("default", mail), catalog("gpu", mail)];
  expect(names("gpu", both)).toEqual(["default/mcp__mail__send", "gpu/mcp__mail__send"]);
});
