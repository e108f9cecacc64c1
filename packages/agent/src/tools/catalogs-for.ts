import type { ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolCategory } from "@reeve/contracts/tool";

/** The categories of built-in tools that share the workspace of a run. */
const ofWorkspace: readonly ToolCategory[] = [
  ToolCategory.FILESYSTEM,
  ToolCategory.TERMINAL,
  ToolCategory.CODE,
];

/**
 * Returns merged catalogs in which one pool offers each built-in tool. Without a `pool`, that is the first one that has the tool. With
 * one, that pool has it; a tool that it lacks comes from the first other one, unless it works in the workspace: an agent that names
 * a pool executes no code anywhere else.
 */
export function catalogsFor(catalogs: readonly ToolCatalog[], pool = ""): readonly ToolCatalog[] {
  const own = new Set(
    catalogs.filter((each) => each.pool === pool).flatMap(({ tools }) => builtInNames(tools)),
  );
  const seen = new Set<string>();
  return catalogs.map((catalog) => {
    const isOwn = catalog.pool === pool;
    const tools = catalog.tools.filter((tool) => {
      if (tool.source !== "builtin") return true;
      if (pool !== "" && !isOwn && (own.has(tool.name) || worksInWorkspace(tool))) return false;
      if (seen.has(tool.name)) return false;
      seen.add(tool.name);
      return true;
    });
    return tools.length === catalog.tools.length ? catalog : { ...catalog, tools };
  });
}

function builtInNames(tools: readonly ToolDescriptor[]): readonly string[] {
  return tools.flatMap(({ name, source }) => (source === "builtin" ? [name] : []));
}

function worksInWorkspace({ category }: ToolDescriptor): boolean {
  return ofWorkspace.includes(category);
}
