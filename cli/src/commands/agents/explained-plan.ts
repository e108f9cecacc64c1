import type { ExplainAgentResponse, ResolutionPlan } from "@reeve/contracts/agent";
import { roleName } from "@reeve/platform/rpc/roles";
import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";

/** Returns what an agent becomes for a caller: its tools, with what happens to their calls, its plugins, and the hash of its plan. */
export function explainedPlan(explained: ExplainAgentResponse): string {
  const { plan, violations, warnings, deciders } = explained;
  const problems = [
    ...violations.map((each) => `problem: ${fieldAnd(each)}`),
    ...warnings.map((each) => `warning: ${fieldAnd(each)}`),
  ].map((line) => `${oneLine(line, 500)}\n`);
  if (plan === undefined) return ["\n", ...problems].join("");
  const { plugins, delegates, hash } = plan;
  const plugged = plugins.map(({ id, origin, version, addedBy, sections }) => [
    oneLine(id, 63),
    oneLine([origin, version].join(" ").trim(), 128),
    oneLine(addedBy, 128),
    oneLine(sections.join(", "), 128),
  ]);
  return [
    "\n",
    table(
      ["TOOL", "CLASS", "SOURCE", "ADMITTED BY", "CALLS", "DECIDED BY", "CALLERS"],
      toolRows(explained),
    ),
    "\n",
    table(["PLUGIN", "ORIGIN", "ADDED BY", "SECTIONS"], plugged),
    ...(delegates.length === 0 ? [] : ["\n", delegateTable(delegates)]),
    ...(plan.nodes.length === 0 ? [] : ["\n", nodeTable(plan.nodes)]),
    ...(plan.skills.length === 0 ? [] : ["\n", skillTable(plan.skills)]),
    "\n",
    `approvals are decided by: ${oneLine(deciders.join(", "), 500)}\n`,
    `resolution plan: ${hash}\n`,
    ...problems,
  ].join("");
}

function delegateTable(delegates: ResolutionPlan["delegates"]): string {
  const rows = delegates.map(({ agentId, revision, models, tools }) => [
    oneLine(agentId, 63),
    String(revision),
    oneLine(models.map(({ id }) => id).join(", "), 128),
    oneLine(tools.join(", "), 500),
  ]);
  return table(["DELEGATE", "REVISION", "MODELS", "TOOLS"], rows);
}

function nodeTable(nodes: ResolutionPlan["nodes"]): string {
  const rows = nodes.map(({ id, type, tool, after }) => [
    oneLine(id, 64),
    oneLine(type, 128),
    oneLine(tool, 128),
    oneLine(after.join(", "), 200),
  ]);
  return table(["NODE", "TYPE", "CALLS", "AFTER"], rows);
}

function skillTable(skills: ResolutionPlan["skills"]): string {
  const rows = skills.map(({ name, digest, description }) => [
    oneLine(name, 64),
    oneLine(digest, 12),
    oneLine(description, 200),
  ]);
  return table(["SKILL", "DIGEST", "DESCRIPTION"], rows);
}

function toolRows({ plan, callers }: ExplainAgentResponse): readonly (readonly string[])[] {
  const rolesOf = new Map(callers.map(({ tool, roles }) => [tool, roles]));
  return (plan?.tools ?? []).map((tool) => [
    oneLine(tool.name, 128),
    tool.permissionClass,
    oneLine(tool.source, 128),
    oneLine(tool.admittedBy, 128),
    tool.calls,
    oneLine(tool.callRules.join("; "), 200),
    (rolesOf.get(tool.name) ?? []).map(roleName).join(" or "),
  ]);
}

function fieldAnd({ field, description }: ExplainAgentResponse["warnings"][number]): string {
  return field === "" ? description : `${field}: ${description}`;
}
