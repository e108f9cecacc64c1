import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { DelegateAgent } from "@reeve/contracts/run";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import { SkillDescriptorSchema } from "@reeve/contracts/agent";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { violationsOf } from "../../test/check.ts";
import { offer, tool } from "../../test/offer.ts";
import { decided, specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { collectDelegates } from "./collect-delegates.ts";

const agentOf = (id: string, init: SpecInit = {}): DelegateAgent =>
  create(DelegateAgentSchema, {
    agentId: id,
    revision: 2,
    spec: { ...specOf(init), id, name: id },
  });

const resolve = (
  init: SpecInit,
  delegates: readonly DelegateAgent[],
  { offered = offer, policy = unrestricted } = {},
) => resolveAgent(specOf({ id: "root", ...init }), offered, { ...under(policy), delegates });

const refusal = (...args: Parameters<typeof resolve>) => {
  try {
    resolve(...args);
  } catch (error) {
    return error;
  }
  throw new Error("the agent was resolved");
};

const collect = (init: SpecInit, agents: readonly DelegateAgent[]) =>
  collectDelegates(specOf({ id: "root", ...init }), async (id) =>
    agents.find(({ agentId }) => agentId === id),
  );

/** Each agent has two delegates, without end. */
const findTwoMore = async (id: string) => agentOf(id, { delegates: [`${id}1`, `${id}2`] });

// Requirement: RES-7
describe("delegates are resolved", () => {
  test("each as an agent of its own, and their tools are those of the agent", () => {
    const delegates = [agentOf("finder", { model: "script", excludedTools: ["grep"] })];
    const resolved = resolve({ delegates: ["finder"] }, delegates);
    expect(resolved.tools.map(({ name }) => name)).toContain("agent_run_finder");
    const [finder] = resolved.delegates;
    expect(finder?.resolved.executor?.model.id).toBe("script");
    expect(finder?.resolved.tools.map(({ name }) => name)).not.toContain("grep");
    expect(resolved.plan.delegates).toMatchObject([
      { agentId: "finder", revision: 2, models: [{ role: "executor", id: "script" }] },
    ]);
    const other = [agentOf("finder", { model: "script" })];
    expect(resolve({ delegates: ["finder"] }, other).plan.hash).not.toBe(resolved.plan.hash);
  });

  test("without secrets, also if their specs name the class", () => {
    const delegates = [agentOf("finder", { permissionClasses: ["secrets"] })];
    const { delegates: found } = resolve({ delegates: ["finder"] }, delegates);
    expect(found[0]?.resolved.tools.map(({ name }) => name)).not.toContain("read_secret");
  });

  test("under the operator's policy", () => {
    const policy = decided("rules: [{ name: no-grep, deny: { tools: [grep] } }]");
    const { delegates } = resolve({ delegates: ["finder"] }, [agentOf("finder")], { policy });
    expect(delegates[0]?.resolved.tools.map(({ name }) => name)).not.toContain("grep");
  });

  test("and are subject to the filter of the agent", () => {
    const init = { delegates: ["finder"], excludedToolPatterns: ["agent_run_*"] };
    const { tools } = resolve(init, [agentOf("finder")]);
    expect(tools.map(({ name }) => name)).not.toContain("agent_run_finder");
  });
});

describe("an agent is refused", () => {
  test("by the name of a delegate that does not exist", () => {
    expect(refusal({ delegates: ["finder"] }, [])).toMatchObject({
      reason: ErrorReason.AGENT_NOT_FOUND,
      violations: [{ field: "delegates[0]", description: expect.stringContaining(`"finder"`) }],
    });
  });

  test("by the name of a delegate that cannot be resolved", () => {
    const error = refusal({ delegates: ["finder"] }, [agentOf("finder", { model: "gone" })]);
    expect(error).toMatchObject({
      reason: ErrorReason.MODEL_NOT_FOUND,
      message: expect.stringContaining(`agent "finder": model "gone"`),
    });
  });

  test("if another source has a tool with the name of a delegate's, with both names", () => {
    const catalog = create(ToolCatalogSchema, { tools: [tool("agent_run_finder")] });
    const offered = { ...offer, tools: [...offer.tools, catalog] };
    expect(refusal({ delegates: ["finder"] }, [agentOf("finder")], { offered })).toMatchObject({
      reason: ErrorReason.TOOL_ID_CONFLICT,
      message: expect.stringMatching(/the delegate "finder" of the agent and builtin in pool/),
    });
  });

  test("if the log of a run could not record the skills of all its delegates", () => {
    const names = Array.from({ length: 32 }, (_, n) => `skill-${n}`);
    const skills = names.map((name) =>
      create(SkillDescriptorSchema, { name, description: "x".repeat(1_024), digest: "d" }),
    );
    const offered = { ...offer, models: { ...offer.models, skills } };
    const ids = Array.from({ length: 16 }, (_, n) => `a${n}`);
    const delegates = [
      ...ids.map((id) => agentOf(id, { skills: names, delegates: [`${id}-b`] })),
      ...ids.map((id) => agentOf(`${id}-b`, { skills: names })),
    ];
    expect(refusal({ delegates: ids }, delegates, { offered })).toMatchObject({
      violations: [{ field: "delegates", reason: "TOO_LARGE" }],
    });
  });

  test("if its delegates would call each other without end", () => {
    const delegates = [agentOf("a", { delegates: ["b"] }), agentOf("b", { delegates: ["a"] })];
    expect(refusal({ delegates: ["a"] }, delegates)).toMatchObject({
      reason: ErrorReason.INVALID_AGENT,
      message: expect.stringContaining("a → b → a"),
    });
    const back = [agentOf("a", { delegates: ["root"] })];
    expect(refusal({ delegates: ["a"] }, back)).toMatchObject({
      message: expect.stringContaining("root → a → root"),
    });
  });

  test("if a delegate has an approval policy that the run would not honor", () => {
    const approvalPolicy = { excludeRequester: true };
    const delegates = [agentOf("finder", { approvalPolicy })];
    expect(refusal({ delegates: ["finder"] }, delegates)).toMatchObject({
      message: expect.stringContaining("another approval_policy"),
    });
    expect(() => resolve({ delegates: ["finder"], approvalPolicy }, delegates)).not.toThrow();
  });

  test("if it has a limit on cost, and a delegate a model without a price", () => {
    const init = { delegates: ["finder"], budgets: { maxCostUsd: 1 }, maxTokens: 10 };
    const delegates = [agentOf("finder", { model: "script" })];
    expect(refusal(init, delegates)).toMatchObject({ message: expect.stringContaining("price") });
  });
});

describe("the delegates of an agent", () => {
  test("are found with theirs, each once, and may meet again", async () => {
    const agents = [
      agentOf("c"),
      agentOf("a", { delegates: ["c"] }),
      agentOf("b", { delegates: ["c"] }),
    ];
    const found = await collect({ delegates: ["b", "a"] }, agents);
    expect(found.violations).toEqual([]);
    expect(found.agents.map(({ agentId }) => agentId)).toEqual(["a", "b", "c"]);
  });

  test("are violations if one of theirs does not exist, or a cycle would follow", async () => {
    const missing = await collect({ delegates: ["a"] }, [agentOf("a", { delegates: ["x"] })]);
    expect(missing.violations).toMatchObject(
      [
        { field: "delegates[0]", reason: "AGENT_NOT_FOUND", description: /agent "x".*agent "a"/ },
      ].map((each) => ({ ...each, description: expect.stringMatching(each.description) })),
    );
    const cycle = await collect({ delegates: ["a"] }, [agentOf("a", { delegates: ["root"] })]);
    expect(cycle.violations).toMatchObject([{ reason: "DELEGATE_CYCLE" }]);
  });

  test("are at most 32 agents, however they are reached", async () => {
    const root = specOf({ id: "root", delegates: ["a"] });
    const { violations } = await collectDelegates(root, findTwoMore);
    expect(violations).toMatchObject([{ field: "delegates[0]", reason: "TOO_MANY_ENTRIES" }]);
  });

  test("are looked up once each, however often they are named", async () => {
    const repeated = Array.from({ length: 50_000 }, () => "b");
    const looked: string[] = [];
    const { agents } = await collectDelegates(
      specOf({ id: "root", delegates: ["a"] }),
      async (id) => {
        looked.push(id);
        return agentOf(id, { delegates: id === "a" ? repeated : [] });
      },
    );
    expect(looked).toEqual(["a", "b"]);
    expect(agents).toHaveLength(2);
  });

  test.each<[SpecInit, readonly string[]]>([
    [{ delegates: ["No Id"] }, ["delegates[0]: MALFORMED"]],
    [{ id: "a", delegates: ["a"] }, ["delegates[0]: DELEGATE_CYCLE"]],
    [{ delegates: ["b", "b"] }, ["delegates[1]: TOOL_ID_CONFLICT"]],
    [{ delegates: ["b".repeat(55)] }, ["delegates[0]: MALFORMED"]],
    [{ delegates: Array.from({ length: 17 }, (_, n) => `b${n}`) }, ["delegates: TOO_MANY_ENTRIES"]],
    [{ delegates: ["b"], hitlTools: ["agent_run_b"] }, []],
    [{ delegates: ["b"], allowedTools: fromJson(ListValueSchema, ["agent_run_b"]) }, []],
  ])("are checked with their paths: %j", (init, violations) => {
    expect(violationsOf(init)).toEqual(violations);
  });
});
