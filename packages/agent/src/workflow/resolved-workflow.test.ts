import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { specOf, under } from "../../test/policies.ts";
import { workflowOf } from "../../test/workflows.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { checkSpec } from "../spec/check-spec.ts";
import { formatSpec, parseSpecFile } from "../spec/spec-file.ts";
import { workflowDelegateProblems } from "./check/workflow-problems.ts";

const reads = workflowOf(
  [
    { id: "out", type: "output" },
    { id: "each", type: "map", properties: { node_type: "tool:grep" } },
    { id: "in", type: "input" },
  ],
  "in -> each.items",
  "each -> out",
);

const resolve = (init: SpecInit, delegates: readonly SpecInit[] = []) =>
  resolveAgent(specOf({ id: "root", model: "", ...init }), offer, {
    ...under(unrestricted),
    delegates: delegates.map((each) =>
      create(DelegateAgentSchema, { agentId: each.id ?? "", revision: 1, spec: specOf(each) }),
    ),
  });

test("a workflow that calls no model resolves without one, and its plan lists the nodes in their order", () => {
  const { executor, tools, plan } = resolve({ workflow: reads });
  expect(executor).toBeUndefined();
  expect(tools.map(({ name }) => name)).toContain("grep");
  expect(plan.models).toEqual([]);
  expect(plan.nodes).toMatchObject([
    { id: "in", type: "input", tool: "", after: [] },
    { id: "each", type: "map", tool: "grep", after: ["in"] },
    { id: "out", type: "output", after: ["each"] },
  ]);
});

test("a workflow whose tool is gone, or whose delegate is no agent anymore, does not start", () => {
  expect(() => resolve({ workflow: reads, excludedTools: ["grep"] })).toThrow(
    /workflow\.nodes\[1\]\.properties\.node_type: the agent does not have the tool "grep"/,
  );
  const calls = workflowOf([
    { id: "n", type: "agent:sub", properties: { inputs: { prompt: "" } } },
  ]);
  const sub = { id: "sub", name: "sub", workflow: reads };
  expect(() => resolve({ workflow: calls, delegates: ["sub"] }, [sub])).toThrow(
    /"sub" is a workflow; use the type workflow/,
  );
  expect(resolve({ workflow: calls, delegates: ["sub"] }, [{ id: "sub" }]).delegates).toHaveLength(
    1,
  );
});

test("a workflow is the same after it was written to a file and read again", () => {
  const spec = specOf({ id: "flow", workflow: reads });
  expect(parseSpecFile(formatSpec(spec, "yaml"), "flow.yaml")).toEqual(spec);
});

test("the workflows of the example are valid", () => {
  const folder = join(import.meta.dirname, "../../../../examples/workflow");
  const [order, noteWriter, shipping] = ["agent", "note-writer", "shipping"].map((name) =>
    parseSpecFile(readFileSync(join(folder, `${name}.yaml`), "utf8"), name),
  );
  const specs = [order, noteWriter, shipping].filter((each) => each !== undefined);
  expect(specs.flatMap((spec) => checkSpec(spec, offer).violations)).toEqual([]);
  const known = specs.map((spec) => create(DelegateAgentSchema, { agentId: spec.id, spec }));
  expect(order && workflowDelegateProblems(order, known)).toEqual([]);
});
