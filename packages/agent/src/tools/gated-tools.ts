import type { AgentSpec } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { longTermMemoryTools } from "./runtime-tools.ts";
import { searchKnowledge } from "./search-knowledge.ts";
import type { Toolbelt } from "./toolbelt.ts";

/** What `hitl_tools` of a spec means for the tools that a run has. */
export interface GatedTools {
  /** Tools that require an approval although `hitl_tools` does not name them. */
  readonly further: readonly string[];
  /** Entries of `hitl_tools` that name no tool, and whose source offers no tools either. */
  readonly unresolved: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Resolves `hitl_tools` against the tools of a run. The source of a tool may have renamed it since the spec was stored, so an
 * entry that names no tool makes all tools of its source require an approval.
 */
export function gatedTools(
  { hitlTools, mcpServers }: Pick<AgentSpec, "hitlTools" | "mcpServers">,
  { tools, excluded }: Pick<Toolbelt, "tools" | "excluded">,
): GatedTools {
  const further = new Set<string>();
  const unresolved: string[] = [];
  const warnings: string[] = [];
  for (const name of new Set(hitlTools)) {
    if (tools.some((tool) => tool.name === name) || isOfSomeRuns(name)) continue;
    const reason = excluded.get(name);
    const source = tools.filter((tool) => name.startsWith(prefixOf(tool)));
    if (reason !== undefined) {
      warnings.push(`hitl_tools: the agent does not have "${name}": ${reason}`);
    } else if (source[0] !== undefined) {
      for (const tool of source) further.add(tool.name);
      warnings.push(
        `hitl_tools: ${source[0].source} offers no tool "${name}", so all of its tools require an approval; update hitl_tools`,
      );
    } else if (mcpServers.some((server) => name.startsWith(`mcp__${server}__`))) {
      warnings.push(`hitl_tools: it is not known yet whether the tool "${name}" exists`);
    } else {
      unresolved.push(name);
    }
  }
  return { further: [...further], unresolved, warnings };
}

/** Only runs with long-term memory or collections have their tools, so their absence means nothing. */
function isOfSomeRuns(name: string): boolean {
  return [...longTermMemoryTools, searchKnowledge].some((tool) => tool.name === name);
}

/** Returns what the names of all tools of a source start with; a space, which no name has, if they have nothing in common. */
function prefixOf({ source }: ToolDescriptor): string {
  const [, kind, id] = /^(provider|mcp):(.+)$/.exec(source) ?? [];
  if (kind === undefined || id === undefined) return " ";
  return kind === "mcp" ? `mcp__${id}__` : `${id}__`;
}
