import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { readSpec, specAsJson, specAsYaml } from "./spec-text.ts";

const spec = create(AgentSpecSchema, {
  id: "writer",
  name: "Writer",
  model: "default",
  hitlTools: ["publish", "send"],
  budgets: { maxDepth: 2 },
});

test("a spec survives being shown as YAML or JSON, and read again", () => {
  expect(readSpec(specAsYaml(spec)).spec).toEqual(spec);
  expect(readSpec(specAsJson(spec)).spec).toEqual(spec);
});

test("the line of a field is that of its value, or of what contains it", () => {
  const { lineOf } = readSpec("name: x\nhitl_tools:\n  - a\n  - b\nbudgets:\n  max_depth: 9\n");
  expect(lineOf("hitl_tools[1]")).toBe(4);
  expect(lineOf("budgets.max_depth")).toBe(6);
  expect(lineOf("budgets.max_cost_usd")).toBe(6);
  expect(lineOf("none")).toBeUndefined();
});

test.each(["name: [", "nome: x", "max_rounds: many"])("%s is refused with the reason", (text) => {
  const { spec: read, problems } = readSpec(text);
  expect(read).toBeUndefined();
  expect(problems).toHaveLength(1);
});

test("an empty text is told what it needs", () => {
  for (const text of ["", "\n", "# only a comment\n"]) {
    const { spec, problems } = readSpec(text);
    expect(spec).toBeUndefined();
    expect(problems.map(({ message }) => message)).toEqual([
      "the spec is empty; it needs an id, a name, and a model",
    ]);
  }
});
