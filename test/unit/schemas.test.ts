import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { classNames } from "@reeve/agent/tools/permission-classes";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { parseStoredFile, renderStoredFile } from "@reeve/models/registry/stored-file";
import type { ValidateFunction } from "ajv";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");
const schemas = "docs/schemas";
const read = (path: string) => readFileSync(join(root, path), "utf8");
const names = globSync("*.schema.json", { cwd: join(root, schemas) }).toSorted();

const compiled = new Map<string, ValidateFunction>();

function problemsOf(schema: string, value: unknown): readonly string[] {
  const isValid = compiled.get(schema) ?? compile(schema);
  if (isValid(value)) return [];
  return (isValid.errors ?? []).map(
    ({ instancePath, message = "" }) => `${instancePath} ${message}`,
  );
}

function compile(schema: string): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const isValid = ajv.compile(JSON.parse(read(join(schemas, schema))));
  compiled.set(schema, isValid);
  return isValid;
}

test("there is a schema for each file that people write", () => {
  expect(names.map((name) => name.replace(".schema.json", ""))).toEqual([
    "agent",
    "limits",
    "mcp-servers",
    "models",
    "policy",
    "quotas",
    "stored-models",
    "tool-providers",
  ]);
});

// Requirement: CFG-16
test.each([
  ...globSync("examples/*/{agent,checker,note-writer,shipping}.yaml", { cwd: root }).map((file) => [
    "agent",
    file,
  ]),
  ["agent", "packages/agent/test/configured-example.json"],
  ["policy", "examples/policy.yaml"],
  ["tool-providers", "examples/tool-provider-python/providers.json"],
])("the schema %s accepts %s", (schema, file) => {
  expect(problemsOf(`${schema}.schema.json`, parse(read(file)))).toEqual([]);
});

test("the schema of agents accepts the agents of a golden file", () => {
  const agents = parse(read("cli/test/golden/ten-agents.json")) as readonly object[];
  expect(agents.flatMap((agent) => problemsOf("agent.schema.json", agent))).toEqual([]);
});

// Requirement: CFG-16
test("the schema of stored models accepts what is exported, and refuses keys", () => {
  const parsed = parseStoredFile(
    `providers: [{ name: lab, base_url: "https://x.example", secret: lab }]\nmodels: [{ id: deep, provider: lab }]`,
    "stored.yaml",
  );
  const exported: unknown = parse(renderStoredFile(parsed));
  expect(problemsOf("stored-models.schema.json", exported)).toEqual([]);
  const withKey = { providers: [{ name: "lab", base_url: "https://x.example", api_key: "k" }] };
  expect(problemsOf("stored-models.schema.json", withKey)).not.toEqual([]);
});

test("an editor sees unknown fields, wrong types, and values that a field does not have", () => {
  const problems = problemsOf("agent.schema.json", {
    id: "Upper",
    name: "N",
    max_rounds: 0,
    hitl_tool: ["x"],
    permission_classes: ["sudo"],
    budget_awareness: "limit:101",
    answer_policy: { truncated: "maybe" },
    sections: { stop: { consecutive_errors: "many" }, own: { anything: 1 } },
  });
  expect(problems.map((problem) => problem.split(" ")[0] ?? "").toSorted()).toEqual([
    // A field that is not known, and neither a model nor a workflow.
    "",
    "",
    "",
    "",
    "/answer_policy/truncated",
    "/budget_awareness",
    "/id",
    "/max_rounds",
    "/permission_classes/0",
    "/sections/stop/consecutive_errors",
  ]);
});

test("the schema of agents has the fields and classes of the contract", () => {
  const { properties } = JSON.parse(read(join(schemas, "agent.schema.json"))) as {
    properties: Record<string, { items?: { enum?: string[] } }>;
  };
  // No remote agent is supported.
  const fields = AgentSpecSchema.fields.filter(({ name }) => name !== "endpoint");
  expect(Object.keys(properties)).toEqual(fields.map(({ name }) => name));
  expect(properties["permission_classes"]?.items?.enum).toEqual(classNames);
});

test.each(globSync("examples/{policy,*/{agent,checker}}.yaml", { cwd: root }))(
  "%s names its schema",
  (file) => {
    const [, schema = ""] = /^# yaml-language-server: \$schema=(\S+)/.exec(read(file)) ?? [];
    expect(names.map((name) => join(schemas, name))).toContain(join(file, "..", schema));
  },
);
