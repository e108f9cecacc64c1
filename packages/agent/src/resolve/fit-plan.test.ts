import { create, toBinary } from "@bufbuild/protobuf";
import { ResolutionPlanSchema } from "@reeve/contracts/agent";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { offer, tool } from "../../test/offer.ts";
import type { RuleLine } from "../../test/permissions.ts";
import { permission } from "../../test/permissions.ts";
import { specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { fitPlan, planForLog } from "./fit-plan.ts";
import { resolveAgent } from "./resolve-agent.ts";

const longRules = Array.from(
  { length: 20 },
  (_, index): RuleLine => `deny *(path ~ "${String.fromCharCode(97 + index).repeat(900)}")`,
);
const planWith = (count: number) => {
  const more = create(ToolCatalogSchema, {
    pool: "more",
    tools: Array.from({ length: count }, (_, index) => tool(`tool_${index}`, { pool: "more" })),
  });
  const offered = { ...offer, tools: [...offer.tools, more] };
  const spec = specOf({ sections: permission("allow", ...longRules) });
  return resolveAgent(spec, offered, under(unrestricted)).plan;
};
const sizeOf = (plan: ReturnType<typeof planWith>) => toBinary(ResolutionPlanSchema, plan).length;

// Requirement: RES-1
describe("a plan", () => {
  test("repeats the beginning of a long rule only", () => {
    const { tools, omittedCallRules } = planWith(0);
    const rules = tools.find(({ name }) => name === "grep")?.callRules ?? [];
    expect(rules).toHaveLength(20);
    expect(rules[0]).toMatch(/^deny \*\(path ~ "a{10}/);
    for (const rule of rules) expect(rule.length).toBeLessThanOrEqual(110);
    expect(omittedCallRules).toBe(0);
  });

  test("stays small enough for a log with many tools and rules, and counts what it omits", () => {
    const plan = planWith(60);
    const many = planWith(1_000);
    expect(sizeOf(many)).toBeLessThanOrEqual(1024 * 1024);
    expect(many.omittedCallRules).toBeGreaterThan(1_000 * 20);
    const recorded = planForLog(many);
    expect(sizeOf(recorded)).toBeLessThanOrEqual(128 * 1024);
    expect(recorded.tools.length + recorded.omittedTools).toBe(
      many.tools.length + many.omittedTools,
    );
    expect(recorded.omittedCallRules).toBe(many.omittedCallRules);
    expect(sizeOf(planForLog(plan))).toBeLessThanOrEqual(128 * 1024);
    expect(planForLog(plan).omittedTools).toBe(0);
  });

  test("omits rules of calls first, then tools that the agent does not have, then its own", () => {
    const plan = planWith(20);
    const bare = { ...plan, tools: plan.tools.map((tool) => ({ ...tool, callRules: [] })) };
    const withoutRules = fitPlan(plan, sizeOf(bare) + 10);
    expect(withoutRules.tools).toHaveLength(plan.tools.length);
    expect(withoutRules.tools.flatMap(({ callRules }) => callRules)).toEqual([]);
    expect(withoutRules.excludedTools).toEqual(plan.excludedTools);
    const own = sizeOf({ ...bare, excludedTools: [] });
    const ownOnly = fitPlan(plan, own + 10);
    expect(ownOnly.excludedTools).toEqual([]);
    expect(ownOnly).toMatchObject({ excludedCount: plan.excludedCount, omittedTools: 0 });
    const part = fitPlan(plan, own - 200);
    expect(sizeOf(part)).toBeLessThanOrEqual(own - 200);
    expect(part.omittedTools).toBeGreaterThan(0);
    expect(part.hash).toBe(plan.hash);
  });
});
