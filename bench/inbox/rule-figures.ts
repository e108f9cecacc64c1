import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { decideCall } from "@reeve/agent/permission/decide-call";
import { agentLevel } from "@reeve/agent/permission/permission-levels";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { PermissionBehavior } from "@reeve/contracts/tool";
import type { Cluster } from "../cluster.ts";
import type { Figure } from "../figure.ts";
import { timesOf, warmUp } from "../measure.ts";
import { createAgent, run, tools } from "../runs.ts";

/** The most that an agent may have. */
const most = 1_000;
const decisions = 200;
const runs = 20;
const tool = "memory_write";

/**
 * Measures the decision about a call that the last of 1,000 permission rules allows, and a run with such a call: of the function
 * alone, and of the services. The floor is the same with one rule.
 */
export async function* ruleFigures(cluster: Cluster, signal: AbortSignal): AsyncIterable<Figure> {
  for (const characters of [20, 1_000]) {
    yield {
      name: `decision about a call with ${characters} characters, ${most} rules`,
      unit: "ms",
      values: await decided(most, characters),
      floors: await decided(1, characters),
    };
  }
  const floors = await ran(cluster, 1, signal);
  const values = await ran(cluster, most, signal);
  yield { name: `a whole run with a call, ${most} rules`, unit: "ms", values, floors };
}

async function decided(rules: number, characters: number): Promise<readonly number[]> {
  const level = agentLevel(create(AgentSpecSchema, { sections: sectionsOf(rules) }));
  if (level === undefined) throw new Error("the agent has no permission rules");
  const described = { name: tool, source: "bench", pathArguments: [] };
  const call = { tool: described, args: { key: "reeve", value: "x".repeat(characters) } };
  const decide = () => {
    const decision = decideCall([level], call);
    if (decision?.behavior === PermissionBehavior.ALLOW) return;
    throw new Error(`the call was not allowed: ${JSON.stringify(decision)}`);
  };
  await warmUp(decisions, decide);
  return await timesOf(decisions, decide);
}

async function ran(
  cluster: Cluster,
  rules: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const id = `rules-${rules}`;
  const spec = { id, model: "openai:tool-once", allowedTools: tools(tool) };
  await createAgent(cluster, { ...spec, sections: sectionsOf(rules) }, signal);
  const once = () => run(cluster, id, signal);
  await warmUp(runs / 5, once);
  return await timesOf(runs, once);
}

/** All rules are about the tool. Those that deny are checked first, and look for a text in the call; the last one allows it. */
function sectionsOf(count: number) {
  const denying = Array.from({ length: count - 1 }, (_, at): JsonValue => {
    return { tool: `${tool}(value ~ "*secret-${at}*")`, behavior: "deny" };
  });
  const rules = [...denying, { tool, behavior: "allow" }];
  return { permission: fromJson(ValueSchema, { default_behavior: "deny", rules }) };
}
