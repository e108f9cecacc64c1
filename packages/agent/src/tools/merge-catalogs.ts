import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ToolCatalog } from "@reeve/contracts/tool";

/**
 * What the hosts of each pool offer together. Of a tool that several hosts of one pool have, one says what it is: one that
 * isolates before one that does not, the latest word before an earlier one. Built-in tools, which every pool with sandboxes
 * has, are those of the pool `default`, else of the first by name; any other name that two pools have stays with both, for
 * whoever reads it to refuse.
 */
export function mergeCatalogs(catalogs: readonly ToolCatalog[]): readonly ToolCatalog[] {
  const seen = new Set<string>();
  return catalogs.toSorted(byWord).map((catalog) => {
    const tools = catalog.tools.filter((tool) => {
      const known = tool.source === "builtin" ? tool.name : `${catalog.pool} ${tool.name}`;
      if (seen.has(known)) return false;
      seen.add(known);
      return true;
    });
    return { ...catalog, tools };
  });
}

/** Whose word comes first. */
function byWord(a: ToolCatalog, b: ToolCatalog): number {
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
