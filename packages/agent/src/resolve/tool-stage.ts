import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { Offer } from "../spec/check-spec.ts";
import { truncateToBytes } from "../text/truncate-to-bytes.ts";
import type { GatedTools } from "../tools/gated-tools.ts";
import { gatedTools } from "../tools/gated-tools.ts";
import { toolWithParameter } from "../tools/injected-args.ts";
import { runtimeSource } from "../tools/runtime-tools.ts";
import type { Toolbelt, ToolContext } from "../tools/toolbelt.ts";
import { toolbelt } from "../tools/toolbelt.ts";
import { invalidAgent } from "./lookup-stage.ts";
import { sandboxProblems } from "./sandbox-problems.ts";

/** The tools of an agent, and which of them require an approval. */
interface ToolStage {
  readonly belt: Toolbelt;
  readonly gated: GatedTools;
  /** Warnings about settings that some toolhosts do not honor. */
  readonly sandboxWarnings: readonly string[];
}

/**
 * The third stage of a resolution: collects the tools that are offered, and filters them. Throws a Failure if two sources offer one
 * name, or if a setting of the agent has become impossible to honor.
 */
export function toolStage(spec: AgentSpec, offer: Offer, context: ToolContext): ToolStage {
  const { plugins, nodeRegistry: hasNodeRegistry } = offer.models;
  const belt = toolbelt(spec, offer.tools, { plugins, hasNodeRegistry, ...context });
  const { tools } = belt;
  assertInjected(spec, tools);
  const sandboxes = sandboxProblems(spec, tools, offer.tools);
  assertHonored(sandboxes.violations);
  const gated = gatedTools(spec, belt);
  assertGated(gated, tools);
  return { belt, gated, sandboxWarnings: sandboxes.warnings };
}

/** Throws if the spec requires an approval for a tool that exists under no known name: it may exist under another. */
function assertGated({ unresolved }: GatedTools, tools: readonly ToolDescriptor[]): void {
  if (unresolved.length === 0) return;
  const names = unresolved.map((name) => `"${name}"`).join(", ");
  const known = tools.map(({ name }) => name).join(", ");
  const problem = `hitl_tools: nothing offers ${names}; update hitl_tools of the agent, whose tools are: ${known || "none"}`;
  throw invalidAgent(truncateToBytes(problem, maxProblemBytes));
}

const maxProblemBytes = 4_000;

/** Throws if a tool has got a parameter with the name of an injected argument since the agent was stored. */
function assertInjected(spec: AgentSpec, tools: readonly ToolDescriptor[]): void {
  for (const key of Object.keys(spec.injectedToolArgs)) {
    const owner = toolWithParameter(tools, key);
    if (owner === undefined) continue;
    const where = owner.source === runtimeSource ? "" : ` of ${owner.source}`;
    const message = `injected_tool_args: "${key}" is now a parameter of the tool ${owner.name}${where}; choose another name`;
    throw invalidAgent(message);
  }
}

/** Throws if the toolhosts cannot honor a setting of the agent. */
function assertHonored(violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  const message = truncateToBytes(list, maxProblemBytes);
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, message, { violations });
}
