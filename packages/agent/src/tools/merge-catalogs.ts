import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ToolCatalog } from "@reeve/contracts/tool";

/**
 * Merges the catalogs of all hosts, so that each tool of a pool appears once. When several hosts of a pool offer a tool, the
 * descriptor of a host that isolates wins over that of one that does not, and a later announcement over an earlier one. Built-in
 * tools, which every pool with sandboxes offers, come from the pool `default`, or else from the first pool by name. Any other name
 * that two pools offer stays in both, and the caller has to reject it.
 */
export function mergeCatalogs(catalogs: readonly ToolCatalog[]): readonly ToolCatalog[] {
  const seen = new Set<string>();
  return catalogs.toSorted(byPrecedence).map((catalog) => {
    const tools = catalog.tools.filter((tool) => {
      const known = tool.source === "builtin" ? tool.name : `${catalog.pool} ${tool.name}`;
      if (seen.has(known)) return false;
      seen.add(known);
      return true;
    });
    return { ...catalog, tools };
  });
}

/** Orders catalogs so that the one whose descriptors win comes first. */
function byPrecedence(a: ToolCatalog, b: ToolCatalog): number {
  if (a.pool !== b.pool) {
    if (a.pool === defaultPool || b.pool === defaultPool) return a.pool === defaultPool ? -1 : 1;
    return a.pool < b.pool ? -1 : 1;
  }
  const isolating = Number(isIsolating(b)) - Number(isIsolating(a));
  return isolating || announcedMs(b) - announcedMs(a) || (a.host < b.host ? -1 : 1);
}

const defaultPool = "default";

function isIsolating({ isolation }: ToolCatalog): boolean {
  return isolation !== "" && isolation !== "none";
}

function announcedMs({ announcedAt }: ToolCatalog): number {
  return announcedAt === undefined ? 0 : timestampMs(announcedAt);
}
