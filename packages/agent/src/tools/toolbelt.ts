import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { catalogFilter, exclusionFilter, filterWarnings } from "./catalog-filter.ts";
import { companionsOf } from "./companion-tools.ts";
import type { OfferedTool } from "./exclusion-reason.ts";
import { exclusionReason } from "./exclusion-reason.ts";
import {
  finishSubtaskName,
  runtimeSource,
  runtimeTools,
  retrieveArtifact,
} from "./runtime-tools.ts";
import { stringsOf } from "../spec/string-list.ts";

/** The tools of an agent, with warnings about how it selects them. */
export interface Toolbelt {
  /** Ordered by name. */
  readonly tools: readonly ToolDescriptor[];
  /** For each other tool that is offered, by name, why the agent does not have it. */
  readonly excluded: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** What decides, beside the agent, which tools a run can have. */
export interface ToolContext {
  /** Whether the run belongs to an editor. */
  readonly isEditor: boolean;
  /** Tools of the runtime that only some runs have, such as those of long-term memory. */
  readonly extraTools: readonly ToolDescriptor[];
}

const defaultContext: ToolContext = { isEditor: false, extraTools: [] };

/**
 * Returns the tools of an agent: those that are offered, permitted by class, of an MCP server that the agent names, of a category
 * that it does not switch off, and not removed by its filter. Throws a Failure with reason TOOL_ID_CONFLICT when two sources
 * offer a tool with the same name.
 */
export function toolbelt(
  spec: AgentSpec,
  catalogs: readonly ToolCatalog[],
  context: ToolContext = defaultContext,
): Toolbelt {
  const offered = offeredTools(catalogs, [...runtimeTools(spec), ...context.extraTools]);
  const policyReasonOf = exclusionReason(spec);
  const isInFilter = catalogFilter(spec);
  const named = new Set(stringsOf(spec.allowedTools).strings);
  const tools: ToolDescriptor[] = [];
  const excluded = new Map<string, string>();
  const missing: string[] = [];
  for (const [name, tool] of offered) {
    const policyReason = policyReasonOf(tool);
    const reason =
      policyReason ?? (isInFilter(name) ? undefined : "the agent's tool filter removes it");
    if (reason === undefined) tools.push(tool.descriptor);
    else excluded.set(name, reason);
    // An agent that names a tool, and excludes it nowhere, expects to have it.
    if (policyReason !== undefined && named.has(name) && isInFilter(name)) {
      missing.push(`allowed_tools: the agent does not have "${name}": ${policyReason}`);
    }
  }
  // A result must not name a tool that the agent lacks, unless the agent excludes it expressly.
  const isExcluded = exclusionFilter(spec);
  for (const name of companionsOf(tools)) {
    const tool = offered.get(name);
    if (tool === undefined || !excluded.has(name)) continue;
    if (isExcluded(name) || policyReasonOf(tool) !== undefined) continue;
    tools.push(tool.descriptor);
    excluded.delete(name);
  }
  return {
    tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    excluded,
    warnings: [
      ...filterWarnings(spec, [...offered.keys()]),
      ...missing,
      ...editorWarnings(spec, context),
    ],
  };
}

/** Tools that change the contents of an editor need a node registry, which no deployment of this version has. */
function editorWarnings(
  { permissionClasses }: AgentSpec,
  { isEditor }: ToolContext,
): readonly string[] {
  const reason = "this deployment has no node registry; tools of the editor are left out";
  const index = permissionClasses.indexOf("editor_mutate");
  return [
    ...(index < 0 ? [] : [`permission_classes[${index}]: ${reason}`]),
    ...(isEditor ? [`chat_context: ${reason}, and workflow_id has no effect`] : []),
  ];
}

/**
 * Returns the tools of the runtime and of all toolhosts, by name. If any toolhost has tools, their results may be large, so the tool
 * that reads large results is added.
 */
function offeredTools(
  catalogs: readonly ToolCatalog[],
  runtimeOwn: readonly ToolDescriptor[],
): ReadonlyMap<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>();
  const hasToolhostTools = catalogs.some(({ tools }) => tools.length > 0);
  const tools = hasToolhostTools ? [...runtimeOwn, retrieveArtifact] : runtimeOwn;
  for (const { tools: offeredHere, isolation } of [{ tools, isolation: "none" }, ...catalogs]) {
    for (const descriptor of offeredHere) {
      const other = offered.get(descriptor.name);
      if (other !== undefined) throw conflict(other.descriptor, descriptor);
      if (descriptor.name === finishSubtaskName) throw conflict(reserved, descriptor);
      offered.set(descriptor.name, { descriptor, isolation });
    }
  }
  return offered;
}

function conflict(first: ToolDescriptor, second: ToolDescriptor): Failure {
  return new Failure(
    "precondition",
    ErrorReason.TOOL_ID_CONFLICT,
    `two sources offer the tool ${first.name}: ${sourceOf(first)} and ${sourceOf(second)}; remove one of them`,
    { metadata: { tool: first.name } },
  );
}

function sourceOf({ source, pool }: ToolDescriptor): string {
  return pool === "" ? `the ${source} itself` : `${source} in pool ${pool}`;
}

const reserved = create(ToolDescriptorSchema, { name: finishSubtaskName, source: runtimeSource });
