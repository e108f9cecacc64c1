import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { catalogFilter, filterWarnings } from "./catalog-filter.ts";
import type { OfferedTool } from "./exclusion-reason.ts";
import { exclusionReason } from "./exclusion-reason.ts";
import {
  finishSubtaskName,
  runtimeSource,
  runtimeTools,
  retrieveArtifact,
} from "./runtime-tools.ts";
import { stringsOf } from "../spec/string-list.ts";

/** The tools of an agent, and what is suspicious about how it chose them. */
export interface Toolbelt {
  /** By name. */
  readonly tools: readonly ToolDescriptor[];
  /** Why the agent has not the other tools that there are, by name. */
  readonly excluded: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Where a run takes place, as far as it decides which tools there are. */
export interface ToolContext {
  /** Whether it is beside an editor, whose contents tools may change. */
  readonly isEditor: boolean;
  /** Tools of the runtime that only some runs have. */
  readonly extraTools: readonly ToolDescriptor[];
}

const anyPlace: ToolContext = { isEditor: false, extraTools: [] };

/**
 * The tools that an agent has: registered, permitted by class, of an MCP server that it names, of a category that it did
 * not switch off, and not filtered out. Throws a Failure with reason TOOL_ID_CONFLICT when two sources offer one name.
 */
export function toolbelt(
  spec: AgentSpec,
  catalogs: readonly ToolCatalog[],
  place: ToolContext = anyPlace,
): Toolbelt {
  const offered = offeredTools(catalogs, [...runtimeTools(spec), ...place.extraTools]);
  const why = exclusionReason(spec, place.isEditor);
  const isInFilter = catalogFilter(spec);
  const named = new Set(stringsOf(spec.allowedTools).strings);
  const tools: ToolDescriptor[] = [];
  const excluded = new Map<string, string>();
  const missed: string[] = [];
  for (const [name, tool] of offered) {
    const policy = why(tool);
    const reason =
      policy ?? (isInFilter(name) ? undefined : "the filter of its catalog removes it");
    if (reason === undefined) tools.push(tool.descriptor);
    else excluded.set(name, reason);
    // An agent that asks for a tool by its name, and excludes it nowhere, expects to have it.
    if (policy !== undefined && named.has(name) && isInFilter(name)) {
      missed.push(`allowed_tools: the agent has not "${name}": ${policy}`);
    }
  }
  return {
    tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    excluded,
    warnings: [...filterWarnings(spec, [...offered.keys()]), ...missed],
  };
}

/** What the toolhosts offer and, where they offer anything whose result may be large, the way to read all of it. */
function offeredTools(
  catalogs: readonly ToolCatalog[],
  own: readonly ToolDescriptor[],
): ReadonlyMap<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>();
  const isForeign = catalogs.some(({ tools }) => tools.length > 0);
  const ofRuntime = { tools: isForeign ? [...own, retrieveArtifact] : own, isolation: "none" };
  for (const { tools, isolation } of [ofRuntime, ...catalogs]) {
    for (const descriptor of tools) {
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
    `two sources offer the tool ${first.name}: ${where(first)} and ${where(second)}; take one away`,
    { metadata: { tool: first.name } },
  );
}

function where({ source, pool }: ToolDescriptor): string {
  return pool === "" ? `the ${source} itself` : `${source} in pool ${pool}`;
}

const reserved = create(ToolDescriptorSchema, { name: finishSubtaskName, source: runtimeSource });
