import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { openSkill } from "@reeve/agent/tools/open-skill";
import { ModelCatalogSchema, SkillDescriptorSchema } from "@reeve/contracts/agent";
import { RunCreatedSchema, RunPreparedSchema } from "@reeve/contracts/run";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { emptyHead } from "@reeve/run/head/run-head";
import { expect, test } from "vitest";
import { frameOf, initialState } from "../domain/state/run-state.ts";
import { mountedSkills } from "./mounted-skills.ts";

const never = new AbortController().signal;
const skills = ["maps", "tables"].map((name) =>
  create(SkillDescriptorSchema, { name, digest: `digest of ${name}` }),
);
const state = {
  ...initialState,
  head: {
    ...emptyHead,
    created: create(RunCreatedSchema, { tenant: "acme" }),
    prepared: create(RunPreparedSchema, { skills, tools: [openSkill] }),
  },
};

function mounted({
  source = "builtin",
  mountsSkills = true,
  isStored = true,
  policy = "",
  of = state,
} = {}) {
  const tools = [create(ToolCatalogSchema, { pool: "default", sandbox: { mountsSkills } })];
  const ports = {
    worker: "w1",
    policy: () => (policy === "" ? undefined : parsePolicyFile(policy, "policy.yaml")),
    catalogs: () => ({ tools, models: create(ModelCatalogSchema) }),
    skills: {
      version: () => undefined,
      artifactOf: (tenant: string, { name }: { readonly name: string }) =>
        Promise.resolve(isStored || name === "maps" ? `${tenant}'s ${name}` : undefined),
    },
  };
  return mountedSkills(of, frameOf(of, ""), { source, pool: "default" }, ports, never);
}

// Requirement: CFG-17
test("a call has the skills of its agent in the versions of the run, as artifacts of its tenant", async () => {
  expect(await mounted()).toEqual([
    { name: "maps", digest: "digest of maps", artifactId: "acme's maps" },
    { name: "tables", digest: "digest of tables", artifactId: "acme's tables" },
  ]);
});

test("a version that no process has is left out", async () => {
  expect((await mounted({ isStored: false })).map(({ name }) => name)).toEqual(["maps"]);
});

test.each([
  ["a tool that uses no sandbox", { source: "mcp:bank" }],
  ["a pool whose sandboxes mount none", { mountsSkills: false }],
])("no skill is stored for %s", async (_, options) => {
  expect(await mounted(options)).toEqual([]);
});

const ruled = (permission: string) => `rules: [{ name: late, permission: { ${permission} } }]`;

// Requirement: CFG-17, RES-10
test.each([
  ["denies a skill", ruled(`rules: [{ tool: 'open_skill(name = "maps")', behavior: deny }]`), 1],
  ["asks about a skill", ruled(`rules: [{ tool: 'open_skill(name = "maps")', behavior: ask }]`), 1],
  ["denies all skills", ruled("rules: [{ tool: open_skill, behavior: deny }]"), 0],
  ["has other rules", ruled("rules: [{ tool: search, behavior: deny }]"), 2],
])(
  "a policy that %s does not let a sandbox have what may not be opened",
  async (_, policy, left) => {
    expect(await mounted({ policy })).toHaveLength(left);
  },
);

// Requirement: CFG-17
test("an agent without the tool that opens skills has none in its sandbox", async () => {
  const prepared = create(RunPreparedSchema, { skills });
  expect(await mounted({ of: { ...state, head: { ...state.head, prepared } } })).toEqual([]);
});
