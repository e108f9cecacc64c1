import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ResolutionPlanSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { offer, tool } from "../../test/offer.ts";
import { specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { planForLog } from "./fit-plan.ts";
import { resolveAgent } from "./resolve-agent.ts";

const description = "Does one thing of ten thousand, and says in a sentence which one it is.";
const tools = Array.from({ length: 10_000 }, (_, n) => tool(`tool_${n}`, { description }));
const catalog = create(ToolCatalogSchema, { pool: "default", isolation: "bubblewrap", tools });
const offered = { ...offer, tools: [catalog] };
const resolve = (init: SpecInit) => resolveAgent(specOf(init), offered, under(unrestricted));

// Requirement: RES-2
test("an agent with more tools than a run can record is refused, with how to have fewer", () => {
  expect(() => resolve({})).toThrow(
    expect.objectContaining({
      reason: ErrorReason.INVALID_AGENT,
      message: expect.stringMatching(
        /has 10\d{3} tools.*name those that it needs in allowed_tools/,
      ),
    }),
  );
});

test("an agent that names some of ten thousand tools has these, and a plan that fits into a log", () => {
  const allowedTools = fromJson(ListValueSchema, ["tool_7", "tool_9999"]);
  const { plan } = resolve({ allowedTools });
  expect(plan.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["tool_7", "tool_9999"]),
  );
  const recorded = planForLog(plan);
  expect(toBinary(ResolutionPlanSchema, recorded).length).toBeLessThanOrEqual(131_072);
});
