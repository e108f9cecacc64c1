import type { JsonObject } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { ToolCatalogSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Tool } from "../ports/tool.ts";
import { HostToolbox, catalogOf } from "./host-toolbox.ts";

function toolOf(name: string, characters = 0): Tool {
  const descriptor = create(ToolDescriptorSchema, { name, description: "x".repeat(characters) });
  return { descriptor, call: () => Promise.resolve({ content: "", isError: false }) };
}

test("the catalog has the tools of all sources, each in the pool", () => {
  const toolbox = new HostToolbox([toolOf("own")], [() => [toolOf("a"), toolOf("b")]]);
  const { tools } = catalogOf(toolbox, { pool: "gpu", isolation: "none" });
  expect(tools.map(({ name, pool }) => [name, pool])).toEqual([
    ["own", "gpu"],
    ["a", "gpu"],
    ["b", "gpu"],
  ]);
});

test("the catalog fits in one message, however large the descriptions of a server are", () => {
  const many = Array.from({ length: 100 }, (_, index) => toolOf(`t${index}`, 90_000));
  const toolbox = new HostToolbox([toolOf("own")], [() => [toolOf("huge", 200_000), ...many]]);
  const left: string[] = [];
  const catalog = catalogOf(toolbox, { pool: "default", isolation: "none" }, (tool) =>
    left.push(tool),
  );
  expect(toBinary(ToolCatalogSchema, catalog).length).toBeLessThan(1_000_000);
  expect(catalog.tools.map(({ name }) => name)).toContain("own");
  expect(left).toContain("huge");
  expect(left.length + catalog.tools.length).toBe(102);
});

test("a tool that cannot be serialized is left out, and the others stay", () => {
  let inputSchema: JsonObject = {};
  for (let level = 0; level < 100_000; level++) inputSchema = { properties: inputSchema };
  const descriptor = { ...toolOf("endless").descriptor, inputSchema };
  const endless = { ...toolOf("endless"), descriptor };
  const left: string[] = [];
  const toolbox = new HostToolbox([], [() => [endless, toolOf("b")]]);
  const { tools } = catalogOf(toolbox, { pool: "default", isolation: "none" }, (tool) =>
    left.push(tool),
  );
  expect(tools.map(({ name }) => name)).toEqual(["b"]);
  expect(left).toEqual(["endless"]);
});
