import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { AgentSpecSchema, ExplainAgentRequestSchema } from "@reeve/contracts/agent";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { ann, memoryPorts } from "../../../test/support/memory-ports.ts";
import { createAgent } from "../agents.ts";
import { explainAgentAccess } from "./explain-agent.ts";
import { planOfSpec } from "./explain-plan.ts";

const never = new AbortController().signal;
const spec = create(AgentSpecSchema, { id: "helper", name: "helper", model: "known" });
const inputSchema = { type: "object" };
const tool = {
  name: "grep",
  source: "builtin",
  permissionClass: PermissionClass.SAFE,
  inputSchema,
};
const catalog = create(ToolCatalogSchema, { pool: "default", tools: [tool] });

/** Returns the ports of a gateway with an agent, and counts how often the tools that are offered are collected. */
async function gateway(policy?: string) {
  const ports = memoryPorts();
  await createAgent(ports, ann, { spec, shape: [] }, never);
  const { models } = ports.offer();
  const counts = { schemas: 0 };
  const counted = Object.defineProperty({ ...catalog.tools[0] }, "inputSchema", {
    enumerable: true,
    get: () => {
      counts.schemas += 1;
      return inputSchema;
    },
  });
  const offer = () => ({ models, tools: [{ ...catalog, tools: [counted as never] }] });
  const parsed = policy === undefined ? undefined : parsePolicyFile(policy, "policy.yaml");
  return { ports: { ...ports, offer, policy: () => parsed }, counts };
}

type Gateway = Awaited<ReturnType<typeof gateway>>;

const explain = ({ ports }: Gateway, request: { readonly memoryEnabled?: boolean } = {}) =>
  explainAgentAccess(
    ports,
    ann,
    create(ExplainAgentRequestSchema, { agentId: "helper", ...request }),
    never,
  );
const namesOf = (tools: readonly { readonly name: string }[] = []) => tools.map(({ name }) => name);

// Requirement: RES-8
test("tools of long-term memory are those of a run with memory, and absent with a reason without", async () => {
  const reeve = await gateway();
  const without = await explain(reeve);
  expect(namesOf(without.plan?.tools)).not.toContain("recall");
  expect(without.entries).toContainEqual(
    expect.objectContaining({
      name: "recall",
      allowed: false,
      reason: expect.stringContaining("memory_enabled"),
    }),
  );
  const withMemory = await explain(reeve, { memoryEnabled: true });
  expect(namesOf(withMemory.plan?.tools)).toContain("recall");
  expect(withMemory.entries).toContainEqual(
    expect.objectContaining({ name: "recall", allowed: true }),
  );
});

test("the plan of a valid spec has only the tools that the policy gives its caller", async () => {
  const { ports } = await gateway(
    "rules: [{ name: no-grep, when: { roles: [operator] }, deny: { tools: [grep] } }]",
  );
  expect(namesOf(planOfSpec(spec, ports, ann)?.plan?.tools)).not.toContain("grep");
  expect(namesOf(planOfSpec(spec, ports, { ...ann, roles: new Set() })?.plan?.tools)).toContain(
    "grep",
  );
  expect((await explain({ ports, counts: { schemas: 0 } })).plan?.hash).toBe(
    planOfSpec(spec, ports, ann)?.plan?.hash,
  );
});

test("the tools are collected once, whatever roles a policy could tell apart", async () => {
  const plain = await gateway();
  await explain(plain);
  expect(plain.counts.schemas).toBeGreaterThan(0);
  const ruled = await gateway("rules: [{ name: short, limits: { max_rounds: 5 } }]");
  const { callers } = await explain(ruled);
  expect(callers.length).toBeGreaterThan(0);
  expect(ruled.counts.schemas).toBe(plain.counts.schemas);
});
