import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ToolCatalog } from "@reeve/contracts/tool";

/**
 * Merges the catalogs of all hosts, so that each tool of a pool appears once. When several hosts of a pool offer a tool, the
 * descriptor of a host that isolates wins over that of one that does not, and a later announcement over an earlier one. The pool
 * `default` comes first, then the others by name. A name that two pools offer stays in both: `catalogsFor` chooses the pool of a
 * built-in tool, and the caller has to reject any other.
 */
export function mergeCatalogs(catalogs: readonly ToolCatalog[]): readonly ToolCatalog[] {
  const seen = new Set<string>();
  return catalogs.toSorted(byPrecedence).map((catalog) => {
    const tools = catalog.tools.filter((tool) => {
      const known = `${catalog.pool} ${tool.name}`;
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
