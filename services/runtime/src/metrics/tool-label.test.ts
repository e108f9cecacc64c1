import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { toolLabel } from "./tool-label.ts";

test("tools that are not offered, and those beyond the limit, share a label", () => {
  const tools = [{ name: "mcp__a__one" }, { name: "mcp__a__two" }, { name: "mcp__a__three" }];
  const catalogs = {
    tools: [create(ToolCatalogSchema, { tools })],
    models: create(ModelCatalogSchema),
  };
  const label = toolLabel(() => catalogs, 2);
  const names = [
    "made_up",
    "mcp__a__one",
    "mcp__a__two",
    "mcp__a__three",
    "mcp__a__one",
    "run_subtask",
  ];
  expect(names.map(label)).toEqual([
    "other",
    "mcp__a__one",
    "mcp__a__two",
    "other",
    "mcp__a__one",
    "run_subtask",
  ]);
});
